//! The journal: every verdict as it comes, in a file that is only appended to, so that a reduction
//! that was interrupted goes on where it was.
//!
//! Text, one line each. The first names format, version and problem; all others are
//! `CRC KIND CANDIDATE DETAIL`: the CRC-32 of what follows it, `p`, `f` or `u`, the digest,
//! and the escaped detail. A line that is torn or damaged ends the journal: it and what follows
//! are cut off, which costs time and nothing else. A process that is killed loses no whole line; a
//! machine that loses power may.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::digest::Digest;
use crate::error::JournalError;
use crate::oracle::{Detail, Verdict, VerdictKind};
use crate::problem::Problem;

const FORMAT: &str = "culprit-reduce-journal";
/// Version 1 had digests of another hash.
const VERSION: u32 = 2;

/// A journal that is open for one problem. One process at a time may have it.
pub struct Journal {
    file: File,
    lines: Vec<JournalLine>,
}

struct JournalLine {
    kind: VerdictKind,
    candidate: Digest,
    detail: String,
}

impl Journal {
    /// Opens the journal of a problem, or begins one.
    pub fn open(path: &Path, problem: &Problem) -> Result<Journal, JournalError> {
        let failed = |source| JournalError::Io {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let head = format!("{FORMAT} {VERSION} {}\n", problem.digest());
        // A journal that was interrupted in its first line is an empty one.
        let (lines, good) = if head.as_bytes().starts_with(&bytes) && bytes.len() < head.len() {
            (Vec::new(), 0)
        } else {
            check_head(path, &bytes, &head)?;
            lines(&bytes, head.len())
        };
        file.set_len(good as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        if good == 0 {
            file.write_all(head.as_bytes()).map_err(failed)?;
        }
        Ok(Journal { file, lines })
    }

    /// Verdicts that the journal had when it was opened.
    pub fn verdicts(&self) -> usize {
        self.lines.len()
    }

    /// The verdicts, and the journal without them. A detail that cannot be read back is no verdict.
    pub(crate) fn recall<D: Detail>(&mut self) -> impl Iterator<Item = (Digest, Verdict<D>)> {
        std::mem::take(&mut self.lines)
            .into_iter()
            .filter_map(|line| {
                let verdict = match line.kind {
                    VerdictKind::Pass => Verdict::Pass,
                    VerdictKind::Fail => Verdict::Fail(D::from_text(&line.detail)?),
                    VerdictKind::Unresolved => Verdict::Unresolved(D::from_text(&line.detail)?),
                };
                Some((line.candidate, verdict))
            })
    }

    pub(crate) fn append<D: Detail>(
        &mut self,
        candidate: Digest,
        verdict: &Verdict<D>,
    ) -> io::Result<()> {
        let letter = match verdict.kind() {
            VerdictKind::Pass => 'p',
            VerdictKind::Fail => 'f',
            VerdictKind::Unresolved => 'u',
        };
        let detail = verdict.detail().map(Detail::to_text).unwrap_or_default();
        let body = format!("{letter} {candidate} {}", escape(&detail));
        let line = format!("{:08x} {body}\n", crc32fast::hash(body.as_bytes()));
        self.file.write_all(line.as_bytes())
    }
}

fn check_head(path: &Path, bytes: &[u8], head: &str) -> Result<(), JournalError> {
    if bytes.starts_with(head.as_bytes()) {
        return Ok(());
    }
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    let first = String::from_utf8_lossy(first);
    let mut words = first.split(' ');
    let (format, version) = (words.next(), words.next().and_then(|v| v.parse().ok()));
    let path = path.to_owned();
    Err(match (format, version) {
        (Some(FORMAT), Some(VERSION)) => JournalError::OtherProblem { path },
        (Some(FORMAT), Some(found)) => JournalError::Version {
            path,
            found,
            known: VERSION,
        },
        _ => JournalError::NotAJournal { path },
    })
}

/// The whole lines from there on, and where they end.
fn lines(bytes: &[u8], start: usize) -> (Vec<JournalLine>, usize) {
    let mut lines = Vec::new();
    let mut good = start;
    while let Some(length) = bytes[good..].iter().position(|byte| *byte == b'\n') {
        let Some(line) = line(&bytes[good..good + length]) else {
            break;
        };
        lines.push(line);
        good += length + 1;
    }
    (lines, good)
}

fn line(bytes: &[u8]) -> Option<JournalLine> {
    let (crc, body) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
    if u32::from_str_radix(crc, 16).ok()? != crc32fast::hash(body.as_bytes()) {
        return None;
    }
    let mut words = body.splitn(3, ' ');
    let kind = match words.next()? {
        "p" => VerdictKind::Pass,
        "f" => VerdictKind::Fail,
        "u" => VerdictKind::Unresolved,
        _ => return None,
    };
    Some(JournalLine {
        kind,
        candidate: words.next()?.parse().ok()?,
        detail: unescape(words.next()?)?,
    })
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescape(text: &str) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        result.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::set::DeltaSet;

    fn verdicts(journal: &mut Journal) -> Vec<(Digest, Verdict<String>)> {
        journal.recall().collect()
    }

    fn some() -> Vec<(Digest, Verdict<String>)> {
        let key = |end| DeltaSet::all(end).digest();
        vec![
            (key(1), Verdict::Pass),
            (
                key(2),
                Verdict::Fail("at a.b:3\nwith \\n, and é".to_owned()),
            ),
            (key(3), Verdict::Unresolved(String::new())),
        ]
    }

    #[test]
    fn a_journal_gives_back_what_it_got_up_to_where_it_is_torn() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let problem = Problem::new(5).key("x");
        let mut journal = Journal::open(&path, &problem).unwrap();
        for (key, verdict) in &some() {
            journal.append(*key, verdict).unwrap();
        }
        let whole = fs::read(&path).unwrap();
        let mut most = 0;
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let mut journal = Journal::open(&path, &problem).unwrap();
            let found = verdicts(&mut journal);
            assert_eq!(found, some()[..found.len()]);
            assert!(found.len() >= most, "length {length}");
            most = found.len();
            // What is written next is readable too.
            journal.append(some()[0].0, &some()[0].1).unwrap();
            let again = verdicts(&mut Journal::open(&path, &problem).unwrap());
            assert_eq!(again.len(), found.len() + 1);
        }
        assert_eq!(most, 3);
    }

    #[test]
    fn a_damaged_line_ends_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let problem = Problem::new(5);
        let mut journal = Journal::open(&path, &problem).unwrap();
        for (key, verdict) in &some() {
            journal.append(*key, verdict).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("a.b:3", "a.b:4")).unwrap();
        let journal = Journal::open(&path, &problem).unwrap();
        assert_eq!(journal.verdicts(), 1);
    }

    #[test]
    fn a_file_that_is_no_journal_of_the_problem_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let problem = Problem::new(5);
        let check = |text: &str, expect: &str| {
            fs::write(&path, text).unwrap();
            let error = Journal::open(&path, &problem).err().expect("an error");
            assert!(error.to_string().ends_with(expect), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        };
        let print = problem.digest();
        check("something else\n", "is not a journal of a reduction");
        check(
            &format!("{FORMAT} 1 {print}\n"),
            "is a journal of version 1, and this is version 2: its verdicts cannot be used",
        );
        let other = Problem::new(6).digest();
        check(
            &format!("{FORMAT} 2 {other}\n"),
            "is the journal of another problem",
        );
    }
}
