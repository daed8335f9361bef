//! Runs the tests of one library on one JDK, plain and recorded, and compares.
//!
//! Every run has the same command line, the same (fresh) folder and the same time limit; the
//! recorded one has `culprit record` in front. The first plain runs show which tests do not
//! even agree with themselves; if something differs, more plain runs follow before it counts.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use culprit_jvm::{Jdk, Status};
use culprit_trace::{Recording, RunFolder};

use super::library::Library;
use super::outcomes::Outcomes;
use super::result::Found;
use crate::maven::Maven;
use crate::process::{Outcome, Run, remove, tool, words};

const LIMIT: Duration = Duration::from_secs(30 * 60);

/// The folders in which tests look for their files, relative to the folder they run in.
const RESOURCES: &str = "src/test/resources";

/// The exit statuses of the runner when it has run all tests: all passed, or some did not.
const ENDED: [Status; 2] = [Status::Exited(0), Status::Exited(10)];

/// More tests than this share that do not agree with themselves, and there is no result.
const MOST_UNSTEADY: f64 = 0.02;

/// Plain runs before the recorded one, and more of them where something differs.
const PLAIN: usize = 2;
const MORE_PLAIN: usize = 3;

/// The parts that all suites share.
#[derive(Clone, Debug)]
pub struct Study {
    /// The executable under study.
    pub culprit: PathBuf,
    /// The folder for results and everything made on the way.
    pub place: PathBuf,
    /// The source of the program that runs the tests.
    pub runner: PathBuf,
    pub maven: Maven,
}

/// One run of a suite.
struct Ran {
    outcomes: Outcomes,
    status: Option<Status>,
    time: Duration,
    /// Lines of output that are the tool's or the JVM's.
    remarks: BTreeSet<String>,
}

impl Ran {
    /// True if all tests ran, and not only some until the runner broke off.
    fn is_whole(&self) -> bool {
        self.status.is_some_and(|status| ENDED.contains(&status))
    }

    fn end(&self) -> String {
        self.status.map_or_else(
            || format!("killed after {} minutes", LIMIT.as_secs() / 60),
            |status| format!("exit status {status}"),
        )
    }
}

/// A suite, ready to run.
struct Suite<'s> {
    study: &'s Study,
    library: &'s Library,
    /// Results and logs of this library on this JDK.
    folder: PathBuf,
    java: PathBuf,
    jar: PathBuf,
    test_jar: PathBuf,
    args: Vec<OsString>,
    /// Changes with everything that a plain run depends on.
    plain_key: String,
}

impl Study {
    /// Compares one library on one JDK, or takes the result that was found before.
    pub fn compare(&self, library: &Library, jdk: &Jdk) -> anyhow::Result<Found> {
        let folder = self
            .place
            .join(format!("jdk-{}", jdk.version))
            .join(library.artifact);
        let key = self.key(&[&self.culprit, &self.runner], library, jdk)?;
        let file = folder.join("result.txt");
        if let Some(found) = Found::load(&file, &key) {
            return Ok(found);
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let suite = self.prepare(library, jdk, folder.canonicalize()?)?;
        let found = Found {
            key,
            ..suite.compare()?
        };
        found.save(&file)?;
        Ok(found)
    }

    /// Changes with everything that the result depends on.
    fn key(&self, files: &[&Path], library: &Library, jdk: &Jdk) -> anyhow::Result<String> {
        let mut hasher = DefaultHasher::new();
        for file in files {
            fs::read(file)
                .with_context(|| format!("cannot read {}", file.display()))?
                .hash(&mut hasher);
        }
        format!("{library:?} {jdk:?} {PLAIN}").hash(&mut hasher);
        Ok(format!("{:016x}", hasher.finish()))
    }

    fn prepare<'s>(
        &'s self,
        library: &'s Library,
        jdk: &Jdk,
        folder: PathBuf,
    ) -> anyhow::Result<Suite<'s>> {
        let jars = self.maven.class_path(&library.class_path()?)?;
        let name = library.tests()?.file_name();
        let test_jar = jars
            .iter()
            .find(|jar| jar.file_name() == Some(OsStr::new(&name)))
            .with_context(|| format!("no {name} on the class path"))?
            .clone();
        let classes = folder.join("runner");
        let work = folder.join("work");
        // Tests want their classes and files in a folder, as in their own build.
        let unpacked = work.join(RESOURCES);
        let jars = jars.iter().map(|jar| match *jar == test_jar {
            true => &unpacked,
            false => jar,
        });
        let class_path = std::env::join_paths(std::iter::once(&classes).chain(jars))?;
        let mut args = words(["-d"]);
        args.push(classes.clone().into());
        args.extend(words(["--release", "11", "-cp"]));
        args.push(class_path.clone());
        args.push(self.runner.clone().into());
        tool(&jdk.tool("javac"), args, &folder)?;

