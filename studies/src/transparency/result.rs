//! The results for one library on one JDK, and their storage between runs of the study.
//!
//! The file is lines of words with tabs between, the first word saying what the others are. A
//! result is used again only under the key it was made with: the executable, the JDK, the
//! library and how it is run.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::outcomes::Difference;

/// The results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    pub key: String,
    /// Tests that ended in a plain run.
    pub tests: u64,
    /// The number of these that succeeded.
    pub passed: u64,
    /// Tests compared that ended alike.
    pub same: u64,
    /// Means of the runs.
    pub plain: Duration,
    pub recorded: Duration,
    pub events: u64,
    pub bytes: u64,
    /// Methods or classes that ran unmodified, each with the reason.
    pub not_woven: Vec<(String, String)>,
    pub differences: Vec<Difference>,
    /// Tests left out, each with the reason.
    pub excluded: Vec<(String, String)>,
    /// The losses that the recording reports.
    pub losses: Vec<String>,
    /// Whatever else is not as it should be: an exit status, lines in the output.
    pub trouble: Vec<String>,
}

impl Found {
    /// True if the recorded run was like the plain ones in all respects.
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty() && self.trouble.is_empty()
    }

    /// The result kept in `file`, if it is one of this key.
    pub fn load(file: &Path, key: &str) -> Option<Found> {
        Found::parse(&fs::read_to_string(file).ok()?).filter(|found| found.key == key)
    }

    /// Keeps the result in `file`.
    pub fn save(&self, file: &Path) -> anyhow::Result<()> {
        // Under another name first: what is there is whole.
        let fresh = file.with_extension("new");
        fs::write(&fresh, self.to_text())?;
        fs::rename(fresh, file)?;
        Ok(())
    }

    fn to_text(&self) -> String {
        let mut lines = vec![
            ["key", &self.key].join("\t"),
            format!("tests\t{}", self.tests),
            format!("passed\t{}", self.passed),
            format!("same\t{}", self.same),
            format!("plain-ms\t{}", self.plain.as_millis()),
            format!("recorded-ms\t{}", self.recorded.as_millis()),
            format!("events\t{}", self.events),
            format!("bytes\t{}", self.bytes),
        ];
        let mut push = |words: &[&str]| {
            let words: Vec<String> = words
                .iter()
                .map(|it| it.replace(['\t', '\n'], " "))
                .collect();
            lines.push(words.join("\t"));
        };
        for (name, reason) in &self.not_woven {
            push(&["not-woven", name, reason]);
        }
        for it in &self.differences {
            let why = it.why.as_deref().unwrap_or_default();
            push(&["difference", &it.id, &it.plain, &it.recorded, why]);
        }
        for (id, reason) in &self.excluded {
            push(&["excluded", id, reason]);
        }
        for text in &self.losses {
            push(&["loss", text]);
        }
        for text in &self.trouble {
            push(&["trouble", text]);
        }
        lines.push("whole".to_owned());
        lines.join("\n") + "\n"
    }

    fn parse(text: &str) -> Option<Found> {
        let mut found = Found::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            match *words.as_slice() {
                ["key", key] => found.key = key.to_owned(),
                ["tests", n] => found.tests = n.parse().ok()?,
                ["passed", n] => found.passed = n.parse().ok()?,
                ["same", n] => found.same = n.parse().ok()?,
                ["plain-ms", n] => found.plain = Duration::from_millis(n.parse().ok()?),
                ["recorded-ms", n] => found.recorded = Duration::from_millis(n.parse().ok()?),
                ["events", n] => found.events = n.parse().ok()?,
                ["bytes", n] => found.bytes = n.parse().ok()?,
                ["not-woven", a, b] => found.not_woven.push((a.to_owned(), b.to_owned())),
                ["difference", id, plain, recorded, why] => found.differences.push(Difference {
                    id: id.to_owned(),
                    plain: plain.to_owned(),
                    recorded: recorded.to_owned(),
                    why: Some(why.to_owned()).filter(|why| !why.is_empty()),
                }),
                ["excluded", id, why] => found.excluded.push((id.to_owned(), why.to_owned())),
                ["loss", it] => found.losses.push(it.to_owned()),
                ["trouble", it] => found.trouble.push(it.to_owned()),
                ["whole"] => return Some(found),
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_back_whole_and_under_its_key_only() {
        let found = Found {
            key: "k1".to_owned(),
            tests: 4,
            passed: 3,
            same: 2,
            plain: Duration::from_millis(1500),
            recorded: Duration::from_millis(2500),
            events: 7,
            bytes: 8,
            not_woven: vec![("a.B.c()V".to_owned(), "too large".to_owned())],
            differences: vec![Difference {
                id: "t".to_owned(),
                plain: "successful".to_owned(),
                recorded: "missing".to_owned(),
                why: None,
            }],
            excluded: vec![("u".to_owned(), "unsteady".to_owned())],
            losses: vec!["deep arrays 3".to_owned()],
            trouble: vec!["exit status 1".to_owned()],
        };
        assert_eq!(Found::parse(&found.to_text()), Some(found.clone()));
        let cut = found.to_text().replace("whole\n", "");
        assert_eq!(Found::parse(&cut), None);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("result.txt");
        found.save(&file).unwrap();
        assert_eq!(Found::load(&file, "k1"), Some(found));
        assert_eq!(Found::load(&file, "k2"), None);
    }
}
