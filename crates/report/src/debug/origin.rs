//! Where a failure comes from: the chain from the failure back, and the methods that it passed through.

use std::fmt::Write;

use culprit_model::clean;
use culprit_pinpoint::{Change, Evidence, Link, Located, PassingValue, Suspect};
use serde::{Deserialize, Serialize};

use crate::figure::{counted, grouped};
use crate::markup::html::escape;
use crate::markup::markdown::{code, plain};
use crate::markup::source::source;

/// The most links that a terminal shows.
const SHOWN: usize = 6;

/// The most branches beside the chain that a terminal shows.
const SHOWN_OMISSIONS: usize = 1;

/// The introduction of a branch that decides by code that did not run.
const OMITTED: &str = "nothing fails either if this goes the other way";

/// The heading of a chain.
const TITLE: &str = "Where it comes from, the failure first";

/// The most methods that a line names.
const MOST_LISTED: usize = 5;

/// The most methods of a report.
const MOST_METHODS: usize = 20;

/// Where a failure comes from, as far as a trace of the minimal run and experiments with its values show it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OriginEntry {
    /// Instructions from the failure back, each of which the one before depended on.
    pub chain: Vec<LinkEntry>,
    /// Branches that the failure did not depend on, but with which nothing fails if they go the other way.
    #[serde(default)]
    pub omissions: Vec<LinkEntry>,
    /// The methods that the failure depended on, the likeliest first.
    pub methods: Vec<MethodEntry>,
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
    pub(super) fn of(located: &Located) -> OriginEntry {
        OriginEntry {
            chain: located.chain.iter().map(LinkEntry::of).collect(),
            omissions: located.omissions.iter().map(LinkEntry::of).collect(),
            methods: located
                .suspects
                .iter()
                .take(MOST_METHODS)
                .map(MethodEntry::of)
                .collect(),
            lines_run: located.lines_run,
            lines_in_slice: located.lines_in_slice,
            experiments: located.experiments,
            neighbours: located.neighbours.iter().map(|it| it.to_string()).collect(),
            partial: located.partial.clone(),
        }
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
        text
    }

    /// The chain as a list of HTML, and the methods as a table.
    pub(super) fn html(&self) -> String {
        let mut html = format!("<h3>{TITLE}</h3>\n<ol class=\"chain\">\n");
        for link in &self.chain {
            let class = match link.evidence {
                LinkEvidence::Confirmed => "sure",
                LinkEvidence::Related => "related",
            };
            let line = link.code.as_ref();
            let line = line.map(|line| format!("<pre class=\"source\">{}</pre>", source(line)));
            let value = link.value.as_ref();
            let value = value.map(|it| format!(" <span class=\"c\">value: {}</span>", escape(it)));
            let evidence = match (&link.experiment, &link.passing) {
                (Some(experiment), _) => format!("Confirmed: {}.", escape(experiment)),
                (None, Some(passing)) => {
                    let PassingEntry { value, difference } = passing;
                    let passing = escape(&format!("it is {value} {difference}"));
                    format!("Related: {passing}, and nothing fails then.")
                }
                (None, None) => "Related: the failure depended on it.".to_owned(),
            };
            let _ = writeln!(
                html,
                "<li class=\"{class}\"><code>{}</code> in <code>{}</code>{}{}<p>{evidence}</p></li>",
                escape(&link.place()),
                escape(&link.method),
                value.unwrap_or_default(),
                line.unwrap_or_default(),
            );
        }
        html.push_str("</ol>\n");
        for link in &self.omissions {
            let line = link.code.as_ref();
            let line = line.map(|line| format!("<pre class=\"source\">{}</pre>", source(line)));
            let place = escape(&link.place());
            let omitted = sentence(OMITTED);
            let _ = writeln!(
                html,
                "<p>{omitted}: <code>{place}</code></p>{}",
                line.unwrap_or_default()
            );
        }
        let _ = writeln!(html, "<p>{}.</p>", escape(&sentence(&self.figures())));
        html.push_str(
            "<details>\n<summary>Methods that the failure depended on, the likeliest first</summary>\n\
             <table class=\"facts\">\n<tr><th>method</th><th>lines</th><th>evidence</th></tr>\n",
        );
        for method in &self.methods {
            let mut lines = method.lines.clone();
            lines.sort_unstable();
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let evidence = match method.evidence {
                LinkEvidence::Confirmed => "confirmed",
                LinkEvidence::Related => "related",
            };
            let _ = writeln!(
                html,
                "<tr><td><code>{}</code></td><td>{}</td><td>{evidence}</td></tr>",
                escape(&method.name()),
                lines.join(", ")
            );
        }
        html.push_str("</table>\n</details>\n");
        html
    }

    /// The figures in words.
    pub(super) fn figures(&self) -> String {
        let partial = match &self.partial {
            Some(why) => format!("; the trace is not complete: {why}"),
            None => String::new(),
        };
        format!(
            "the failure depends on {} of {} that ran; {}{partial}",
            grouped(self.lines_in_slice as u64),
            counted(self.lines_run as u64, "line"),
            counted(self.experiments as u64, "experiment"),
        )
    }
}

impl LinkEntry {
    fn of(link: &Link) -> LinkEntry {
        let passing = link.passing.as_ref();
        let (evidence, experiment) = match &link.evidence {
            Evidence::Confirmed(change) => {
                (LinkEvidence::Confirmed, Some(in_words(change, passing)))
            }
            Evidence::Related => (LinkEvidence::Related, None),
        };
        LinkEntry {
            class: link.place.class.replace('/', "."),
            method: link.place.method.clone(),
            file: link.place.source.clone(),
            line: link.place.line,
            code: link.code.clone(),
            value: link.value.clone(),
            evidence,
            experiment,
            passing: passing.map(|it| PassingEntry {
                value: it.value.clone(),
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

/// Words as the beginning of a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The experiment in words.
fn in_words(change: &Change, passing: Option<&PassingValue>) -> String {
    match change {
        Change::Flip => "if this goes the other way, nothing fails".to_owned(),
        Change::Put(value) => {
            let value = value.to_string();
            let passing = passing.filter(|passing| passing.value == value);
            let source = passing.map(|it| format!(", as {},", it.difference));
            format!(
                "with {value} here{} nothing fails",
                source.as_deref().unwrap_or(",")
            )
        }
        Change::Add(1) => "with 1 more here, nothing fails".to_owned(),
        Change::Add(-1) => "with 1 less here, nothing fails".to_owned(),
        Change::Add(number) => format!("with {number} added here, nothing fails"),
        Change::Negate => "with the other sign here, nothing fails".to_owned(),
    }
}
