//! Where a failure comes from: the chain from the failure back, and the methods that it passed through.

use std::fmt::Write;

use culprit_model::clean;
use culprit_pinpoint::{Change, Evidence, Link, Located, PassingValue, Suspect};
use serde::{Deserialize, Serialize};

use super::dependence::LinkDependence;
use super::excerpt::{self, ExcerptEntry};
use crate::figure::{clipped, counted, grouped};
use crate::markup::markdown::{code, plain};
use crate::place::{simple, source_name};

/// The most links that a terminal shows.
const SHOWN: usize = 6;

/// The most branches beside the chain that a terminal shows.
const SHOWN_OMISSIONS: usize = 1;

/// The introduction of a branch that decides by code that did not run.
pub(super) const OMITTED: &str = "nothing fails either if this goes the other way";

/// The heading of a chain.
const TITLE: &str = "Where it comes from, the failure first";

/// The most methods that a line names.
const MOST_LISTED: usize = 5;

/// The most methods of a report.
const MOST_METHODS: usize = 20;

/// The most characters of a value.
const VALUE: usize = 200;

/// Where a failure comes from, as far as a trace of the minimal run and experiments with its values show it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OriginEntry {
    /// What fails and what decides it, in a sentence. It says that something decides the failure only if an experiment
    /// confirmed that.
    #[serde(default)]
    pub headline: String,
    /// Instructions from the failure back, each of which the one before depended on.
    pub chain: Vec<LinkEntry>,
    /// Branches that the failure did not depend on, but with which nothing fails if they go the other way.
    #[serde(default)]
    pub omissions: Vec<LinkEntry>,
    /// The methods that the failure depended on, the likeliest first.
    pub methods: Vec<MethodEntry>,
    /// Lines of the source of the likeliest methods, and of those on the chain.
    #[serde(default)]
    pub excerpts: Vec<ExcerptEntry>,
    /// Lines of the program that the minimal run executed.
    pub lines_run: usize,
    /// Lines of them that the failure depended on.
    pub lines_in_slice: usize,
    /// Runs with a difference.
    pub experiments: usize,
    /// Differences with which the test passes, in words.
    #[serde(default)]
    pub neighbours: Vec<String>,
    /// The reason why the trace of the run is not complete; null if it is.
    pub partial: Option<String>,
    /// The reason why there are no experiments; null if there are some.
    #[serde(default)]
    pub untried: Option<String>,
}

/// An instruction that a failure depended on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkEntry {
    /// Its class.
    pub class: String,
    /// Its method.
    pub method: String,
    /// The name of the source file; null if the class does not have it.
    pub file: Option<String>,
    /// The line; null if the class does not have it.
    pub line: Option<u16>,
    /// The text of the line; null if the source file was not found.
    pub code: Option<String>,
    /// The value that it had; null if that is not known.
    pub value: Option<String>,
    /// The dependence of the link before on this one, or of the failure on the first one; null if the first one failed
    /// itself.
    #[serde(default)]
    pub dependence: Option<LinkDependence>,
    /// The evidence for it.
    pub evidence: LinkEvidence,
    /// The change of the value with which nothing fails, in words; null if none was found.
    pub experiment: Option<String>,
    /// The value in a run that passes; null if it is the same there, or not known.
    #[serde(default)]
    pub passing: Option<PassingEntry>,
}

/// A value in a run that passes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PassingEntry {
    /// The value.
    pub value: String,
    /// The difference between that run and the failing one, in words.
    pub difference: String,
}

/// The evidence that an instruction has to do with a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LinkEvidence {
    /// With another value here, nothing failed.
    Confirmed,
    /// The failure depended on it.
    Related,
}

/// A method that a failure depended on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MethodEntry {
    /// Its class.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor in the class file.
    pub descriptor: String,
    /// The name of the source file; null if the class does not have it.
    pub file: Option<String>,
    /// The lines that the failure depended on, the nearest first.
    pub lines: Vec<u16>,
    /// The evidence for it.
    pub evidence: LinkEvidence,
}

