//! What can be expected of a replay, asked before anything is replayed: one look at what the
//! recording says of itself, and one pass over its events.

use std::collections::{BTreeMap, BTreeSet};

use culprit_jvm::JavaVersion;
use culprit_model::options::RecordOptions;
use culprit_model::value::Contents;
use culprit_model::{
    Actor, EventIndex, EventKind, Losses, Reference, SiteId, SiteKind, Step, ThreadId, Value,
};
use culprit_trace::{Gap, GapReason, Recording};

use crate::{Count, Error, Finding};

/// Events between two looks whether somebody wants to stop.
const BETWEEN_LOOKS: u64 = 4096;

/// What stands in the way of a replay of this recording, the worst first; with `java`, of one with
/// that major version of Java.
pub fn check(recording: &Recording, java: Option<u32>) -> Result<Vec<Finding>, Error> {
    check_unless(recording, java, || false).map(Option::unwrap_or_default)
}

/// The same, for as long as nobody wants it to stop; `None` if somebody did. The events of a long
/// recording take a while.
pub fn check_unless(
    recording: &Recording,
    java: Option<u32>,
    stop: impl Fn() -> bool,
) -> Result<Option<Vec<Finding>>, Error> {
    let mut survey = Survey::new(recording);
    let mut scan = recording.scan();
    while let Some(step) = scan.step() {
        match step? {
            culprit_trace::ScanStep::Gap(gap) => survey.gap(&gap),
            culprit_trace::ScanStep::Event(head) => {
                if head.index.0 % BETWEEN_LOOKS == 0 && stop() {
                    return Ok(None);
                }
                survey.step(&Step::from(scan.event(&head)?));
            }
        }
    }
    let mut findings = classes(recording, &survey.code)?;
    findings.extend(ends(recording));
    findings.extend(survey.findings());
    findings.extend(losses(recording));
    findings.extend(java.and_then(|java| other_java(recording, java)));
    findings.sort_by_key(Finding::severity);
    Ok(Some(findings))
}

/// Whether the classes are there whose code is at these sites, and what they are like.
fn classes(recording: &Recording, code: &BTreeSet<SiteId>) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let observed = || recording.classes().iter().filter(|class| class.observed);
    if observed().next().is_none() {
        findings.push(Finding::NothingObserved);
    }
    let known: BTreeSet<&str> = observed().map(|class| class.name.as_str()).collect();
    let sites = code.iter().filter_map(|id| recording.sites().get(id.0));
    let needed: BTreeSet<&str> = sites.map(|site| site.class.as_str()).collect();
    findings.extend(
        needed
            .difference(&known)
            .map(|class| Finding::ClassMissing {
                class: (*class).to_owned(),
            }),
    );
    for class in observed() {
        match recording.class_bytes(class) {
            Ok(_) => {}
            Err(culprit_trace::Error::Damaged { .. }) => findings.push(Finding::ClassChanged {
                class: class.name.clone(),
                loader: class.loader,
            }),
            Err(error) => return Err(error.into()),
        }
    }
    let ahead = observed().filter(|class| class.ahead).count() as u64;
    if ahead > 0 {
        findings.push(Finding::WovenAhead { classes: ahead });
    }
    Ok(findings)
}

/// How the recording ends.
fn ends(recording: &Recording) -> Vec<Finding> {
    let mut findings = Vec::new();
    if recording.event_count() == 0 {
        findings.push(Finding::NoEvents);
    }
    if let Some(cut) = recording.truncation() {
        findings.push(Finding::Truncated {
            offset: cut.offset,
            bytes_left: cut.bytes_left,
        });
    }
    if recording.end().is_none() {
        findings.push(Finding::NoEnd);
    }
    if let Some(why) = &recording.losses().stopped {
        let why = why.clone();
        findings.push(Finding::Stopped { why });
    }
    findings
}

/// What the agent says is missing.
fn losses(recording: &Recording) -> Vec<Finding> {
    let losses = recording.losses();
    let mut findings = Vec::new();
    let options = RecordOptions::of_recording(&recording.start().options).ok();
    let one_in = options.and_then(|options| options.sample).unwrap_or(1);
    let left_out = losses.count(Losses::LEFT_OUT);
    if one_in > 1 || left_out > 0 {
        findings.push(Finding::Sampled { one_in, left_out });
    }
    for (what, count) in &losses.counts {
        // These two are told by findings of their own.
        if what != Losses::LEFT_OUT && what != Losses::FORGOTTEN {
            let (what, count) = (what.clone(), *count);
            findings.push(Finding::Lost { what, count });
        }
    }
    findings.extend(
        losses
            .not_woven
            .iter()
            .map(|(what, why)| Finding::NotWoven {
                what: what.clone(),
                why: why.clone(),
            }),
    );
    findings
}

fn other_java(recording: &Recording, replay: u32) -> Option<Finding> {
    let recorded = JavaVersion::parse(&recording.start().jvm_version)?.feature;
    (recorded != replay).then_some(Finding::OtherJava { recorded, replay })
}

/// What a pass over the events finds.
struct Survey<'r> {
    recording: &'r Recording,
    threads: BTreeMap<ThreadId, Progress>,
    /// Sites of observed code that had events.
    code: BTreeSet<SiteId>,
    redacted: Count,
    unknown: Count,
    missing: Count,
    forgotten: u64,
    gaps: u64,
    gaps_in_calls: FoundProblem,
    unseen_ends: FoundProblem,
}