        let mut args = words(["-Xverify:all"]);
        args.extend(words(library.jvm));
        for (option, file) in [
            ("-XX:ErrorFile=", folder.join("hs_err.log")),
            ("-Djava.io.tmpdir=", work.join("tmp")),
            ("-Dbasedir=", work),
        ] {
            let mut option = OsString::from(option);
            option.push(file);
            args.push(option);
        }
        args.push("-cp".into());
        args.push(class_path);
        args.push("SuiteRunner".into());
        args.push(test_jar.clone().into());
        Ok(Suite {
            study: self,
            library,
            folder,
            java: jdk.tool("java"),
            jar: jdk.tool("jar"),
            test_jar,
            args,
            plain_key: self.key(&[&self.runner], library, jdk)?,
        })
    }
}

impl Suite<'_> {
    fn compare(&self) -> anyhow::Result<Found> {
        let mut plain = Vec::new();
        for n in 1..=PLAIN {
            plain.push(self.run_plain(n)?);
        }
        let recording = self.folder.join("recording");
        remove(&recording)?;
        let recorded = self.run(
            "recorded",
            &self.study.culprit,
            &self.record_args(&recording),
        )?;
        let mut found = Found::default();
        self.read_recording(&recording, &mut found)?;
        remove(&recording)?;

        let mut unsteady = self.judge(&plain, &recorded, &mut found);
        if !found.differences.is_empty() {
            for n in PLAIN + 1..=PLAIN + MORE_PLAIN {
                plain.push(self.run_plain(n)?);
            }
            unsteady = self.judge(&plain, &recorded, &mut found);
        }
        if unsteady.len() as f64 > found.tests as f64 * MOST_UNSTEADY {
            let (some, all) = (unsteady.len(), found.tests);
            found.trouble.push(format!(
                "{some} of {all} tests do not agree with themselves"
            ));
        }
        found.excluded = unsteady.into_iter().collect();
        let classes = self.library.leave_out.iter();
        found
            .excluded
            .extend(classes.map(|(class, why)| (format!("all of {class}"), (*why).to_owned())));

        found.plain = plain.iter().map(|ran| ran.time).sum::<Duration>() / plain.len() as u32;
        found.recorded = recorded.time;
        if !recorded.is_whole() || plain.iter().all(|ran| ran.status != recorded.status) {
            let (before, after) = (plain[0].end(), recorded.end());
            found.trouble.push(format!(
                "plain runs ended with {before}, the recorded one with {after}"
            ));
        }
        let known: BTreeSet<&String> = plain.iter().flat_map(|ran| &ran.remarks).collect();
        let news = recorded.remarks.iter().filter(|line| !known.contains(line));
        found
            .trouble
            .extend(news.map(|line| format!("in the output: {line}")));
        remove(&self.folder.join("work"))?;
        Ok(found)
    }

    /// Fills in the comparison, and returns the tests that plain runs do not agree on.
    fn judge(&self, plain: &[Ran], recorded: &Ran, found: &mut Found) -> BTreeMap<String, String> {
        let outcomes: Vec<Outcomes> = plain.iter().map(|ran| ran.outcomes.clone()).collect();
        let first = &outcomes[0];
        let unsteady = Outcomes::unsteady(&outcomes);
        found.differences = first.differences(&recorded.outcomes, &unsteady);
        found.tests = first.len() as u64;
        found.passed = first.passed() as u64;
        let compared = first.ids().filter(|id| !unsteady.contains_key(*id));
        let differ: BTreeSet<&str> = found.differences.iter().map(|it| it.id.as_str()).collect();
        found.same = compared.filter(|id| !differ.contains(id)).count() as u64;
        unsteady
    }

    fn run_plain(&self, n: usize) -> anyhow::Result<Ran> {
        let name = format!("plain-{n}");
        if let Some(ran) = self.kept(&name) {
            return Ok(ran);
        }
        let ran = self.run(&name, &self.java, &[])?;
        ensure!(
            ran.is_whole() && !ran.outcomes.is_empty(),
            "the tests of {} do not come to their end by themselves: {}; see {}",
            self.library.artifact,
            ran.end(),
            self.folder.join(name + ".err").display()
        );
        self.keep(&name, &ran)?;
        Ok(ran)
    }

    /// A plain run of an earlier study of the same library on the same JDK: it is the same
    /// whatever executable is studied.
    fn kept(&self, name: &str) -> Option<Ran> {
        let text = fs::read_to_string(self.folder.join(format!("{name}.kept"))).ok()?;
        let mut words = text.split_whitespace();
        if words.next()? != self.plain_key {
            return None;
        }
        let status = Status::Exited(words.next()?.parse().ok()?);
        let time = Duration::from_millis(words.next()?.parse().ok()?);
        self.ran(name, Some(status), time).ok()
    }

    fn keep(&self, name: &str, ran: &Ran) -> anyhow::Result<()> {
        if let Some(Status::Exited(status)) = ran.status {
            let (key, time) = (&self.plain_key, ran.time.as_millis());
            let file = self.folder.join(format!("{name}.kept"));
            fs::write(file, format!("{key} {status} {time}\n"))?;
        }
        Ok(())
    }

    fn record_args(&self, recording: &Path) -> Vec<OsString> {
        let mut args = words(["record", "--quiet", "--observe", self.library.observe, "-o"]);
        args.push(recording.into());
        args.push("--".into());
        args.push(self.java.clone().into());
        args
    }

    fn run(&self, name: &str, program: &Path, before: &[OsString]) -> anyhow::Result<Ran> {
        let work = self.fresh_work()?;
        let file = |extension: &str| self.folder.join(format!("{name}.{extension}"));
        let outcomes = file("tsv");
        remove(&outcomes)?;
        let mut args = before.to_vec();
        args.extend_from_slice(&self.args);
        args.push(outcomes.clone().into());
        args.extend(self.library.leave_out.iter().map(|(class, _)| class.into()));
        let outcome = Run {
            program: program.to_owned(),
            args,
            folder: work,
            env: Vec::new(),
            stdout: file("out"),
            stderr: file("err"),
            limit: LIMIT,
        }
        .run()?;
        let (status, time) = match outcome {
            Outcome::Ended { status, time, .. } => (Some(status), time),
            Outcome::TimedOut => (None, LIMIT),
        };
        self.ran(name, status, time)
    }

    /// Reads what a run has left.
    fn ran(&self, name: &str, status: Option<Status>, time: Duration) -> anyhow::Result<Ran> {
        let file = |extension: &str| self.folder.join(format!("{name}.{extension}"));
        let mut remarks = BTreeSet::new();
        for extension in ["out", "err"] {
            let text = fs::read(file(extension))?;
            let text = String::from_utf8_lossy(&text);
            let lines = text.lines().filter(|line| is_remark(line));
            remarks.extend(lines.map(str::to_owned));
        }
        Ok(Ran {
            outcomes: Outcomes::read(&file("tsv"))?,
            status,
            time,
            remarks,
        })
    }

    /// The folder that tests run in, as it would be in a checkout: files they need are where
    /// they look for them.
    fn fresh_work(&self) -> anyhow::Result<PathBuf> {
        let work = self.folder.join("work");
        remove(&work)?;
        let resources = work.join(RESOURCES);
        fs::create_dir_all(&resources)?;
        fs::create_dir_all(work.join("tmp"))?;
        fs::create_dir_all(work.join("target"))?;
        let mut args = words(["--extract", "--file"]);
        args.push(self.test_jar.clone().into());
        tool(&self.jar, args, &resources)?;
        Ok(work)
    }

    /// Sums up what was recorded, and checks that all of it can be read.
    fn read_recording(&self, folder: &Path, found: &mut Found) -> anyhow::Result<()> {
        let run = match RunFolder::open(folder) {
            Ok(run) => run,
            Err(error) => {
                found.trouble.push(format!("no recording: {error}"));
                return Ok(());
            }
        };
        for file in &run.recordings {
            let recording = match Recording::open(file) {
                Ok(recording) => recording,
                Err(error) => {
                    found.trouble.push(format!("unreadable: {error}"));
                    continue;
                }
            };
            found.events += recording.event_count();
            found.bytes += recording.bytes();
            let losses = recording.losses();
            found.not_woven.extend(losses.not_woven.iter().cloned());
            for (name, count) in &losses.counts {
                found.losses.push(format!("{name}: {count}"));
            }
            let stopped = losses.stopped.iter();
            found
                .trouble
                .extend(stopped.map(|why| format!("recording stopped: {why}")));
            if recording.end().is_none() {
                found.trouble.push("the recording has no end".to_owned());
            }
            let mut read = 0;
            for step in recording.heads() {
                match step {
                    Ok(_) => read += 1,
                    Err(error) => {
                        let place = file.display().to_string();
                        let error = error.to_string().replace(&place, "it");
                        found
                            .trouble
                            .push(format!("unreadable after {read} events: {error}"));
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// True if a line of output may come from the tool or, because of it, from the JVM.
fn is_remark(line: &str) -> bool {
    let line = line.to_lowercase();
    ["culprit", "vm warning", "fatal error", "verifyerror"]
        .iter()
        .any(|word| line.contains(word))
}
