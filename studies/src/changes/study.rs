//! Releases isolated, and the results proved from outside.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use serde_json::Value;

use super::case::Case;
use super::histories::START;
use super::proof::{Found, Place};
use super::releases::{Line, Pair};
use super::subject::{Subject, Workshop};
use super::{isolate, shell};
use crate::maven::Coordinates;

/// The most time that an isolation gets.
const LIMIT: &str = "15m";

/// The tools for studying releases.
pub struct Study<'s> {
    pub culprit: &'s Path,
    /// A folder to work in.
    pub place: &'s Path,
    /// The folder of the cases.
    pub corpus: &'s Path,
    pub workshop: Workshop<'s>,
}

/// A result that was proved: it lies in the fix, and is 1-minimal.
pub struct Proved {
    pub case: Case,
    pub report: Value,
    /// Where it lies, of the fix.
    pub at: Place,
    /// The number of changes that were reverted one by one.
    pub taken_back: usize,
    /// The folder of the result.
    pub out: PathBuf,
}

impl Study<'_> {
    /// Isolates what decides between two releases.
    pub fn pair(&self, pair: &Pair) -> anyhow::Result<Proved> {
        let place = self.place.join(pair.case);
        fs::create_dir_all(&place)?;
        let case = Case::read(self.corpus, pair.case)?;
        self.workshop.sources(&case.fixed, &place.join("good"))?;
        self.workshop.sources(&case.buggy, &place.join("bad"))?;
        let subject = self.workshop.subject(case, pair.also, &place)?;
        self.proved(subject, &place, &place, ("good", "bad"))
    }

    /// Isolates what decides in a history of releases. `test.sh` beside it tests a version.
    pub fn line(&self, line: &Line) -> anyhow::Result<Proved> {
        let place = self.place_of_line(line);
        let repository = place.join("repository");
        fs::create_dir_all(&repository)?;
        let case = Case::read(self.corpus, line.case)?;
        shell(&repository, START)?;
        for version in line.versions {
            let release = Coordinates {
                version: (*version).to_owned(),
                ..case.buggy.clone()
            };
            shell(&repository, "git rm -rqf . 2>/dev/null; true")?;
            self.workshop.sources(&release, &repository)?;
            let commit = format!("git add -A; git commit -qm {version}; git tag v{version}");
            shell(&repository, &commit)?;
        }
        let subject = self.workshop.subject(case, &[], &place)?;
        // What does not build has no answer.
        let script = format!("{} || exit 125\n{}\n", subject.build, subject.test);
        fs::write(place.join("test.sh"), script)?;
        let found = self.proved(subject, &repository, &place, (&line.good(), "HEAD"))?;
        let named = &found.report["commits"]["left"][0]["subject"];
        ensure!(
            named == line.culprit,
            "{}: {named} is named, and not {}",
            line.case,
            line.culprit
        );
        Ok(found)
    }

    /// The working folder of a history of releases.
    pub fn place_of_line(&self, line: &Line) -> PathBuf {
        self.place.join(format!("{}-line", line.case))
    }

    fn proved(
        &self,
        subject: Subject,
        folder: &Path,
        place: &Path,
        (good, bad): (&str, &str),
    ) -> anyhow::Result<Proved> {
        let options = [
            "--good",
            good,
            "--bad",
            bad,
            "--build",
            &subject.build,
            "--test",
            &subject.test,
            "--keep-variants",
            "--max-time",
            LIMIT,
        ];
        let out = place.join("out");
        let report = isolate(self.culprit, folder, &out, &options)?;
        ensure!(
            report["minimal"] == true && report["confirmed"] == true,
            "{}: {report:#}",
            subject.case.name
        );
        let found = Found {
            subject: &subject,
            report: &report,
            variants: out.join("variants"),
        };
        let at = found.place(self.workshop.jdk)?;
        let taken_back = found.is_minimal(&place.join("taken-back"))?;
        Ok(Proved {
            case: subject.case,
            report,
            at,
            taken_back,
            out,
        })
    }
}
