//! Exceptions that are thrown through the program's code and caught: by that code, or by a server, a pool of
//! threads, a scripting host around it. Owns the table of those that were seen.
//!
//! There are two sources. The JVM's exception events tell who throws and who will catch; a *flight* is the pair of both
//! places, and the stack trace of an exception is taken for the first one of a flight only. Events cost some
//! microseconds each, so a program that throws too often has none of them any more. Hooks tell of stack traces that
//! are printed or logged, which costs nothing until somebody does.
//!
//! A tag of the JVM makes an exception known again, when it is thrown once more or printed.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use culprit_jvmti::sys::jvmti as t;
use culprit_jvmti::{Global, Jni, Local, MethodId, Passed, StackFrame, StaticMethodId};
use culprit_model::{Catcher, Caught, Failure, Owner};

use crate::agent::{Agent, Trouble};
use crate::classes::internal_name;
use crate::lock::LockSafe;

/// Entries of the table.
const MOST_ENTRIES: usize = 256;
/// Flights that are told apart; those beyond are ignored.
const MOST_FLIGHTS: usize = 4096;
/// Exceptions that may be thrown at once, and in each second besides, before there are no more events of them.
const MOST_AT_ONCE: u64 = 5_000;
const MOST_PER_SECOND: u64 = 1_000;
/// Stack traces that may be printed before nobody looks at them any more.
const MOST_PRINTED: u64 = 10_000;
/// Innermost frames that tell one flight from another.
const FRAMES_OF_FLIGHT: usize = 8;
/// Frames that are searched for the code that catches.
const MOST_FRAMES: usize = 512;

/// Added to the number of an entry, it is the tag of an exception. Loaders have smaller tags.
const FIRST_TAG: i64 = 1 << 40;

thread_local! {
    /// The current thread is in an exception event: what it throws by itself is no news.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// How an exception fares that the program's code does not handle in silence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It left a thread or failed a test, and is recorded as a failure.
    Reported,
    /// Its stack trace is printed.
    Printed,
}

/// An exception event, as the JVM tells it.
pub(crate) struct Thrown<'a> {
    pub(crate) exception: Local<'a>,
    /// The method that will catch it; none if nobody does.
    pub(crate) catcher: Option<MethodId>,
    pub(crate) catch_location: i64,
}

/// The method of the runtime that puts an exception into words. It is found once: in an event, finding a class may
/// call a class loader of the program.
pub(crate) struct Describer {
    failures: Global,
    caught: StaticMethodId,
    throwable: Global,
}

impl Describer {
    pub(crate) fn find(jni: &Jni<'_>, failures: &str) -> Result<Describer, Trouble> {
        let class = jni.find_class(failures)?;
        Ok(Describer {
            caught: jni.static_method(&class, "caught", "(ILjava/lang/Throwable;)V")?,
            failures: jni.global(&class)?,
            throwable: jni.global(&jni.find_class("java/lang/Throwable")?)?,
        })
    }
}

/// The exceptions that were seen.
pub(crate) struct CaughtTable {
    known: Mutex<Known>,
    started: Instant,
}

#[derive(Default)]
struct Known {
    /// Exception events so far.
    events: u64,
    flights: HashMap<u64, Flight>,
    entries: Vec<Entry>,
    /// Numbers of entries by the hash of a stack trace, for those that were only seen when printed.
    by_stack: HashMap<u64, u32>,
    printed: u64,
}

/// The decision about a flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flight {
    /// The program's code has no part in it, or an exception of an entry flies on.
    Ignored,
    /// It is counted in this entry.
    Entry(u32),
}

