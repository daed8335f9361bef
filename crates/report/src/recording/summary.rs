//! The summary of a recording: gathered in one walk over the events, then printed within 80
//! columns.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use culprit_model::options::RecordOptions;
use culprit_model::{
    Caught, Event, EventKind, Failure, FailureKind, ObjectId, Reference, Selection, Site, ThreadId,
    Value, clean, shell,
};
use culprit_trace::{EndReason, Error, GapReason, Recording, ScanStep};

use super::ClassCount;
use super::caught::fate;
use super::value::Detail;
use crate::figure::{COLUMNS, clipped, counted, duration, grouped, size, time, wrap};
use crate::place::dotted;
use crate::style::{Style, Styles};

/// Where texts start after a label.
const LABEL: usize = 12;

/// How many lines of each list a short summary has.
const NAMES: usize = 5;
const COMMAND_LINES: usize = 5;
const CLASSES: usize = 10;
const THREADS: usize = 10;
const FAILURES: usize = 5;
const FRAMES: usize = 5;
const NOT_WOVEN: usize = 10;

/// The program, the events, the failures and the losses of a recording.
pub struct Summary<'r> {
    pub(super) recording: &'r Recording,
    /// Kinds that occur, in the order of the model.
    pub(super) kinds: Vec<(EventKind, u64)>,
    /// Classes that have events, most first.
    pub(super) classes: Vec<ClassCount>,
    pub(super) threads: BTreeMap<ThreadId, u64>,
    /// For each failure, the event at which it left the observed code.
    pub(super) left_at: Vec<Option<u64>>,
    /// Events dropped at marked places.
    pub(super) gaps: u64,
    /// The error that ended the walk over the events early.
    pub broken: Option<Error>,
}