impl OriginEntry {
    pub(super) fn of(located: &Located, failure: &str) -> OriginEntry {
        let mut origin = OriginEntry {
            headline: String::new(),
            chain: located.chain.iter().map(LinkEntry::of).collect(),
            omissions: located.omissions.iter().map(LinkEntry::of).collect(),
            methods: located
                .suspects
                .iter()
                .take(MOST_METHODS)
                .map(MethodEntry::of)
                .collect(),
            excerpts: located.excerpts.iter().map(ExcerptEntry::of).collect(),
            lines_run: located.lines_run,
            lines_in_slice: located.lines_in_slice,
            experiments: located.experiments,
            neighbours: located.neighbours.iter().map(|it| it.to_string()).collect(),
            partial: located.partial.clone(),
            untried: located.untried.map(str::to_owned),
        };
        if origin.chain.is_empty() {
            // The failure depended on none of them, as far as is known.
            origin.methods.clear();
        }
        origin.headline = origin.sentence(failure);
        origin
    }

    /// The reason why there is no chain.
    pub(super) fn unknown(&self) -> Option<String> {
        let why = match &self.partial {
            Some(why) => format!("the trace of the run is not complete: {why}"),
            None => {
                "the failure depended on no line that was traced, as with the work of an executor"
                    .to_owned()
            }
        };
        self.chain.is_empty().then_some(why)
    }

    /// The chain as a terminal shows it, at most 15 lines; empty if there is none.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.chain.is_empty() {
            return Vec::new();
        }
        let mut lines = vec!["where it comes from, the failure first:".to_owned()];
        for link in self.shown() {
            let code = link.code.as_ref().map(|code| format!("  {code}"));
            lines.push(format!("  {}{}", link.place(), code.unwrap_or_default()));
            lines.extend(
                link.experiment
                    .as_ref()
                    .map(|it| format!("    confirmed: {it}")),
            );
        }
        for link in self.omissions.iter().take(SHOWN_OMISSIONS) {
            let code = link.code.as_ref().map(|code| format!("  {code}"));
            let place = link.place();
            lines.push(format!("{OMITTED}: {place}{}", code.unwrap_or_default()));
        }
        lines.push(self.figures());
        let lines = lines.into_iter();
        lines.map(|line| clean::line(&line).into_owned()).collect()
    }

    /// The links that are worth a line: all that are confirmed, and the first ones.
    fn shown(&self) -> impl Iterator<Item = &LinkEntry> {
        let is_confirmed = |link: &&LinkEntry| link.evidence == LinkEvidence::Confirmed;
        let confirmed = self.chain.iter().filter(is_confirmed).count().min(SHOWN);
        let mut related = SHOWN - confirmed;
        self.chain
            .iter()
            .filter(move |link| {
                let is_shown = is_confirmed(link) || related > 0;
                related = related.saturating_sub(usize::from(!is_confirmed(link)));
                is_shown
            })
            .take(SHOWN)
    }

    /// The chain as a list of Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("{TITLE}:\n\n");
        for link in &self.chain {
            let line = link.code.as_ref().map(|line| format!(" {}", code(line)));
            let evidence = link.experiment.as_ref();
            let evidence = evidence.map(|it| format!(" **confirmed**: {}", plain(it)));
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "1. {}{}{}",
                plain(&link.place()),
                line.unwrap_or_default(),
                evidence.unwrap_or_default()
            );
        }
        for link in &self.omissions {
            let line = link.code.as_ref().map(|line| format!(" {}", code(line)));
            let place = plain(&link.place());
            let _ = writeln!(
                text,
                "\n{}: {place}{}",
                sentence(OMITTED),
                line.unwrap_or_default()
            );
        }
        let methods = self.methods.iter().take(MOST_LISTED);
        let methods: Vec<String> = methods.map(|it| code(&it.name())).collect();
        let _ = writeln!(
            text,
            "\n{}. Methods, the likeliest first: {}.\n",
            plain(&sentence(&self.figures())),
            methods.join(", ")
        );
        text.push_str(&excerpt::markdown(&self.excerpts));
        text
    }

    /// The figures in words.
    pub(super) fn figures(&self) -> String {
        let partial = match &self.partial {
            Some(why) => format!("; the trace is not complete: {why}"),
            None => String::new(),
        };
        let tried = match &self.untried {
            Some(why) => format!("no experiments: {why}"),
            None => counted(self.experiments as u64, "experiment"),
        };
        format!(
            "the failure depends on {} of {} that ran; {tried}{partial}",
            grouped(self.lines_in_slice as u64),
            counted(self.lines_run as u64, "line"),
        )
    }
}

