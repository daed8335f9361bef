//! One run: the steps that are still to come, what the subject has done so far, and how they
//! compare. Knows no JNI.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use culprit_model::outcome::{Divergence, Got, Outcome};
use culprit_model::scenario::Tables;
use culprit_model::site::TypeDef;
use culprit_model::{
    Actor, BlobId, EventKind, Member, ObjectId, Reference, Script, Site, SiteId, SiteKind,
    Statement, Step, ThreadId, TypeId, Value,
};
use culprit_trace::{Decoded, Decoder};
use culprit_wire::{LONG_VALUES, LineCheck, Message as _, Mode, ToWorker};

use super::compare;
use super::long::LongValues;
use super::stand_in::StandIns;
use super::turns::Turns;
use crate::agent::Agent;
use crate::lock::LockSafe;
use crate::recorder::Message;

pub(super) type Incoming = Mutex<BufReader<UnixStream>>;

/// So many steps ahead the next one of a thread is looked for.
const FARTHEST: usize = 1 << 16;

/// The scenario's side of a comparison.
#[derive(Default)]
pub(super) struct ScenarioSide {
    types: HashMap<u32, TypeDef>,
    sites: HashMap<u32, Arc<Site>>,
    long: LongValues,
    threads: Vec<(ThreadId, String)>,
    /// By class: the members of others that its code was woven to leave observed code for.
    taken_for_external: HashMap<String, HashSet<Member>>,
}

/// The subject's side.
#[derive(Default)]
pub(super) struct SubjectSide {
    pub(super) decoder: Decoder,
    long: LongValues,
}

/// Which object of this JVM an object of the scenario is, and the other way round.
#[derive(Default)]
pub(super) struct Bindings {
    here: HashMap<u64, u64>,
    there: HashMap<u64, u64>,
}

/// An event of the subject.
pub(super) type SubjectEvent = (EventKind, SiteId, Vec<Value>);

#[derive(Default)]
pub(crate) struct WorkerRun {
    steps: VecDeque<Arc<Step>>,
    /// The statements of a plain run.
    statements: Vec<Statement>,
    /// No steps or statements follow those.
    complete: bool,
    /// Steps or statements used up.
    at: u64,
    pub(super) said: ScenarioSide,
    pub(super) done: SubjectSide,
    pub(super) bindings: Bindings,
    /// Objects whose external superclass is being constructed: name of the class and id.
    pub(super) unfinished: Vec<(String, u64)>,
    /// Sites of the calls that are open in each thread, outermost first.
    open: HashMap<u32, Vec<SiteId>>,
    /// The thread that acts.
    acting: Option<ThreadId>,
    /// Where the last call of each thread went out of the subject.
    last_calls: HashMap<u32, SiteId>,
    /// What the subject has done and nobody has compared yet.
    pub(super) pending: VecDeque<SubjectEvent>,
    /// An initialiser of the subject has failed.
    spoilt: bool,
    /// What the initialiser of an external class threw, and how many steps were used up then.
    failed: Option<(u64, Value)>,
    /// Values of a plain run that are no objects, by the id that the scenario has for them.
    scalars: HashMap<u64, Value>,
    pub(super) stand_ins: StandIns,
    /// On which object a thread waits that has called `wait` on it.
    waits: HashMap<u32, ObjectId>,
    pub(super) turns: Turns,
    lines: LineCheck,
    /// Objects that steps ask for by their birth.
    births: Vec<(ThreadId, u64)>,
    pub(super) mode: Mode,
    /// Those after which the run went on.
    pub(super) differences: Vec<Divergence>,
    outcome: Option<Outcome>,
    /// The host's number of the run.
    number: u64,
    /// The host is told how it ended, or is being told.
    reported: bool,
    /// Threads of the run that have not ended.
    threads_left: usize,
}

impl ScenarioSide {
    pub(super) fn type_name(&self, class: TypeId) -> &str {
        self.types.get(&class.0).map_or("?", |class| &class.name)
    }