/// How far a thread is.
#[derive(Default)]
struct Progress {
    open: u32,
    after_gap: bool,
    /// The first thing it did outside any call.
    no_beginning: Option<EventIndex>,
}

/// How often something was found, and where first.
#[derive(Default)]
struct FoundProblem {
    times: u64,
    first: EventIndex,
}

impl FoundProblem {
    fn add(&mut self, times: u64, at: EventIndex) {
        if self.times == 0 {
            self.first = at;
        }
        self.times = self.times.saturating_add(times);
    }
}

impl<'r> Survey<'r> {
    fn new(recording: &'r Recording) -> Survey<'r> {
        Survey {
            recording,
            threads: BTreeMap::new(),
            code: BTreeSet::new(),
            redacted: Count::default(),
            unknown: Count::default(),
            missing: Count::default(),
            forgotten: 0,
            gaps: 0,
            gaps_in_calls: FoundProblem::default(),
            unseen_ends: FoundProblem::default(),
        }
    }

    fn gap(&mut self, gap: &Gap) {
        let progress = self.threads.entry(gap.thread).or_default();
        progress.after_gap = true;
        if progress.open > 0 {
            self.gaps_in_calls.add(1, gap.before);
        }
        // The recording says how many, and may say anything.
        let events = match gap.reason {
            GapReason::Forgotten => &mut self.forgotten,
            GapReason::Unknown(_) => &mut self.gaps,
        };
        *events = events.saturating_add(gap.count);
    }

    fn step(&mut self, step: &Step) {
        let at = step.origin.unwrap_or_default();
        let progress = self.threads.entry(step.thread).or_default();
        let unseen = progress.open.saturating_sub(step.depth);
        if unseen > 0 && !progress.after_gap {
            self.unseen_ends.add(unseen.into(), at);
        }
        progress.after_gap = false;
        // An object may be told of before the call that it comes with.
        if step.depth == 0 && step.part() != Actor::Drive && !step.kind.is_aside() {
            progress.no_beginning.get_or_insert(at);
        }
        progress.open = match step.kind {
            kind if kind.opens() => step.depth.saturating_add(1),
            kind if kind.closes() => step.depth.saturating_sub(1),
            _ => step.depth,
        };
        if self.is_observed_code(step) {
            self.code.insert(step.site);
        }
        self.values(step, at);
    }

    /// Whether the code at the step's site is observed, so that a replay needs its class.
    fn is_observed_code(&self, step: &Step) -> bool {
        let site = self.recording.sites().get(step.site.0);
        site.is_some_and(|site| match site.kind {
            SiteKind::Entry | SiteKind::Call | SiteKind::Array => true,
            SiteKind::Field => {
                matches!(
                    step.kind,
                    EventKind::OutgoingRead | EventKind::OutgoingWrite
                )
            }
            SiteKind::Callee => false,
        })
    }

    fn values(&mut self, step: &Step, at: EventIndex) {
        let given = step.given();
        for (place, value) in step.values.iter().enumerate() {
            self.value(value, given.contains(&place), at);
        }
    }

    fn value(&mut self, value: &Value, given: bool, at: EventIndex) {
        // An array that comes again within itself has its contents only once. Arrays that go out
        // have none, and need none.
        let (mut told, mut untold) = (BTreeSet::new(), Vec::new());
        value.each_reference(&mut |reference| match reference {
            Reference::Redacted => add(&mut self.redacted, given, at),
            Reference::Unknown => add(&mut self.unknown, given, at),
            Reference::StringBlob(blob) if !self.recording.has_blob(*blob) => {
                add(&mut self.missing, given, at);
            }
            Reference::Array { id, contents, .. } => match (contents, contents.blob()) {
                (Contents::Unknown, _) => untold.push(*id),
                (_, Some(blob)) if !self.recording.has_blob(blob) => {
                    add(&mut self.missing, given, at);
                }
                _ => {
                    told.insert(*id);
                }
            },
            _ => {}
        });
        for id in untold {
            if given && !told.contains(&id) {
                add(&mut self.unknown, given, at);
            }
        }
    }

    fn findings(self) -> Vec<Finding> {
        let forgotten = self.recording.losses().count(Losses::FORGOTTEN);
        let events = self.forgotten.max(forgotten);
        let (broken, unseen) = (self.gaps_in_calls, self.unseen_ends);
        let counted = |count: Count| (count.given + count.compared > 0).then_some(count);
        let mut findings: Vec<Finding> = [
            (events > 0).then_some(Finding::Forgotten { events }),
            (self.gaps > 0).then_some(Finding::Gaps { events: self.gaps }),
            (broken.times > 0).then_some(Finding::GapsInCalls {
                gaps: broken.times,
                first: broken.first,
            }),
            (unseen.times > 0).then_some(Finding::UnseenEnds {
                calls: unseen.times,
                first: unseen.first,
            }),
            counted(self.missing).map(Finding::BlobsMissing),
            counted(self.redacted).map(Finding::Redacted),
            counted(self.unknown).map(Finding::Unknown),
        ]
        .into_iter()
        .flatten()
        .collect();
        for (thread, progress) in self.threads {
            if let Some(first) = progress.no_beginning {
                findings.push(Finding::NoBeginning { thread, first });
            }
            if progress.open > 0 {
                let calls = progress.open;
                findings.push(Finding::OpenCalls { thread, calls });
            }
        }
        findings
    }
}

fn add(count: &mut Count, given: bool, at: EventIndex) {
    if count.given + count.compared == 0 {
        count.first = at;
    }
    match given {
        true => count.given += 1,
        false => count.compared += 1,
    }
}
