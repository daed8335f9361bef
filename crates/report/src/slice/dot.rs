//! A slice as a graph of Graphviz: a box for each line, and an arrow from each line to those that depend on it.

use std::collections::BTreeMap;
use std::fmt::Write;

use culprit_model::clean;

use super::{DependenceEntry, LineEntry, SliceDocument};
use crate::figure::cut;

/// The most characters of a line of source in a box.
const LONGEST: usize = 60;

impl SliceDocument {
    /// The graph, as `dot` reads it.
    pub fn dot(&self) -> String {
        let mut text = "digraph slice {\n  node [shape=box, fontname=\"monospace\"];\n".to_owned();
        for call in &self.calls {
            let label = quoted(&[&format!("call {}", call.number), &call.call]);
            // Writing to a text cannot fail.
            let _ = writeln!(text, "  n{} [label={label}, style=rounded];", call.id);
        }
        let mut files: BTreeMap<(&str, &str), Vec<&LineEntry>> = BTreeMap::new();
        for line in &self.lines {
            let package = line
                .class
                .rsplit_once('.')
                .map_or("", |(package, _)| package);
            files.entry((package, line.file())).or_default().push(line);
        }
        for (number, ((_, file), lines)) in files.iter().enumerate() {
            let _ = writeln!(
                text,
                "  subgraph cluster_{number} {{\n    label={};",
                quoted(&[file])
            );
            for line in lines {
                let code = line.code.as_deref().map(|code| cut(code, LONGEST));
                let label = quoted(&[&line.place(), &code.unwrap_or_else(|| line.method())]);
                let emphasis = if line.is_criterion {
                    ", penwidth=3"
                } else {
                    ""
                };
                let _ = writeln!(text, "    n{} [label={label}{emphasis}];", line.id);
            }
            text.push_str("  }\n");
        }
        let calls = self.calls.iter().map(|it| (it.id, &it.dependences));
        let lines = self.lines.iter().map(|it| (it.id, &it.dependences));
        for (id, dependences) in calls.chain(lines) {
            let mut by_line: BTreeMap<usize, Vec<String>> = BTreeMap::new();
            for dependence in dependences {
                by_line
                    .entry(dependence.on)
                    .or_default()
                    .push(dependence.label());
            }
            for (on, labels) in by_line {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let _ = writeln!(text, "  n{on} -> n{id} [label={}];", quoted(&labels));
            }
        }
        text.push_str("}\n");
        text
    }
}

impl DependenceEntry {
    /// The words at an arrow.
    fn label(&self) -> String {
        let words = self.words();
        let label = words.strip_suffix(" from").or(words.strip_suffix(" at"));
        label.unwrap_or(&words).to_owned()
    }
}

/// Lines as one text of Graphviz.
fn quoted(lines: &[&str]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| clean::line(line).replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}
