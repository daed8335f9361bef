//! The script of a test as a result folder keeps it, so that the test can be traced later without another search.
//!
//! A file has a head of a few lines, an empty line, and the [text](../../../docs/script-text.md) of the script. The class
//! path is not in it: that is the one of the recording, or of the user.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use culprit_jvm::WorkingFolder;
use culprit_model::Script;

/// The first line of the file, with the version of its form.
const FIRST: &str = "culprit test script 1";

/// A script, and how it is run.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptScript {
    /// The recording of the JVM that failed: within the result folder, or an absolute path.
    pub recording: PathBuf,
    pub folder: KeptFolder,
    /// The class of the exception that ends the script.
    pub thrown: String,
    pub script: Script,
}

/// The working folder of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeptFolder {
    Empty,
    /// The resources of the result folder.
    Resources,
    /// A copy of the folder in which the recorded program worked.
    Copy,
    /// The folder in which the recorded program worked.
    Given,
}

/// A file that is no script of a test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeptScriptError {
    #[error("it does not begin with `{FIRST}`")]
    NoHead,
    #[error("line {0} of it is not understood")]
    Line(usize),
    #[error("it has no {0}")]
    Missing(&'static str),
    #[error("its script is not understood: {0}")]
    Script(String),
}

impl KeptFolder {
    const ALL: [KeptFolder; 4] = [
        KeptFolder::Empty,
        KeptFolder::Resources,
        KeptFolder::Copy,
        KeptFolder::Given,
    ];

    /// The kind of a working folder, of a test without resources.
    pub(crate) fn of(folder: &WorkingFolder) -> KeptFolder {
        match folder {
            WorkingFolder::Scratch | WorkingFolder::Empty => KeptFolder::Empty,
            WorkingFolder::Copy(_) => KeptFolder::Copy,
            WorkingFolder::Given(_) => KeptFolder::Given,
        }
    }

    fn word(self) -> &'static str {
        match self {
            KeptFolder::Empty => "empty",
            KeptFolder::Resources => "resources",
            KeptFolder::Copy => "copy",
            KeptFolder::Given => "given",
        }
    }
}

impl KeptScript {
    /// The text of the file within a result folder. `None` if the path of the recording cannot be written as a line.
    pub fn text(&self, folder: &Path) -> Option<String> {
        let whole = std::path::absolute(&self.recording).ok()?;
        let recording = whole.strip_prefix(folder).unwrap_or(&whole).to_str()?;
        let is_line = |text: &str| !text.contains(['\n', '\r']) && text.trim() == text;
        if !is_line(recording) || !is_line(&self.thrown) {
            return None;
        }
        let KeptScript {
            folder,
            thrown,
            script,
            ..
        } = self;
        Some(format!(
            "{FIRST}\nrecording {recording}\nfolder {folder}\nthrown {thrown}\n\n{script}"
        ))
    }
}

impl fmt::Display for KeptFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for KeptScript {
    type Err = KeptScriptError;

    fn from_str(text: &str) -> Result<KeptScript, KeptScriptError> {
        let (head, script) = text.split_once("\n\n").ok_or(KeptScriptError::NoHead)?;
        let mut lines = head.lines();
        if lines.next() != Some(FIRST) {
            return Err(KeptScriptError::NoHead);
        }
        let (mut recording, mut folder, mut thrown) = (None, None, None);
        for (number, line) in (2..).zip(lines) {
            match line.split_once(' ') {
                Some(("recording", path)) => recording = Some(PathBuf::from(path)),
                Some(("folder", word)) => {
                    folder = KeptFolder::ALL.into_iter().find(|it| it.word() == word);
                }
                Some(("thrown", class)) => thrown = Some(class.to_owned()),
                _ => return Err(KeptScriptError::Line(number)),
            }
        }
        let script: Script = script
            .parse()
            .map_err(|error| KeptScriptError::Script(format!("{error}")))?;
        Ok(KeptScript {
            recording: recording.ok_or(KeptScriptError::Missing("recording"))?,
            folder: folder.ok_or(KeptScriptError::Missing("folder"))?,
            thrown: thrown.ok_or(KeptScriptError::Missing("exception"))?,
            script,
        })
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::script::{Builder, MemberName};
    use culprit_model::{ObjectId, Value};

    use super::*;

    #[test]
    fn a_kept_script_is_read_as_it_was_written() {
        let mut builder = Builder::with(Default::default(), ObjectId(0));
        let run = MemberName::of("shop/Till", "charge", "(I)I");
        let call = builder.call_static(run, vec![Value::Int(7)], Some(Value::Int(0)));
        let kept = KeptScript {
            recording: PathBuf::from("/results/witness/jvm 1.culprit"),
            folder: KeptFolder::Copy,
            thrown: "java.lang.ArithmeticException".to_owned(),
            script: builder.script(vec![call]),
        };
        let text = kept.text(Path::new("/results")).unwrap();
        let read: KeptScript = text.parse().unwrap();
        assert_eq!(read.recording, Path::new("witness/jvm 1.culprit"));
        assert_eq!(read.script.to_string(), kept.script.to_string());
        assert_eq!(
            (read.folder, read.thrown),
            (kept.folder, kept.thrown.clone())
        );
        let forged = KeptScript {
            recording: PathBuf::from("/a\nfolder given"),
            ..kept
        };
        assert_eq!(forged.text(Path::new("/results")), None);
    }

    #[test]
    fn other_files_are_refused() {
        let check = |text: &str, expect| {
            assert_eq!(text.parse::<KeptScript>(), Err(expect), "{text}");
        };
        check("", KeptScriptError::NoHead);
        check(
            "culprit test script 2\n\nscript 1\n",
            KeptScriptError::NoHead,
        );
        check(
            &format!("{FIRST}\nfolder\n\nscript 1\n"),
            KeptScriptError::Line(2),
        );
        let head = format!("{FIRST}\nrecording a\nfolder elsewhere\nthrown X\n\nscript 1\n");
        check(&head, KeptScriptError::Missing("folder"));
    }
}
