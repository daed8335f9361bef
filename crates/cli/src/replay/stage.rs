//! The replays of all recordings of a command, one after the other, and their verdicts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use culprit_jvm::{CRASH_REPORT, Interrupt, Jdk, PoolError, ReportedOutput, StartError, untrusted};
use culprit_model::clean;
use culprit_program::{ClassPath, Error as ProgramError, WorkerJvm, matching_jdk};
use culprit_replay::{Error, Finding, Replayer, Severity, against, check_unless, subject};
use culprit_report::figure::counted;
use culprit_report::place::dotted;
use culprit_report::replay::{Case, Comparison, Facts, ReplayTable, Verdict};
use culprit_trace::Recording;
use culprit_wire::{LineCheck, Subject};

use super::{Form, Jdks, Plan, ask, result};
use crate::console::Console;
use crate::reduction::FORGED;
use crate::show;

/// Bytes of the report of a crash that are kept.
const MOST_REPORT: u64 = 16 << 20;

/// Everything that replays need, whatever recording they are of.
pub(super) struct Stage<'p> {
    pub(super) plan: &'p Plan,
    pub(super) library: &'p Path,
    pub(super) scratch: &'p Path,
    pub(super) interrupt: Interrupt,
}

/// The results of all replays.
pub(super) struct Ended {
    pub(super) cases: Vec<Case>,
    pub(super) interrupted: bool,
}

/// The classes to replay with.
struct Program {
    subject: Subject,
    /// Whether their lines are those of the recording.
    lines: LineCheck,
}