    pub(super) fn class(&self, class: TypeId) -> Option<&TypeDef> {
        self.types.get(&class.0)
    }

    pub(super) fn blob(&self, id: BlobId) -> Option<&[u8]> {
        self.long.get(id)
    }

    /// Notes which member a place in observed code leaves that code for. Calls on a receiver tell
    /// nothing: the receiver decides.
    fn note_external(&mut self, site: &Site) {
        let certain = match site.kind {
            SiteKind::Call => site.is_static || site.is_constructor(),
            SiteKind::Field => true,
            SiteKind::Entry | SiteKind::Callee | SiteKind::Array => false,
        };
        if certain && site.target.owner != site.class {
            let owners = self.taken_for_external.entry(site.class.clone());
            owners.or_default().insert(site.target.clone());
        }
    }
}

impl SubjectSide {
    pub(super) fn type_name(&self, class: TypeId) -> &str {
        let class = self.decoder.types().get(class.0);
        class.map_or("?", |class| &class.name)
    }

    pub(super) fn blob(&self, id: BlobId) -> Option<&[u8]> {
        self.long.get(id)
    }
}

impl Bindings {
    /// The object of this JVM that an object of the scenario is.
    pub(super) fn here(&self, id: ObjectId) -> Option<u64> {
        self.here.get(&id.0).copied()
    }

    /// Whether two are the same object; if neither was seen before they are from now on.
    pub(super) fn same(&mut self, said: ObjectId, done: u64) -> bool {
        match (self.here.get(&said.0), self.there.get(&done)) {
            (Some(here), Some(_)) => *here == done,
            (None, None) => {
                self.bind(said, done);
                true
            }
            _ => false,
        }
    }

    pub(super) fn bind(&mut self, said: ObjectId, done: u64) {
        self.here.insert(said.0, done);
        self.there.insert(done, said.0);
    }

    pub(super) fn is_bound(&self, done: u64) -> bool {
        self.there.contains_key(&done)
    }
}

impl WorkerRun {
    /// Starts anew; definitions stay.
    pub(super) fn begin(&mut self, run: &culprit_wire::RunRequest) {
        self.lines = run.lines;
        self.births.clone_from(&run.births);
        self.mode = run.mode;
        self.differences.clear();
        self.said.long.begin();
        self.done.long.begin();
        self.steps.clear();
        self.statements.clear();
        self.complete = false;
        self.at = 0;
        self.bindings = Bindings::default();
        self.unfinished.clear();
        self.open.clear();
        self.pending.clear();
        self.waits.clear();
        self.turns = Turns::default();
        self.last_calls.clear();
        self.acting = None;
        self.failed = None;
        self.scalars.clear();
        self.stand_ins = StandIns::default();
        self.outcome = None;
        self.number = run.number;
        self.reported = false;
    }

    pub(super) fn keep_scalar(&mut self, id: ObjectId, value: Value) {
        self.scalars.insert(id.0, value);
    }

    /// The id is that of an object from now on.
    pub(super) fn forget_scalar(&mut self, id: ObjectId) {
        self.scalars.remove(&id.0);
    }