/// A row of the table.
struct Entry {
    /// Without a failure until the exception was described.
    failure: Option<Failure>,
    place: String,
    catcher: Catcher,
    printed: u64,
    count: u64,
    ordinal: u64,
    is_reported: bool,
    /// The entry as it was last written: the count, and a hash of the rest that may change.
    written: Option<Written>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Written {
    count: u64,
    place: String,
    printed: bool,
    is_reported: bool,
}

impl CaughtTable {
    pub(crate) fn new() -> CaughtTable {
        CaughtTable {
            known: Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Counts an event; whether there may be more of them.
    fn count_event(&self) -> bool {
        let mut known = self.known.lock_safe();
        known.events += 1;
        known.events <= most_events(self.started.elapsed())
    }

    /// The decision about a flight. An exception of an entry is counted.
    fn flight(&self, key: u64) -> Option<Flight> {
        let mut known = self.known.lock_safe();
        if known.flights.len() >= MOST_FLIGHTS && !known.flights.contains_key(&key) {
            return Some(Flight::Ignored);
        }
        let flight = known.flights.get(&key).copied()?;
        if let Flight::Entry(number) = flight
            && let Some(entry) = known.entry(number)
        {
            entry.count += 1;
        }
        Some(flight)
    }

    fn decide(&self, key: u64, flight: Flight) {
        self.known.lock_safe().flights.insert(key, flight);
    }

    /// A new entry; none if there are too many.
    fn add(&self, place: String, catcher: Catcher) -> Option<u32> {
        let mut known = self.known.lock_safe();
        if known.entries.len() >= MOST_ENTRIES {
            return None;
        }
        known.entries.push(Entry {
            failure: None,
            place,
            catcher,
            printed: 0,
            count: 1,
            ordinal: 0,
            is_reported: false,
            written: None,
        });
        Some(known.entries.len() as u32)
    }

    /// An exception of an entry was thrown again, and something else will catch it.
    fn flies_on(&self, number: u32, place: String, catcher: Catcher) {
        if let Some(entry) = self.known.lock_safe().entry(number) {
            entry.place = place;
            entry.catcher = catcher;
        }
    }

    fn fares(&self, number: u32, fate: Fate) {
        let mut known = self.known.lock_safe();
        known.printed += u64::from(fate == Fate::Printed);
        let printed = known.printed;
        if let Some(entry) = known.entry(number) {
            match fate {
                Fate::Reported => entry.is_reported = true,
                Fate::Printed => entry.printed = printed,
            }
        }
    }

    /// Whether nobody looks at stack traces that are printed any more.
    fn is_flooded(&self) -> bool {
        self.known.lock_safe().printed >= MOST_PRINTED
    }

    fn describe(&self, number: u32, failure: Failure, ordinal: u64) {
        if let Some(entry) = self.known.lock_safe().entry(number) {
            entry.failure = Some(failure);
            entry.ordinal = ordinal;
        }
    }

    /// The entry of an exception that was not seen until it was printed; a new one if its stack trace is new.
    fn of_printed(&self, stack: &str) -> Option<(u32, bool)> {
        let key = hash(&stack);
        let known = self.known.lock_safe().by_stack.get(&key).copied();
        if let Some(number) = known {
            if let Some(entry) = self.known.lock_safe().entry(number) {
                entry.count += 1;
            }
            return Some((number, false));
        }
        let number = self.add(String::new(), Catcher::Unknown)?;
        self.known.lock_safe().by_stack.insert(key, number);
        Some((number, true))
    }

    /// The entries that changed since they were last taken. Counts alone are news when they have doubled, or in the
    /// end. An entry of count 0 has become a failure.
    pub(crate) fn changed(&self, is_end: bool) -> Vec<Caught> {
        let mut known = self.known.lock_safe();
        let numbered = known.entries.iter_mut().zip(1..);
        numbered
            .filter_map(|(entry, number)| entry.changed(number, is_end))
            .collect()
    }
}

impl Known {
    fn entry(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut((number as usize).checked_sub(1)?)
    }
}

impl Entry {
    fn changed(&mut self, number: u32, is_end: bool) -> Option<Caught> {
        let failure = self.failure.as_ref()?;
        let now = Written {
            count: self.count,
            place: self.place.clone(),
            printed: self.printed > 0,
            is_reported: self.is_reported,
        };
        let is_news = match &self.written {
            None => !self.is_reported,
            Some(before) => {
                let counted = Written {
                    count: before.count,
                    ..now.clone()
                };
                // The order of what is printed is settled in the end.
                *before != counted || now.count >= 2 * before.count || is_end && !now.is_reported
            }
        };
        if !is_news {
            return None;
        }
        self.written = Some(now);
        Some(Caught {
            number,
            failure: Failure {
                place: self.place.clone(),
                ..failure.clone()
            },
            catcher: self.catcher,
            printed: self.printed,
            count: match self.is_reported {
                true => 0,
                false => self.count,
            },
            ordinal: self.ordinal,
        })
    }
}

/// The exception events that a program may have had after some time.
fn most_events(elapsed: Duration) -> u64 {
    MOST_AT_ONCE + elapsed.as_secs() * MOST_PER_SECOND
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn key(frames: &[StackFrame], thrown: &Thrown<'_>) -> u64 {
    let frames = frames.iter();
    let frames: Vec<(usize, i64)> = frames.map(|it| (it.method.number(), it.location)).collect();
    let catcher = thrown.catcher.map(MethodId::number);
    hash(&(frames, catcher, thrown.catch_location))
}

/// The number in the tag of an exception; 0 for a failure that has no entry.
fn number_of(tag: i64) -> Option<u32> {
    u32::try_from(tag.checked_sub(FIRST_TAG)?).ok()
}

impl Agent {
    /// An exception event.
    pub(crate) fn thrown(&self, jni: &Jni<'_>, thrown: &Thrown<'_>) {
        if BUSY.get() {
            return;
        }
        let table = &self.recorder.caught;
        if !table.count_event() || self.recorder.is_stopped() {
            let _ = self.jvmti.disable(t::JVMTI_EVENT_EXCEPTION);
            return;
        }
        let Ok(frames) = self.jvmti.stack_trace(FRAMES_OF_FLIGHT) else {
            return;
        };
        let key = key(&frames, thrown);
        match table.flight(key) {
            Some(Flight::Ignored) => {}
            Some(Flight::Entry(number)) => self.mark(&thrown.exception, number),
            None => {
                BUSY.set(true);
                let flight = jni.with_frame_of(64, |jni| self.look_at(jni, thrown));
                BUSY.set(false);
                table.decide(key, flight.ok().flatten().unwrap_or(Flight::Ignored));
            }
        }
    }

    fn mark(&self, exception: &Local<'_>, number: u32) {
        // Without its tag it is news when it is printed.
        let _ = self.jvmti.set_tag(exception, FIRST_TAG + i64::from(number));
    }

    fn number_of(&self, exception: &Local<'_>) -> Option<u32> {
        number_of(self.jvmti.tag(exception).ok()?)
    }

    /// Decides about a flight that was not seen before.
    fn look_at(&self, jni: &Jni<'_>, thrown: &Thrown<'_>) -> Option<Flight> {
        let table = &self.recorder.caught;
        let catcher = thrown.catcher?;
        let frames = self.jvmti.stack_trace(MOST_FRAMES).ok()?;
        let classes = self.classes_within(jni, &frames, catcher)?;
        let (outermost, thrower) = (classes.last()?, classes.first()?);
        if Owner::of(thrower) == Owner::Culprit {
            return None;
        }
        let is_own = |class: &String| self.classes.is_own(class);
        let by = match Owner::of(outermost) {
            _ if is_own(outermost) => Catcher::Program,
            owner if owner.is_of_tests() => Catcher::Test,
            _ => Catcher::Outside,
        };
        let name = self.jvmti.method_name(catcher).ok()?;
        let place = format!("{}.{name}", outermost.replace('/', "."));
        let exception = &thrown.exception;
        if let Some(number) = self.number_of(exception) {
            table.flies_on(number, place, by);
            return Some(Flight::Ignored);
        }
        // A wrapper that code outside puts around an exception carries it on.
        if !is_own(thrower)
            && let Some(number) = self.number_of_cause(jni, exception)
        {
            table.flies_on(number, place, by);
            self.mark(exception, number);
            return Some(Flight::Ignored);
        }
        if !classes.iter().any(is_own) || self.is_of_the_jvm(jni, exception) {
            return None;
        }
        let number = table.add(place, by)?;
        self.mark(exception, number);
        self.have_described(jni, exception, number);
        Some(Flight::Entry(number))
    }

    /// The classes of the frames from the one that throws to the one that catches.
    fn classes_within(
        &self,
        jni: &Jni<'_>,
        frames: &[StackFrame],
        catcher: MethodId,
    ) -> Option<Vec<String>> {
        let is_catcher = |frame: &StackFrame| frame.method.number() == catcher.number();
        let end = frames.iter().position(is_catcher)?;
        let mut classes = Vec::new();
        for frame in frames.get(..=end)? {
            let name = jni.with_frame_of(4, |jni| {
                let class = self.jvmti.declaring_class(jni, frame.method).ok()??;
                self.jvmti.class_signature(&class).ok()
            });
            classes.push(internal_name(&name.ok()??).to_owned());
        }
        Some(classes)
    }

    /// The number of the nearest cause that has one.
    fn number_of_cause(&self, jni: &Jni<'_>, exception: &Local<'_>) -> Option<u32> {
        let throwable = self.describer.get()?.throwable.local(jni);
        let mut cause = *exception;
        for _ in 0..4 {
            let next = jni.get_field(&cause, &throwable, "cause", "Ljava/lang/Throwable;");
            cause = next.ok()?.reference()?;
            if let Some(number) = self.number_of(&cause) {
                return Some(number);
            }
        }
        None
    }

    /// Whether memory or the stack is at its end: then nothing can be called.
    fn is_of_the_jvm(&self, jni: &Jni<'_>, exception: &Local<'_>) -> bool {
        let class = jni.object_class(exception);
        let name = self.jvmti.class_signature(&class).unwrap_or_default();
        matches!(
            internal_name(&name),
            "java/lang/StackOverflowError"
                | "java/lang/OutOfMemoryError"
                | "java/lang/InternalError"
        )
    }

    fn have_described(&self, jni: &Jni<'_>, exception: &Local<'_>, number: u32) {
        let Some(describer) = self.describer.get() else {
            return;
        };
        let given = [
            Passed::Int(number as i32),
            Passed::Reference(Some(*exception)),
        ];
        let class = describer.failures.local(jni);
        // What it throws is dropped; the entry is not written then.
        let _ = jni.call_static_void(&class, describer.caught, &given);
    }

    /// An exception that is printed, or is recorded as a failure. Whether there is nothing more to know about it.
    pub(crate) fn fares(&self, exception: &Local<'_>, fate: Fate) -> bool {
        let table = &self.recorder.caught;
        let number = self.number_of(exception);
        if let Some(number) = number {
            table.fares(number, fate);
        } else if fate == Fate::Reported {
            self.mark(exception, 0);
        }
        number.is_some() || fate == Fate::Printed && table.is_flooded()
    }

    /// An exception in words: of an entry, or one that was not seen until it was printed (0).
    pub(crate) fn described(
        &self,
        number: u32,
        exception: &Local<'_>,
        failure: Failure,
        ordinal: u64,
    ) {
        let table = &self.recorder.caught;
        if number > 0 {
            return table.describe(number, failure, ordinal);
        }
        let lines = failure.stack.lines().map(str::trim_start);
        let mut frames = lines.filter_map(|line| line.strip_prefix("at "));
        if !frames.any(|frame| class_of(frame).is_some_and(|class| self.classes.is_own(&class))) {
            return;
        }
        let Some((number, is_new)) = table.of_printed(&failure.stack) else {
            return;
        };
        if is_new {
            table.describe(number, failure, ordinal);
        }
        self.mark(exception, number);
        table.fares(number, Fate::Printed);
    }
}

/// The internal name of the class in a frame of a stack trace: `app//shop.Cart.total(Cart.java:3)`.
fn class_of(frame: &str) -> Option<String> {
    let method = frame.split_once('(')?.0;
    let method = method.rsplit_once('/').map_or(method, |(_, method)| method);
    Some(method.rsplit_once('.')?.0.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use culprit_model::{FailureKind, ThreadId};

    use super::*;

    fn failure() -> Failure {
        Failure {
            kind: FailureKind::Caught,
            thread: ThreadId(1),
            place: String::new(),
            class: "a.Bad".to_owned(),
            message: None,
            stack: "a.Bad\n\tat a.B.c(B.java:1)\n".to_owned(),
            exceptions: Vec::new(),
        }
    }

    /// A table with one entry that was described.
    fn table() -> CaughtTable {
        let table = CaughtTable::new();
        let number = table.add("a.Main.main".to_owned(), Catcher::Program);
        table.decide(7, Flight::Entry(number.unwrap()));
        table.describe(1, failure(), 3);
        table
    }

    fn counts(table: &CaughtTable, is_end: bool) -> Vec<u64> {
        let changed = table.changed(is_end);
        changed.iter().map(|caught| caught.count).collect()
    }

    #[test]
    fn an_entry_is_written_when_it_is_new_and_when_its_count_has_doubled() {
        let table = table();
        assert_eq!(counts(&table, false), [1]);
        assert_eq!(counts(&table, false), []);
        table.flight(7);
        assert_eq!(counts(&table, false), [2]);
        table.flight(7);
        assert_eq!(counts(&table, false), []);
        assert_eq!(counts(&table, true), [3]);
    }

    #[test]
    fn an_entry_is_written_again_when_it_is_printed_or_flies_on() {
        let table = table();
        table.changed(false);
        table.fares(1, Fate::Printed);
        assert_eq!(table.changed(false)[0].printed, 1);
        table.flies_on(1, "b.Server.run".to_owned(), Catcher::Outside);
        let [caught] = &table.changed(false)[..] else {
            panic!()
        };
        assert_eq!(caught.failure.place, "b.Server.run");
        assert_eq!(caught.catcher, Catcher::Outside);
        assert_eq!(caught.ordinal, 3);
    }

    #[test]
    fn a_failure_is_taken_out() {
        let before = table();
        before.fares(1, Fate::Reported);
        assert_eq!(counts(&before, true), []);
        let written = table();
        written.changed(false);
        written.fares(1, Fate::Reported);
        assert_eq!(counts(&written, false), [0]);
        assert_eq!(counts(&written, true), []);
    }

    #[test]
    fn an_exception_that_was_never_described_is_not_written() {
        let table = CaughtTable::new();
        table.add(String::new(), Catcher::Program);
        assert_eq!(counts(&table, true), []);
    }

    #[test]
    fn equal_traces_that_are_printed_are_one_entry() {
        let table = CaughtTable::new();
        assert_eq!(table.of_printed("a"), Some((1, true)));
        assert_eq!(table.of_printed("b"), Some((2, true)));
        assert_eq!(table.of_printed("a"), Some((1, false)));
    }

    #[test]
    fn entries_and_flights_are_bounded() {
        let table = CaughtTable::new();
        let added = (0..1000).filter_map(|_| table.add(String::new(), Catcher::Program));
        assert_eq!(added.count(), MOST_ENTRIES);
        for key in 0..MOST_FLIGHTS as u64 {
            table.decide(key, Flight::Ignored);
        }
        assert_eq!(table.flight(u64::MAX), Some(Flight::Ignored));
    }

    #[test]
    fn a_program_that_throws_without_end_has_no_more_events() {
        let table = CaughtTable::new();
        let counted = (0..MOST_AT_ONCE).all(|_| table.count_event());
        assert!(counted);
        let more = (0..100 * MOST_PER_SECOND).filter(|_| !table.count_event());
        assert!(more.count() > 0);
        assert_eq!(most_events(Duration::from_secs(10)), 15_000);
    }

    #[test]
    fn frames_name_their_class() {
        let check = |frame: &str, class: &str| assert_eq!(class_of(frame).unwrap(), class);
        check("shop.Cart.total(Cart.java:3)", "shop/Cart");
        check("app//shop.Cart$1.total(Cart.java:3)", "shop/Cart$1");
        check(
            "java.base/java.util.List.of(Native Method)",
            "java/util/List",
        );
        assert_eq!(class_of("odd"), None);
    }

    #[test]
    fn tags_of_loaders_are_no_numbers() {
        assert_eq!(number_of(0), None);
        assert_eq!(number_of(17), None);
        assert_eq!(number_of(FIRST_TAG + 17), Some(17));
    }
}