impl Stage<'_> {
    fn is_one_text(&self) -> bool {
        self.plan.form == Form::Text && self.plan.recordings.len() == 1
    }

    pub(super) fn replay_all(&self, console: &mut Console) -> anyhow::Result<Ended> {
        let (is_text, is_one) = (
            self.plan.form == Form::Text,
            self.plan.recordings.len() == 1,
        );
        let table = ReplayTable::new(&self.plan.recordings, console.styles());
        if is_text && !is_one {
            table.head(console.out())?;
        }
        let mut ended = Ended {
            cases: Vec::new(),
            interrupted: false,
        };
        for path in &self.plan.recordings {
            let case = match self.case(path, console)? {
                Some(case) if !self.interrupt.is_wanted() => case,
                _ => {
                    ended.interrupted = true;
                    break;
                }
            };
            match (is_text, is_one) {
                (true, true) if self.plan.asks => {
                    ask::print(&case, &mut io::stdin().lock(), console)?;
                }
                (true, true) => result::print(&case, console)?,
                (true, false) => {
                    table.row(&case, console.out())?;
                    if let Some(report) = &case.crash {
                        let report = clean::path(report);
                        writeln!(console.err(), "culprit: report of the crash: {report}")?;
                    }
                }
                (false, _) => {}
            }
            if let (Some(versions), true) = (&case.against, self.is_one_text()) {
                for line in versions.details() {
                    writeln!(console.out(), "{line}")?;
                }
            }
            ended.cases.push(case);
        }
        if is_text && !is_one {
            table.summary(&ended.cases, console.out())?;
        }
        Ok(ended)
    }

    /// Replays one recording; `None` if that was interrupted.
    pub(super) fn case(&self, path: &Path, console: &mut Console) -> anyhow::Result<Option<Case>> {
        let recording = match Recording::open(path) {
            Ok(recording) => recording,
            Err(error) => {
                let error = show::expected(&error);
                let verdict = Verdict::Unreadable {
                    why: error.message,
                    next: error.hint,
                };
                return Ok(Some(Case::new(path, Facts::default(), verdict)));
            }
        };
        let facts = Facts::of(&recording);
        let java = match &self.plan.jdks {
            Jdks::Named(jdk) => Some(jdk.clone()),
            Jdks::Found(jdks) => matching_jdk(&recording, jdks),
        };
        let feature = java.as_ref().map(|jdk| jdk.version.feature);
        let findings = match check_unless(&recording, feature, || self.interrupt.is_wanted()) {
            Ok(Some(findings)) => findings,
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(Case::new(path, facts, self.failed(error)))),
        };
        let mut case = Case::new(path, facts, Verdict::Nothing);
        let told = findings.iter().map(|it| (it.severity(), it.to_string()));
        case.findings = told.collect();
        let refusals = || findings.iter().filter(|f| f.severity() == Severity::Refuse);
        let is_empty =
            |finding: &Finding| matches!(finding, Finding::NothingObserved | Finding::NoEvents);
        if refusals().any(is_empty) {
            let hidden = || findings.iter().filter(|finding| finding.hides_events());
            let is_whole = hidden().next().is_none();
            // The JVM of a build tool has nothing to observe, which is as it should be.
            if !is_whole || self.plan.recordings.len() == 1 {
                case.verdict = refused(hidden().chain(refusals()));
            }
            return Ok(Some(case));
        }
        result::warn(&case, console)?;
        if refusals().next().is_some() {
            case.verdict = refused(refusals());
            return Ok(Some(case));
        }
        let Some(jdk) = java else {
            case.verdict = self.no_jdk(&recording);
            return Ok(Some(case));
        };
        let program = match self.program(&recording, &jdk, &mut case) {
            Ok(program) => program,
            Err(error) => {
                case.verdict = self.failed(error);
                return Ok(Some(case));
            }
        };
        if let (Some(versions), true, true) = (&case.against, self.is_one_text(), program.is_some())
        {
            for line in versions.summary() {
                writeln!(console.out(), "{line}")?;
            }
        }
        let Some(program) = program else {
            return Ok(Some(case));
        };
        console.flush()?;
        match self.replay(&recording, jdk, program, &mut case) {
            Ok(verdict) => case.verdict = verdict,
            Err(Error::Pool(PoolError::Interrupted)) => return Ok(None),
            Err(error) => case.verdict = self.failed(error),
        }
        self.keep_report(&mut case);
        Ok(Some(case))
    }

    /// The program to replay with, or `None` if it cannot be used; then the verdict of the case has the reason.
    fn program(
        &self,
        recording: &Recording,
        jdk: &Jdk,
        case: &mut Case,
    ) -> Result<Option<Program>, Error> {
        let Some(path) = &self.plan.against else {
            return Ok(Some(Program {
                subject: subject(recording)?,
                lines: LineCheck::Compare,
            }));
        };
        let classes = ClassPath::open(path, jdk.version.feature)?;
        let found = against(recording, &classes)?;
        case.against = Some(Comparison::of(path, &found));
        if found.is_another_program() {
            let path = path.to_string_lossy();
            let first = found.missing.first().map(|name| dotted(name));
            let why = format!(
                "{path} has none of its {}, such as {}",
                counted(found.classes, "observed class"),
                first.unwrap_or_default()
            );
            case.verdict = Verdict::Refused {
                why: vec![why],
                next: "name the jar or folder that has them (--against CP)".to_owned(),
            };
            return Ok(None);
        }
        Ok(Some(Program {
            subject: found.subject,
            lines: found.lines,
        }))
    }

    fn replay(
        &self,
        recording: &Recording,
        jdk: Jdk,
        program: Program,
        case: &mut Case,
    ) -> Result<Verdict, Error> {
        let replayer = Replayer {
            jvm: WorkerJvm {
                jdk,
                agent: self.library.to_owned(),
                scratch: self.scratch.to_owned(),
                heap: self.plan.heap,
                sandbox: self.plan.sandbox.clone(),
                output: self.plan.output,
                interrupt: Some(self.interrupt.clone()),
            },
            mode: self.plan.mode,
            coverage: self.plan.coverage,
            limit: self.plan.limit,
            options: self.plan.options.clone(),
            capture: self.plan.capture.clone(),
        };
        let replayed = replayer.replay(recording, program.subject, program.lines)?;
        case.took = replayed.took;
        case.coverage = replayed.coverage;
        Ok(Verdict::of(replayed.answer, recording))
    }

    fn no_jdk(&self, recording: &Recording) -> Verdict {
        let version = &recording.start().jvm_version;
        let feature = culprit_jvm::JavaVersion::parse(version).map(|version| version.feature);
        let wanted = feature.map_or_else(|| version.clone(), |feature| feature.to_string());
        let found: Vec<String> = match &self.plan.jdks {
            Jdks::Named(_) => Vec::new(),
            Jdks::Found(jdks) => jdks.iter().map(|jdk| jdk.version.to_string()).collect(),
        };
        let found = found.join(", ");
        Verdict::Refused {
            why: vec![format!(
                "recorded with Java {wanted}, and here is Java {found}"
            )],
            next: format!("install a JDK {wanted}, or name another at your own risk (--java DIR)"),
        }
    }

    /// The verdict on a recording whose replay ended with an error. The replay of another may succeed.
    fn failed(&self, error: Error) -> Verdict {
        match error {
            Error::Recording(error) => {
                let error = show::expected(&error);
                Verdict::Unreadable {
                    why: error.message,
                    next: error.hint,
                }
            }
            Error::Program(ProgramError::Forged(_)) => Verdict::Unreadable {
                why: error.to_string(),
                next: Some(FORGED.to_owned()),
            },
            Error::Options(_) => Verdict::Unreadable {
                why: error.to_string(),
                next: None,
            },
            Error::Pool(PoolError::Fault { .. } | PoolError::TooLarge(_)) => {
                Verdict::Fault(error.to_string())
            }
            Error::Pool(error @ PoolError::Source(_)) => Verdict::Unreadable {
                why: error.to_string(),
                next: Some(error.next_step().to_owned()),
            },
            Error::Program(_) | Error::Class { .. } => Verdict::BadClasses {
                why: error.to_string(),
                next: match self.plan.against {
                    Some(_) => "name a jar, a folder or a class path (--against CP)",
                    None => "use the recording as it was written, or record again",
                },
                is_given: self.plan.against.is_some(),
            },
            Error::Pool(error) => Verdict::NotStarted {
                next: self.start_hint(&error).to_owned(),
                why: error.to_string(),
            },
        }
    }

    /// The next step for a JVM that does not start.
    fn start_hint(&self, error: &PoolError) -> &'static str {
        let PoolError::Start(StartError::Ended { output, .. }) = error else {
            return error.next_step();
        };
        let of_memory = match output {
            ReportedOutput::Lines(lines) => is_of_memory(lines),
            ReportedOutput::Shared => false,
        };
        match (of_memory, self.plan.options.is_empty()) {
            (true, _) => "change the size of its heap (--memory MB)",
            (false, true) => "see what the JVM says, and try another (--java DIR)",
            (false, false) => {
                "see what the JVM says above, and check its options (after --) and --memory"
            }
        }
    }

    /// Saves the report of a JVM that crashed, before the folder it is in is removed.
    fn keep_report(&self, case: &mut Case) {
        let report = self.scratch.join(CRASH_REPORT);
        if untrusted::open(&report).is_err() {
            return;
        }
        let beside = case.path.with_extension(CRASH_REPORT);
        let here = beside.file_name().map(PathBuf::from);
        let mut places = [Some(beside), here].into_iter().flatten();
        let kept = places.find(|place| untrusted::copy(&report, place, MOST_REPORT).is_ok());
        // The next one is of another recording.
        let _ = fs::remove_file(&report);
        case.report(&report, kept);
    }
}

fn refused<'f>(findings: impl Iterator<Item = &'f Finding>) -> Verdict {
    let findings: Vec<&Finding> = findings.collect();
    let next = findings.first().map(|finding| finding.next_step());
    Verdict::Refused {
        why: findings.iter().map(ToString::to_string).collect(),
        next: next.unwrap_or_default().to_owned(),
    }
}

/// Whether the output of a JVM that ended at its start is about memory.
fn is_of_memory(said: &str) -> bool {
    let words = ["heap", "memory", "Xmx"];
    words.iter().any(|word| said.contains(word))
}