impl<'r> Summary<'r> {
    /// Walks over the events of a recording.
    pub fn of(recording: &'r Recording) -> Summary<'r> {
        let sites = recording.sites();
        let mut counts = vec![[0u64; EventKind::ALL.len()]; sites.len()];
        let mut kinds = [0u64; EventKind::ALL.len()];
        let mut thrown = BTreeMap::new();
        let mut gaps = 0u64;
        let mut broken = None;
        let mut scan = recording.scan();
        while let Some(step) = scan.step() {
            let result = step.and_then(|step| match step {
                // What --last let go is a counter of its own.
                ScanStep::Gap(gap) if gap.reason == GapReason::Forgotten => Ok(()),
                ScanStep::Gap(gap) => {
                    gaps = gaps.saturating_add(gap.count);
                    Ok(())
                }
                ScanStep::Event(head) => {
                    kinds[head.kind.place()] += 1;
                    if let Some(site) = sites.place(head.site.0) {
                        counts[site][head.kind.place()] += 1;
                    }
                    if head.kind == EventKind::IncomingThrow && !recording.failures().is_empty() {
                        let event = scan.event(&head)?;
                        if let Some(id) = exception(&event) {
                            thrown.insert(id, head.index.0);
                        }
                    }
                    Ok(())
                }
            });
            if let Err(error) = result {
                broken = Some(error);
                break;
            }
        }
        let left_at = recording
            .failures()
            .iter()
            .map(|failure| {
                failure
                    .exceptions
                    .iter()
                    .filter_map(|id| thrown.get(id))
                    .max()
            })
            .map(Option::<&u64>::copied)
            .collect();
        Summary {
            recording,
            kinds: by_kind(&kinds),
            classes: by_class(sites.iter().zip(&counts)),
            threads: recording.thread_event_counts(),
            left_at,
            gaps,
            broken,
        }
    }

    /// The end of the JVM in words.
    fn ending(&self) -> String {
        match self.recording.end() {
            None => "not in order: the JVM was killed, or it still runs".to_owned(),
            Some(end) => {
                let status = match end.exit_status {
                    Some(status) => format!("with exit status {status}"),
                    None => "in order".to_owned(),
                };
                let stopped = match end.reason {
                    EndReason::JvmEnded => "",
                    EndReason::Stopped => ", after capture had stopped",
                };
                format!("{status} after {}{stopped}", duration(end.duration_ms))
            }
        }
    }

    /// The selection as it would be typed.
    pub(super) fn selection(&self) -> Option<Vec<String>> {
        let options = RecordOptions::of_recording(&self.recording.start().options).ok()?;
        Some(typed(&options.weave.selection))
    }

    pub(super) fn observed(&self) -> impl Iterator<Item = &str> {
        let classes = self.recording.classes().iter();
        classes.filter(|c| c.observed).map(|c| c.name.as_str())
    }

    /// Prints the summary.
    pub fn print(&self, detail: Detail, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
        let mut page = Page {
            out,
            styles,
            detail,
        };
        self.facts(&mut page)?;
        self.events(&mut page)?;
        self.threads(&mut page)?;
        self.failures(&mut page)?;
        self.caught(&mut page)?;
        self.losses(&mut page)
    }

    fn facts(&self, page: &mut Page<'_>) -> io::Result<()> {
        let (recording, start) = (self.recording, self.recording.start());
        page.label("Recording", &clean::path(recording.path()))?;
        // As it was given: without the argument that loads the agent.
        let agent = format!("={}", start.options);
        let is_given =
            |word: &&String| !(word.starts_with("-agentpath:") && word.ends_with(&agent));
        let given: Vec<String> = start.command.iter().filter(is_given).cloned().collect();
        let mut lines = wrap(&shell::line(&given), COLUMNS - LABEL);
        let limit = page.detail.limit(COMMAND_LINES);
        if lines.len() > limit {
            lines.truncate(limit - 1);
            lines.push("... (--full shows all of it)".to_owned());
        }
        lines.push(format!("in {}", clean::line(&start.directory)));
        page.label("Program", &lines.join("\n"))?;
        let jvm = format!(
            "{} {} ({}), pid {}",
            start.jvm_name, start.jvm_version, start.jvm_vendor, start.pid
        );
        page.label("JVM", &clean::line(&jvm))?;
        page.label("Started", &time(start.started_ms))?;
        page.label("Ended", &self.ending())?;
        let names: Vec<String> = self.observed().map(dotted).collect();
        let mut observed = counted(names.len() as u64, "class");
        if let Some(selection) = self.selection() {
            observed.push_str(&format!(" ({})", clean::line(&selection.join(" "))));
        }
        let ahead = recording
            .classes()
            .iter()
            .filter(|c| c.observed && c.ahead)
            .count();
        if ahead > 0 {
            observed.push_str(&format!(
                "\n{} of them chosen by an instrumented jar, whatever the options say",
                grouped(ahead as u64)
            ));
        }
        let limit = page.detail.limit(NAMES);
        for name in names.iter().take(limit) {
            observed.push_str(&format!("\n{}", clean::line(name)));
        }
        if names.len() > limit {
            observed.push_str(&format!(
                "\nand {} more",
                grouped((names.len() - limit) as u64)
            ));
        }
        page.label("Observed", &observed)?;
        let events = recording.event_count();
        let mut on_disk = size(recording.bytes());
        if events > 0 {
            let each = |bytes: u64| bytes as f64 / events as f64;
            let (alone, all) = (each(recording.event_bytes()), each(recording.bytes()));
            on_disk.push_str(&format!(
                ": {alone:.1} bytes an event, {all:.1} with classes and tables"
            ));
        }
        page.label("Size", &on_disk)
    }

    fn events(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.title("Events", self.recording.event_count())?;
        for (kind, count) in &self.kinds {
            writeln!(page.out, "  {:<24}{:>14}", kind.name(), grouped(*count))?;
        }
        if self.classes.is_empty() {
            return Ok(());
        }
        page.title("Classes", self.classes.len() as u64)?;
        let dim = page.styles.dim;
        let head = format!("  {:<50}{:>14}{:>14}", "", "incoming", "outgoing");
        writeln!(page.out, "{dim}{head}{dim:#}")?;
        let limit = page.detail.limit(CLASSES);
        for class in self.classes.iter().take(limit) {
            writeln!(
                page.out,
                "  {:<50}{:>14}{:>14}",
                clipped(&clean::line(&class.class), 49),
                grouped(class.incoming),
                grouped(class.outgoing)
            )?;
        }
        page.more(self.classes.len(), limit)
    }

    fn threads(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.title("Threads", self.threads.len() as u64)?;
        let limit = page.detail.limit(THREADS);
        let mut most: Vec<(&ThreadId, &u64)> = self.threads.iter().collect();
        most.sort_by_key(|(id, count)| (std::cmp::Reverse(**count), **id));
        most.truncate(limit);
        most.sort();
        for (id, count) in most {
            let name = match self.recording.threads().get(id.0) {
                Some(thread) if thread.is_virtual => format!("{} (virtual)", thread.name),
                Some(thread) => thread.name.clone(),
                None => String::new(),
            };
            writeln!(
                page.out,
                "  {:<6}{:<50}{:>22}",
                id.to_string(),
                clipped(&clean::line(&name), 49),
                counted(*count, "event")
            )?;
        }
        page.more(self.threads.len(), limit)
    }

    fn failures(&self, page: &mut Page<'_>) -> io::Result<()> {
        let failures = self.recording.failures();
        page.title("Failures", failures.len() as u64)?;
        let limit = page.detail.limit(FAILURES);
        for (failure, left_at) in failures.iter().zip(&self.left_at).take(limit) {
            failure_lines(failure, *left_at, page)?;
        }
        page.more(failures.len(), limit)
    }

    /// Exceptions that were caught, the likeliest failures first, with the numbers by which `minimize` knows them.
    fn caught(&self, page: &mut Page<'_>) -> io::Result<()> {
        let first = self.recording.failures().len() + 1;
        let mut caught: Vec<(usize, &Caught)> = (first..).zip(self.recording.caught()).collect();
        if caught.is_empty() {
            return Ok(());
        }
        caught.sort_by_key(|(number, caught)| (Reverse(caught.evidence()), *number));
        page.title("Caught", caught.len() as u64)?;
        let limit = page.detail.limit(FAILURES);
        for (number, caught) in caught.iter().take(limit) {
            let failure = &caught.failure;
            let head = match &failure.message {
                Some(message) => format!("{number}  {}: {message}", failure.class),
                None => format!("{number}  {}", failure.class),
            };
            page.indented(page.styles.warn, 2, &clean::line(&head))?;
            if let Some(site) = failure.throw_site() {
                let line = format!("at {site}");
                page.indented(page.styles.dim, 5, &clean::line(&line))?;
            }
            page.indented(Style::default(), 5, &clean::line(&fate(caught)))?;
        }
        page.more(caught.len(), limit)
    }

    fn losses(&self, page: &mut Page<'_>) -> io::Result<()> {
        let losses = self.recording.losses();
        if losses.is_empty() && self.gaps == 0 {
            return page.label("\nLosses", "none");
        }
        let title = page.styles.title;
        writeln!(page.out, "\n{title}Losses{title:#}")?;
        let warn = page.styles.warn;
        for (name, count) in &losses.counts {
            let name = clipped(&clean::line(name), 49);
            writeln!(
                page.out,
                "  {warn}{name:<50}{:>28}{warn:#}",
                grouped(*count)
            )?;
        }
        if self.gaps > 0 {
            let (name, count) = (
                "events lost at places marked in --events",
                grouped(self.gaps),
            );
            writeln!(page.out, "  {warn}{name:<50}{count:>28}{warn:#}")?;
        }
        if let Some(reason) = &losses.stopped {
            page.indented(
                warn,
                2,
                &format!("capture stopped: {}", clean::line(reason)),
            )?;
        }
        if losses.not_woven.is_empty() {
            return Ok(());
        }
        let count = losses.not_woven.len();
        writeln!(page.out, "  not woven: {}", grouped(count as u64))?;
        let limit = page.detail.limit(NOT_WOVEN);
        for (name, reason) in losses.not_woven.iter().take(limit) {
            let line = format!("{}: {}", dotted(&clean::line(name)), clean::line(reason));
            page.indented(Style::default(), 4, &line)?;
        }
        page.more(count, limit)
    }
}

fn failure_lines(failure: &Failure, left_at: Option<u64>, page: &mut Page<'_>) -> io::Result<()> {
    let head = match &failure.message {
        Some(message) => format!("{}: {message}", failure.class),
        None => failure.class.clone(),
    };
    page.indented(page.styles.bad, 2, &clean::line(&head))?;
    let place = match failure.kind {
        FailureKind::Uncaught => format!("left thread {} ({})", failure.place, failure.thread),
        FailureKind::Test => format!("failed test {}", failure.place),
        FailureKind::Caught => format!("caught by {}", failure.place),
    };
    let border = match left_at {
        Some(index) => format!("; left the observed code at event {index}"),
        None => "; not seen leaving the observed code".to_owned(),
    };
    page.indented(
        Style::default(),
        4,
        &clean::line(&format!("{place}{border}")),
    )?;
    let limit = page.detail.limit(FRAMES);
    let frames = failure.stack.lines().skip(1).map(str::trim_start);
    for frame in frames.clone().take(limit) {
        page.indented(page.styles.dim, 4, &clean::line(frame))?;
    }
    let more = frames.count().saturating_sub(limit);
    if more > 0 {
        let line = format!(
            "and {} (--full shows them)",
            counted(more as u64, "more line")
        );
        page.indented(page.styles.dim, 4, &line)?;
    }
    Ok(())
}

/// A page of text with its styles.
struct Page<'w> {
    out: &'w mut dyn Write,
    styles: Styles,
    detail: Detail,
}