impl LinkEntry {
    fn of(link: &Link) -> LinkEntry {
        let passing = link.passing.as_ref();
        let (evidence, experiment) = match &link.evidence {
            Evidence::Confirmed(change) => (
                LinkEvidence::Confirmed,
                Some(in_words(change, link.value.as_deref(), passing)),
            ),
            Evidence::Related => (LinkEvidence::Related, None),
        };
        LinkEntry {
            class: link.place.class.replace('/', "."),
            method: link.place.method.clone(),
            file: link.place.source.clone(),
            line: link.place.line,
            code: link.code.clone(),
            value: link.value.as_deref().map(value),
            dependence: link.dependence.as_ref().map(LinkDependence::of),
            evidence,
            experiment,
            passing: passing.map(|it| PassingEntry {
                value: value(&it.value),
                difference: it.difference.to_string(),
            }),
        }
    }

    /// The file and the line, or what is known of them.
    pub(super) fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("{}.{}", self.class, self.method),
        }
    }

    pub(super) fn has_line(&self) -> bool {
        self.file.is_some() && self.line.is_some()
    }

    /// The class without its package, and the method.
    pub(super) fn method_in_words(&self) -> String {
        let class = simple(&self.class);
        match self.method.as_str() {
            "<init>" => format!("new {class}"),
            "<clinit>" => format!("the static initialiser of {class}"),
            method => format!("{class}.{method}"),
        }
    }
}

impl MethodEntry {
    /// The class and the method.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }

    fn of(suspect: &Suspect) -> MethodEntry {
        MethodEntry {
            class: suspect.class.replace('/', "."),
            method: suspect.method.clone(),
            descriptor: suspect.descriptor.clone(),
            file: suspect.source.clone(),
            lines: suspect.lines.clone(),
            evidence: match suspect.is_confirmed {
                true => LinkEvidence::Confirmed,
                false => LinkEvidence::Related,
            },
        }
    }
}

/// A value of bounded length. Arrays have the names of their types as the source has them.
fn value(value: &str) -> String {
    match value.starts_with('[') {
        true => clipped(&source_name(value), VALUE),
        false => clipped(value, VALUE),
    }
}

/// Words as the beginning of a sentence.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The experiment in words. `own` is the value that the failing run has.
pub(super) fn in_words(
    change: &Change,
    own: Option<&str>,
    passing: Option<&PassingValue>,
) -> String {
    match change {
        Change::Flip => "if this goes the other way, nothing fails".to_owned(),
        Change::Put(value) => {
            let value = value.to_string();
            let passing = passing.filter(|passing| passing.value == value);
            let source = passing.map(|it| format!(", as {},", it.difference));
            let source = source.as_deref().unwrap_or(",");
            let own = own.map(|own| format!(" instead of {own}"));
            let own = own.unwrap_or_default();
            format!("with {value}{own} here{source} nothing fails")
        }
        Change::Add(1) => "with 1 more here, nothing fails".to_owned(),
        Change::Add(-1) => "with 1 less here, nothing fails".to_owned(),
        Change::Add(number) => format!("with {number} added here, nothing fails"),
        Change::Negate => "with the other sign here, nothing fails".to_owned(),
    }
}
