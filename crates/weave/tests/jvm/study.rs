//! The figures as tables of a document.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use culprit_model::SiteKind;
use culprit_verifier::Comparison;

use crate::growth::Growth;
use crate::plan::Plan;
use crate::totals::{LIMITS, Totals};

const BEGIN: &str = "<!-- results: begin -->";
const END: &str = "<!-- results: end -->";

/// What has been found so far.
#[derive(Default)]
pub(crate) struct Study {
    text: String,
    pub(crate) new_failures: usize,
}

impl Study {
    /// Starts the part of one JDK.
    pub(crate) fn jdk(&mut self, version: &str, growth: Vec<Growth>) {
        let text = &mut self.text;
        let [cold, hot, huge] = LIMITS;
        let _ = writeln!(
            text,
            "\n### Java {version}\n\n\
             | probes besides those at entries | sites | bytes a site | code | \
             beyond {cold} bytes | beyond {hot} | beyond {huge} |\n\
             |---|--:|--:|--:|--:|--:|--:|"
        );
        for Growth {
            part,
            totals,
            sites,
            bytes,
        } in growth
        {
            let a_site = bytes as f64 / sites.max(1) as f64;
            let _ = writeln!(
                text,
                "| {} | {sites} | {a_site:.1} | {} | {} |",
                format!("{part:?}").to_lowercase(),
                ratio(totals.code_after, totals.code_before),
                crossing(&totals),
            );
        }
        let _ = writeln!(
            text,
            "\n| plan | classes | new failures | ok | methods | woven | skipped | entries | callees | calls | fields | \
             elements | code | us/class | beyond {cold} bytes | beyond {hot} | beyond {huge} |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        );
    }

    /// Adds what a JVM said of one plan.
    pub(crate) fn trial(
        &mut self,
        plan: Plan,
        label: &str,
        totals: &Totals,
        compared: &Comparison,
    ) {
        self.new_failures += compared.new_failures.len();
        let sites = |kind| totals.sites.get(&kind).copied().unwrap_or(0);
        let _ = writeln!(
            self.text,
            "| {}, {label} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} | {} |",
            format!("{plan:?}").to_lowercase(),
            totals.classes,
            compared.new_failures.len(),
            compared.ok,
            totals.methods,
            totals.woven,
            totals.all_skipped(),
            sites(SiteKind::Entry),
            sites(SiteKind::Callee),
            sites(SiteKind::Call),
            sites(SiteKind::Field),
            sites(SiteKind::Array),
            ratio(totals.code_after, totals.code_before),
            totals.microseconds(),
            crossing(totals),
        );
    }

    /// Puts the tables between the markers of the document, if one is named.
    pub(crate) fn write(&self) {
        let Some(path) = std::env::var_os("CULPRIT_WRITE_STUDY").map(PathBuf::from) else {
            return;
        };
        let document = fs::read_to_string(&path).unwrap();
        let (before, rest) = document.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        fs::write(
            &path,
            format!("{before}{BEGIN}\n{}\n{END}{after}", self.text),
        )
        .unwrap();
    }
}

fn ratio(after: usize, before: usize) -> String {
    format!("x {:.2}", after as f64 / before as f64)
}

fn crossing(totals: &Totals) -> String {
    let cells: Vec<String> = totals
        .crossing
        .iter()
        .zip(&totals.within)
        .map(|(crossing, within)| {
            let share = *crossing as f64 * 100.0 / (*within).max(1) as f64;
            format!("{crossing} ({share:.2} %)")
        })
        .collect();
    cells.join(" | ")
}
