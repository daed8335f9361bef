//! Which classes are observed one at a time. The rule: of all named classes of the library,
//! those with at least a thousand calls coming in from other classes in a short run, ordered by
//! that number; of these, nine at even distances of rank, from the first to the last.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure};

use super::subject::{CLASSES, SUBJECTS, Subject};
use super::tools::Tools;
use super::variant::{configuration, property, weaving};
use crate::process::{Outcome, Run};

const WANTED: usize = 9;
const FEWEST_CALLS: u64 = 1000;

/// Counts, chooses, and writes the list.
pub fn choose(root: &Path, tools: &Tools, place: &Path) -> anyhow::Result<()> {
    let mut list = String::from(
        "# Classes that the benchmark observes one at a time; written by `bench --choose`.\n\
         # Subject, class, incoming calls in a tenth of the iterations.\n",
    );
    for subject in &SUBJECTS {
        let counts = count(tools, subject, place)?;
        for (class, calls) in spread(counts) {
            writeln!(list, "{} {class} {calls}", subject.name)?;
        }
    }
    Ok(fs::write(root.join(CLASSES), list)?)
}

/// Incoming calls by class.
fn count(tools: &Tools, subject: &Subject, place: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let folder = place.join("choose").join(subject.name);
    fs::create_dir_all(&folder)?;
    let woven = format!("{}..*", subject.package);
    let file = folder.join("aop.xml");
    let pointcuts = [("counted", format!("within({woven})"))];
    fs::write(&file, configuration("peer.Counter", &pointcuts, &woven))?;
    let counts = folder.join("counts.txt");
    let mut args = weaving(tools, &file);
    args.push(property("peer.counts", &counts));
    args.extend(["-cp".into(), tools.class_path(subject)?.into()]);
    args.extend(["bench.Main", subject.name].map(OsString::from));
    args.push((subject.iterations / 10).to_string().into());
    let outcome = Run {
        program: tools.java.clone(),
        args,
        folder: folder.clone(),
        env: Vec::new(),
        stdout: folder.join("stdout"),
        stderr: folder.join("stderr"),
        limit: Duration::from_secs(300),
    }
    .run()?;
    let Outcome::Ended { status, .. } = outcome else {
        bail!("{}: counting calls does not end", subject.name);
    };
    ensure!(
        status.is_success(),
        "{}: counting calls ended with {status}",
        subject.name
    );
    let text = fs::read_to_string(counts)?;
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(class, calls)| Ok((class.to_owned(), calls.parse()?)))
        .collect()
}

/// The rule.
fn spread(mut counts: Vec<(String, u64)>) -> Vec<(String, u64)> {
    counts.retain(|(_, calls)| *calls >= FEWEST_CALLS);
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if counts.len() <= WANTED {
        return counts;
    }
    let last = counts.len() - 1;
    (0..WANTED)
        .map(|i| counts[(i * last + (WANTED - 1) / 2) / (WANTED - 1)].clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_classes_from_the_most_called_to_the_least() {
        let counts = (0..41).map(|i| (format!("C{i}"), 1000 + i)).collect();
        let ranks: Vec<u64> = spread(counts)
            .iter()
            .map(|(_, calls)| 1040 - calls)
            .collect();
        assert_eq!(ranks, [0, 5, 10, 15, 20, 25, 30, 35, 40]);
    }

    #[test]
    fn classes_with_few_calls_do_not_count() {
        let counts = vec![("A".to_owned(), 999), ("B".to_owned(), 1000)];
        assert_eq!(spread(counts), [("B".to_owned(), 1000)]);
    }
}