    pub(super) fn scalar(&self, id: ObjectId) -> Option<Value> {
        self.scalars.get(&id.0).cloned()
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn is_reported(&self) -> bool {
        self.reported
    }

    /// Whether the host is still to be told; whoever asks does so.
    pub(super) fn begin_report(&mut self) -> bool {
        !std::mem::replace(&mut self.reported, true)
    }

    pub(super) fn thread_starts(&mut self) {
        self.threads_left += 1;
    }

    pub(super) fn thread_ends(&mut self) {
        self.threads_left = self.threads_left.saturating_sub(1);
    }

    pub(super) fn has_threads(&self) -> bool {
        self.threads_left > 0
    }

    pub(super) fn define(&mut self, tables: Tables) {
        for class in tables.types {
            self.said.types.insert(class.id.0, class);
        }
        for site in tables.sites {
            self.said.note_external(&site);
            self.said.sites.insert(site.id.0, Arc::new(site));
        }
        if !tables.threads.is_empty() {
            self.said.threads = tables.threads;
        }
        for (id, bytes) in tables.blobs {
            self.keep(id, bytes);
        }
    }

    pub(super) fn keep(&mut self, id: BlobId, bytes: Vec<u8>) {
        self.said.long.keep(id, bytes);
    }

    /// Long values told so far are told again, should later steps refer to them.
    pub(super) fn forget(&mut self) {
        let known = self.at + self.steps.len() as u64;
        self.said.long.turn(known);
        self.said.long.trim(self.at);
    }

    /// The members of others that the code of a class was woven to leave observed code for.
    pub(super) fn taken_for_external(&self, class: &str) -> HashSet<Member> {
        let taken = &self.said.taken_for_external;
        taken.get(class).cloned().unwrap_or_default()
    }

    /// The numbers of the objects that steps ask for and that a thread made; without one, the first.
    pub(super) fn births(&self, thread: Option<ThreadId>) -> (ThreadId, Vec<u64>) {
        let first = self
            .births
            .first()
            .map_or(ThreadId(0), |(thread, _)| *thread);
        let thread = thread.unwrap_or(first);
        let numbers = self.births.iter().filter(|(of, _)| *of == thread);
        (thread, numbers.map(|(_, number)| *number).collect())
    }

    /// The threads that have steps, with their names.
    pub(super) fn threads(&self) -> Vec<(ThreadId, String)> {
        self.said.threads.clone()
    }

    pub(super) fn site(&self, id: SiteId) -> Option<Arc<Site>> {
        self.said.sites.get(&id.0).cloned()
    }

    /// The step so many places ahead; `None` if the scenario ends before it.
    pub(super) fn peek(&mut self, ahead: usize, incoming: &Incoming) -> Option<&Arc<Step>> {
        if ahead == 0 {
            self.skip_initialisers(incoming);
        }
        self.look(ahead, incoming)
    }

    pub(super) fn look(&mut self, ahead: usize, incoming: &Incoming) -> Option<&Arc<Step>> {
        while self.steps.len() <= ahead && !self.complete {
            self.read(incoming);
        }
        self.steps.get(ahead)
    }

    /// The next step of a thread, or of any, if it is not too far ahead.
    pub(super) fn next_of(
        &mut self,
        thread: Option<ThreadId>,
        incoming: &Incoming,
    ) -> Option<Arc<Step>> {
        for ahead in 0..FARTHEST {
            let step = self.peek(ahead, incoming)?;
            if thread.is_none_or(|thread| thread == step.thread) {
                return Some(Arc::clone(step));
            }
        }
        None
    }

    /// Whether the next step is the initialiser of an external class that calls observed code.
    pub(super) fn initialises(&mut self, incoming: &Incoming) -> Option<Arc<Step>> {
        let step = self.peek(0, incoming).cloned()?;
        self.is_initialiser(&step).then_some(step)
    }

    fn is_initialiser(&self, step: &Step) -> bool {
        step.kind == EventKind::OutgoingCall
            && self
                .said
                .sites
                .get(&step.site.0)
                .is_some_and(|site| site.kind == SiteKind::Callee && site.target.name == "<clinit>")
    }

    /// Steps over initialisers of external classes, unless they call observed code. Stubs have none,
    /// since nobody knows when a class was initialised that was so before it was first recorded.
    fn skip_initialisers(&mut self, incoming: &Incoming) {
        while let Some(step) = self.look(0, incoming).cloned() {
            if !self.is_initialiser(&step) {
                return;
            }
            let depth = step.depth;
            let mut length = 1;
            while let Some(step) = self.look(length, incoming) {
                length += 1;
                if step.part() == Actor::Drive {
                    return;
                }
                if step.depth == depth + 1 && is_end(step.kind) {
                    break;
                }
            }
            let mut last = None;
            for _ in 0..length {
                last = self.take();
            }
            if let Some(last) = last {
                self.initialised(&last);
            }
        }
    }

    /// Steps over the next step, the initialiser of an observed class that the subject does not have, to its normal
    /// end; whether that was possible. Nothing else may happen within it that the subject takes part in.
    pub(super) fn skip_lost_initialiser(&mut self, incoming: &Incoming) -> bool {
        let Some(call) = self.look(0, incoming).cloned() else {
            return false;
        };
        let mut length = 1;
        loop {
            let Some(step) = self.look(length, incoming) else {
                return false;
            };
            length += 1;
            if step.thread != call.thread || step.part() == Actor::Drive {
                return false;
            }
            if step.depth == call.depth + 1 && is_end(step.kind) {
                if step.kind != EventKind::IncomingReturn {
                    return false;
                }
                break;
            }
        }
        for _ in 0..length {
            self.take();
        }
        true
    }

    /// The initialiser of an external class has ended, by a step that was just used up.
    pub(super) fn initialised(&mut self, end: &Step) {
        if end.kind == EventKind::OutgoingThrow {
            self.failed = end.values.first().map(|thrown| (self.at, thrown.clone()));
        }
    }

    /// What the initialiser of an external class has thrown, if nothing has happened since.
    pub(super) fn initialiser_threw(&mut self) -> Option<Value> {
        let (at, thrown) = self.failed.take()?;
        (at == self.at).then_some(thrown)
    }

    fn read(&mut self, incoming: &Incoming) {
        match ToWorker::read_from(&mut *incoming.lock_safe()) {
            Ok(Some(ToWorker::Steps(steps))) => self.steps.extend(steps.into_iter().map(Arc::new)),
            Ok(Some(ToWorker::Statements(more))) => self.statements.extend(more),
            Ok(Some(ToWorker::Tables(tables))) => self.define(tables),
            Ok(Some(ToWorker::Blob { id, bytes })) => self.keep(id, bytes),
            Ok(Some(ToWorker::Forget)) => self.forget(),
            Ok(Some(ToWorker::EndOfSteps)) => self.complete = true,
            _ => {
                self.complete = true;
                self.end(Outcome::Stopped);
            }
        }
    }

    /// Reads the statements of a plain run to the last; its tables define the sites of answers.
    pub(super) fn read_script(&mut self, incoming: &Incoming) -> Script {
        while !self.complete {
            self.read(incoming);
        }
        let statements = std::mem::take(&mut self.statements);
        let answers = statements.iter().flat_map(Statement::answers);
        let sites = answers.filter_map(|answer| self.site(answer.site));
        let tables = Tables {
            sites: sites.map(|site| Site::clone(&site)).collect(),
            ..Tables::default()
        };
        Script {
            tables: Arc::new(tables),
            statements,
            ..Script::default()
        }
    }

    /// A statement is done.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Uses the next step up.
    pub(super) fn take(&mut self) -> Option<Arc<Step>> {
        let step = self.steps.pop_front()?;
        self.at += 1;
        self.acting = Some(step.thread);
        let open = self.open.entry(step.thread.0).or_default();
        open.truncate(step.depth as usize);
        self.waits.remove(&step.thread.0);
        match step.kind {
            EventKind::IncomingCall => open.push(step.site),
            EventKind::OutgoingCall => {
                open.push(step.site);
                let waits = self.said.sites.get(&step.site.0).is_some_and(|site| {
                    site.target.owner == "java/lang/Object" && site.target.name == "wait"
                });
                if let (true, Some(id)) = (waits, step.values.first().and_then(object_id)) {
                    self.waits.insert(step.thread.0, id);
                }
            }
            kind if is_end(kind) => drop(open.pop()),
            _ => {}
        }
        Some(step)
    }

    /// What the last call of a thread is to return, if it went to an object that stands in for a lambda:
    /// the recording has the body of the lambda, whose types may be others.
    pub(super) fn lambda_result(&self, thread: ThreadId) -> Option<u8> {
        let site = self.last_calls.get(&thread.0)?;
        let site = self.done.decoder.site(*site)?;
        let letter = site.target.descriptor.rsplit(')').next()?.bytes().next()?;
        compare::is_lambda(&site.target.owner).then_some(letter)
    }

    /// The object on which a thread waits.
    pub(super) fn waited(&self, thread: ThreadId) -> Option<ObjectId> {
        self.waits.get(&thread.0).copied()
    }

    fn open_calls(&self) -> u32 {
        self.open.values().map(|calls| calls.len() as u32).sum()
    }

    pub(super) fn used_up(&self) -> u64 {
        self.at
    }

    /// The first outcome counts.
    pub(super) fn end(&mut self, outcome: Outcome) {
        self.outcome.get_or_insert(outcome);
    }

    pub(super) fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// How the run ended. A method that could not be woven is the likeliest reason for a bad end.
    pub(super) fn outcome(&mut self, not_woven: &[(String, String)]) -> Outcome {
        self.finish();
        // It stays: threads that go on have to see it.
        let mut outcome = self.outcome.clone().unwrap_or(Outcome::Stopped);
        let why = match &mut outcome {
            Outcome::Diverged(divergence) => &mut divergence.why,
            Outcome::Unsupported(why) => why,
            Outcome::InSync { .. }
            | Outcome::Differed { .. }
            | Outcome::Threw { .. }
            | Outcome::Stopped => {
                return self.with_differences(outcome);
            }
        };
        for (method, reason) in not_woven {
            why.push_str(&format!("; {method} ran without probes: {reason}"));
        }
        self.with_differences(outcome)
    }

    /// The outcome of a run that went on after differences.
    fn with_differences(&mut self, outcome: Outcome) -> Outcome {
        let mut differences = std::mem::take(&mut self.differences);
        if differences.is_empty() {
            return outcome;
        }
        let complete = matches!(outcome, Outcome::InSync { .. });
        match outcome {
            Outcome::Diverged(last) => differences.push(*last),
            Outcome::Unsupported(why) => differences.push(self.divergence(None, why)),
            Outcome::InSync { .. } => {}
            Outcome::Differed { .. } | Outcome::Threw { .. } | Outcome::Stopped => return outcome,
        }
        Outcome::Differed {
            steps: self.at,
            differences,
            complete,
        }
    }

    /// All steps were done; calls may still be open.
    pub(super) fn finish(&mut self) {
        let outcome = Outcome::InSync {
            steps: self.at,
            open_calls: self.open_calls(),
        };
        self.end(outcome);
    }

    /// Takes in what the subject's thread has recorded since, and compares it with the steps. Without
    /// a number the thread is the only one.
    pub(super) fn catch_up(
        &mut self,
        agent: &Agent,
        incoming: &Incoming,
        thread: Option<ThreadId>,
        state: i64,
    ) {
        self.acting = thread.or(self.acting);
        if let Some(why) = agent.recorder.why_stopped() {
            self.end(Outcome::Unsupported(why));
        }
        let told = agent.recorder.take_now();
        for message in told {
            match message {
                Message::Events(chunk) => self.compare(&chunk.records, incoming),
                Message::Type(class) => self.done.decoder.add_type(class),
                Message::Sites(sites) => {
                    for site in sites {
                        self.done.decoder.add_site(site);
                    }
                }
                Message::Blob { id, bytes, .. } => {
                    self.done.long.keep(id, bytes);
                    if self.done.long.size() > LONG_VALUES {
                        agent.recorder.blobs.forget();
                        self.done.long.turn(self.at);
                        self.done.long.trim(self.at);
                    }
                }
                _ => {}
            }
        }
        if let Some(chunk) = agent.recorder.states.drain(state) {
            self.compare(&chunk.records, incoming);
        }
        self.compare_pending(incoming);
    }

    fn compare(&mut self, records: &[u8], incoming: &Incoming) {
        let decoded = match self.done.decoder.decode(records) {
            Ok(decoded) => decoded,
            Err(what) => {
                let why = format!("a record that makes no sense: {what} was expected");
                self.end(Outcome::Unsupported(why));
                return;
            }
        };
        for record in decoded {
            if let Decoded::Event { kind, site, values } = record {
                self.pending.push_back((kind, site, values));
            }
        }
        self.compare_pending(incoming);
    }

    /// Compares what the subject has done, up to where an external class is to be initialised first.
    fn compare_pending(&mut self, incoming: &Incoming) {
        while !self.is_over() && !self.pending.is_empty() && self.initialises(incoming).is_none() {
            let Some((kind, site, values)) = self.pending.pop_front() else {
                return;
            };
            self.spoilt |= kind == EventKind::IncomingThrow && self.is_initialiser_here(site);
            if self.peek(0, incoming).is_none() && self.is_within_call() {
                // It went on when it was recorded as well, and nobody saw that.
                return self.finish();
            }
            match self.difference(kind, site, &values, incoming) {
                Some(why) if !self.resynchronise((kind, site, &values), &why, incoming) => {
                    // The executor's own look at a field is no doing of the subject.
                    let own = (kind, site) == (EventKind::Constructed, SiteId(0));
                    self.diverge((!own).then_some((kind, site, values)), why);
                }
                _ => drop(self.take()),
            }
        }
    }

    /// Whether a call into the observed code is open in the thread that acts.
    fn is_within_call(&self) -> bool {
        let open = self.open.get(&self.actor().0);
        open.is_some_and(|calls| !calls.is_empty())
    }

    /// The thread that acts, or else the first.
    fn actor(&self) -> ThreadId {
        let first = self.said.threads.first().map(|(thread, _)| *thread);
        self.acting.or(first).unwrap_or(ThreadId(0))
    }

    /// Passes steps that tell of objects which the executor has made or found already.
    fn pass_known(&mut self, kind: EventKind, site: SiteId) {
        let done = self.done.decoder.site(site);
        let lambda_ends = matches!(kind, EventKind::OutgoingReturn | EventKind::OutgoingThrow)
            && done.is_some_and(|done| compare::is_lambda(&done.target.owner));
        while let Some(step) = self.steps.front() {
            // The body of a lambda may know that it gets an array where the lambda does not.
            if lambda_ends && step.kind == EventKind::ArrayContents {
                self.take();
                continue;
            }
            let tells = matches!(step.kind, EventKind::ObjectState | EventKind::Born);
            let told = step.values.first().and_then(object_id);
            let known = told.is_some_and(|id| self.bindings.here(id).is_some());
            if !(tells && known && step.kind != kind) {
                return;
            }
            self.take();
        }
    }

    /// Whether a place is in the initialiser of a class of the subject.
    fn is_initialiser_here(&self, site: SiteId) -> bool {
        let site = self.done.decoder.site(site);
        site.is_some_and(|site| site.target.name == "<clinit>")
    }

    /// Whether an initialiser has failed, since somebody last asked: its class is of no use any more.
    pub(super) fn take_spoilt(&mut self) -> bool {
        std::mem::take(&mut self.spoilt)
    }

    /// Why an event is not what the next step says.
    fn difference(
        &mut self,
        kind: EventKind,
        site: SiteId,
        values: &[Value],
        incoming: &Incoming,
    ) -> Option<String> {
        self.peek(0, incoming);
        self.pass_known(kind, site);
        let Some(step) = self.steps.front() else {
            return Some("the recording has ended, and the observed code goes on".to_owned());
        };
        // What the executor found in a field.
        if let (EventKind::Constructed, SiteId(0), EventKind::IncomingRead) =
            (kind, site, step.kind)
            && let (Some(said), Some(done)) = (step.values.last(), values.first())
        {
            let sides = (&self.said, &self.done);
            return compare::values(said, done, sides, &mut self.bindings)
                .map(|why| format!("the field has another value: {why}"));
        }
        if step.kind != kind {
            return Some(format!(
                "the recording has {}, the replay {}",
                step.kind.name(),
                kind.name()
            ));
        }
        let said = self.said.sites.get(&step.site.0);
        let done = self.done.decoder.site(site);
        if kind == EventKind::OutgoingCall {
            self.last_calls.insert(step.thread.0, site);
        }
        if let (Some(said), Some(done)) = (said, done) {
            if compare::is_body(said, done) {
                let sides = (&self.said, &self.done);
                return compare::through_lambda(step, values, sides, &mut self.bindings);
            }
            if let Some(why) = compare::sites(said, done, self.lines) {
                return Some(why);
            }
        }
        if step.values.len() != values.len() {
            return Some("another number of values".to_owned());
        }
        let sides = (&self.said, &self.done);
        let mut pairs = step.values.iter().zip(values).enumerate();
        pairs.find_map(|(i, (value, done))| {
            let why = compare::values(value, done, sides, &mut self.bindings)?;
            let role = compare::role(kind, said.map(|site| &**site), i, values.len());
            Some(format!("{role} differs: {why}"))
        })
    }

    /// Ends the run with a difference.
    pub(super) fn diverge(&mut self, got: Option<(EventKind, SiteId, Vec<Value>)>, why: String) {
        let divergence = self.divergence(got, why);
        self.end(Outcome::Diverged(Box::new(divergence)));
    }

    /// The difference between the next step and what the subject did.
    pub(super) fn divergence(
        &self,
        got: Option<(EventKind, SiteId, Vec<Value>)>,
        why: String,
    ) -> Divergence {
        let expected = self.steps.front().map(|step| Step::clone(step));
        let thread = match &expected {
            Some(step) if got.is_none() || self.acting.is_none() => step.thread,
            _ => self.actor(),
        };
        let got = got.map(|(kind, site, values)| {
            let shown = values.iter().map(|v| compare::show_whole(v, &self.done));
            Got {
                kind,
                values: shown.collect(),
                site: self
                    .done
                    .decoder
                    .site(site)
                    .cloned()
                    .unwrap_or_else(nowhere),
            }
        });
        let open = self.open.get(&thread.0);
        let open = open.map_or(&[][..], Vec::as_slice);
        let path = open.iter().map(|site| self.place(*site)).collect();
        Divergence {
            at: self.at,
            expected,
            got,
            thread,
            why,
            path,
        }
    }

    fn place(&self, site: SiteId) -> String {
        let Some(site) = self.said.sites.get(&site.0) else {
            return "?".to_owned();
        };
        let name = format!(
            "{}.{}",
            site.target.owner.replace('/', "."),
            site.target.name
        );
        match (&site.source, site.line) {
            (Some(source), Some(line)) => format!("{name} ({source}:{line})"),
            _ => name,
        }
    }
}

/// The id of a value, if it has one.
fn object_id(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. } | Reference::Array { id, .. }) => Some(*id),
        _ => None,
    }
}

/// Whether a step ends a call.
fn is_end(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow
    )
}

/// A site for events that have none.
fn nowhere() -> Site {
    Site {
        id: SiteId(0),
        kind: culprit_model::SiteKind::Call,
        class: String::new(),
        method: String::new(),
        descriptor: String::new(),
        line: None,
        source: None,
        target: culprit_model::Member {
            owner: String::new(),
            name: String::new(),
            descriptor: String::new(),
        },
        is_static: true,
    }
}