impl Page<'_> {
    /// A label, and beside it a text, wrapped.
    fn label(&mut self, label: &str, text: &str) -> io::Result<()> {
        let title = self.styles.title;
        let blank = label.chars().take_while(|c| *c == '\n').count();
        let name = &label[blank..];
        write!(self.out, "{}", "\n".repeat(blank))?;
        let pad = LABEL - name.len();
        write!(self.out, "{title}{name}{title:#}{:pad$}", "")?;
        let lines = text
            .split('\n')
            .flat_map(|text| wrap(text, COLUMNS - LABEL));
        for (number, line) in lines.enumerate() {
            let indent = if number == 0 { 0 } else { LABEL };
            writeln!(self.out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }

    /// A heading with the number of what is below it.
    fn title(&mut self, title: &str, count: u64) -> io::Result<()> {
        let count = match count {
            0 => "none".to_owned(),
            count => grouped(count),
        };
        self.label(&format!("\n{title}"), &count)
    }

    fn indented(&mut self, style: Style, indent: usize, text: &str) -> io::Result<()> {
        for (number, line) in wrap(text, COLUMNS - indent - 2).iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + 2 };
            writeln!(self.out, "{:indent$}{style}{line}{style:#}", "")?;
        }
        Ok(())
    }

    /// Says what a list left out.
    fn more(&mut self, length: usize, limit: usize) -> io::Result<()> {
        if length <= limit {
            return Ok(());
        }
        let dim = self.styles.dim;
        let more = grouped((length - limit) as u64);
        writeln!(
            self.out,
            "  {dim}and {more} more (--full shows them){dim:#}"
        )
    }
}

