//! The verdict of a JVM on each class, compared with its verdict on the original.

use std::collections::BTreeMap;
use std::fmt;

/// By class: `ok`, or the error that linking it gave.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcomes(BTreeMap<String, String>);

impl Outcomes {
    pub(crate) fn read(text: &str) -> Outcomes {
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        Outcomes(lines.map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The comparison of these classes with their originals.
    pub fn against(&self, originals: &Outcomes) -> Comparison {
        let mut comparison = Comparison::default();
        for (name, outcome) in &self.0 {
            let original = &originals.0[name];
            if kind(outcome) != kind(original) {
                let now = format!("{name}: {outcome} (original: {original})");
                comparison.new_failures.push(now);
            } else if outcome == "ok" {
                comparison.ok += 1;
            } else {
                comparison.failing_as_before += 1;
            }
        }
        comparison
    }
}

/// The error without its message. A class set to an old version may be wrong in several ways, and
/// the order in which HotSpot looks at methods depends on addresses, so there either error will do.
fn kind(outcome: &str) -> &str {
    match outcome.split(':').next().unwrap_or_default() {
        "java.lang.ClassFormatError" => "java.lang.VerifyError",
        kind => kind,
    }
}

/// Edited classes against their originals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    pub ok: usize,
    /// Classes that link neither before nor after.
    pub failing_as_before: usize,
    /// Classes with another outcome than their originals, each with both.
    pub new_failures: Vec<String>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ok, before, new) = (self.ok, self.failing_as_before, self.new_failures.len());
        write!(
            f,
            "{ok} ok, {before} fail as their originals do, {new} new failures"
        )?;
        for failure in self.new_failures.iter().take(5) {
            write!(f, "\n    {failure}")?;
        }
        Ok(())
    }
}