fn exception(event: &Event) -> Option<ObjectId> {
    match event.values.first() {
        Some(Value::Reference(Reference::Object { id, .. })) => Some(*id),
        _ => None,
    }
}

fn by_kind(counts: &[u64; EventKind::ALL.len()]) -> Vec<(EventKind, u64)> {
    EventKind::ALL
        .into_iter()
        .map(|kind| (kind, counts[kind.place()]))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn by_class<'a>(
    sites: impl Iterator<Item = (&'a Site, &'a [u64; EventKind::ALL.len()])>,
) -> Vec<ClassCount> {
    let mut classes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (site, counts) in sites {
        for kind in EventKind::ALL {
            let count = counts[kind.place()];
            if count == 0 {
                continue;
            }
            // An incoming field access happens in external code; the field's class is ours.
            let class = match kind {
                EventKind::IncomingRead | EventKind::IncomingWrite => &site.target.owner,
                _ => &site.class,
            };
            let entry = classes.entry(class).or_default();
            if is_incoming(kind) {
                entry.0 += count;
            } else {
                entry.1 += count;
            }
        }
    }
    let mut classes: Vec<ClassCount> = classes
        .into_iter()
        .map(|(name, (incoming, outgoing))| ClassCount {
            class: dotted(name),
            incoming,
            outgoing,
        })
        .collect();
    // The sort is stable: classes with as many events stay in the order of their names.
    classes.sort_by_key(|class| std::cmp::Reverse(class.incoming + class.outgoing));
    classes
}

fn is_incoming(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::IncomingCall
            | EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::IncomingRead
            | EventKind::IncomingWrite
            | EventKind::Constructed
    )
}

fn typed(selection: &Selection) -> Vec<String> {
    let mut words = Vec::new();
    if selection.app || selection.observe.is_empty() {
        words.push("--observe app".to_owned());
    }
    words.extend(selection.observe.iter().map(|p| format!("--observe {p}")));
    words.extend(selection.exclude.iter().map(|p| format!("--exclude {p}")));
    words
}
