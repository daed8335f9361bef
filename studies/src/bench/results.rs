//! The rounds: every variant of a subject once a round, in the same order, and what each took.

use std::fs;
use std::path::Path;

use super::measure::{Sample, Work, measure};
use super::subject::{Set, Subject};
use super::tools::Tools;
use super::variant::Variant;

/// The extent of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub rounds: usize,
    /// Runs of an empty program with and without the agent.
    pub starts: usize,
    /// Classes to observe, of those listed.
    pub classes: usize,
    pub peers: Peers,
}

/// True if the tools to compare with run as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peers {
    Run,
    Skip,
}

/// All samples of a variant, or why there are none.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    pub variant: Variant,
    pub taken: Vec<Sample>,
    pub trouble: Option<String>,
}

/// All samples of a subject; those without an agent come first.
#[derive(Clone, PartialEq, Debug)]
pub struct SubjectSamples {
    pub subject: Subject,
    pub variants: Vec<Samples>,
}

/// Wall times of a program that only says hello, in seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Starts {
    pub plain: Vec<f64>,
    pub culprit: Vec<f64>,
}

/// So many of the listed classes, at even distances.
fn thinned(classes: &[String], count: usize) -> Vec<String> {
    if count >= classes.len() || count < 2 {
        return classes.iter().take(count.max(1)).cloned().collect();
    }
    let last = classes.len() - 1;
    (0..count)
        .map(|i| classes[i * last / (count - 1)].clone())
        .collect()
}

fn variants(classes: &[String], extent: Extent) -> Vec<Variant> {
    let one = |name: &String| Set::Class(name.clone());
    let mut variants = vec![Variant::Plain];
    let observed = thinned(classes, extent.classes);
    variants.extend(observed.iter().map(|name| Variant::Culprit(one(name))));
    variants.push(Variant::Culprit(Set::Whole));
    if extent.peers == Peers::Run {
        // The class in the middle of the list stands for all.
        let middle = one(&observed[observed.len() / 2]);
        for set in [middle, Set::Whole] {
            variants.extend([Variant::Jacoco(set.clone()), Variant::AspectJ(set)]);
        }
    }
    variants
}

/// Runs all rounds of a subject. `progress` hears of every run.
pub fn run(
    tools: &Tools,
    subject: Subject,
    classes: &[String],
    extent: Extent,
    place: &Path,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<SubjectSamples> {
    let class_path = tools.class_path(&subject)?;
    let arguments = [subject.name.to_owned(), subject.iterations.to_string()];
    let mut all: Vec<Samples> = variants(classes, extent)
        .into_iter()
        .map(|variant| Samples {
            variant,
            taken: Vec::new(),
            trouble: None,
        })
        .collect();
    for round in 1..=extent.rounds {
        for samples in all.iter_mut().filter(|it| it.trouble.is_none()) {
            let variant = samples.variant.clone();
            let folder = fresh(place)?;
            let command = variant.command(tools, &subject, &class_path, &arguments, &folder)?;
            let name = format!(
                "round {round} of {}: {}, {}, {}",
                extent.rounds,
                subject.name,
                variant.tool(),
                variant.set().map_or("", Set::label)
            );
            match measure(&command, &folder, Work::Driver) {
                Ok(sample) => {
                    progress(&format!("{name} {:.2} s", sample.wall));
                    samples.taken.push(sample);
                }
                Err(error) => {
                    progress(&format!("{name}: {error:#}"));
                    samples.trouble = Some(format!("{error:#}"));
                }
            }
        }
    }
    check_sums(&mut all);
    Ok(SubjectSamples {
        subject,
        variants: all,
    })
}

/// A variant whose program computed something else is no measurement.
fn check_sums(all: &mut [Samples]) {
    let expected = all
        .first()
        .and_then(|plain| plain.taken.first())
        .map(|sample| sample.sum);
    for samples in all {
        let differs = |sample: &Sample| Some(sample.sum) != expected;
        if samples.trouble.is_none() && samples.taken.iter().any(differs) {
            samples.trouble = Some("the program's result differs".to_owned());
        }
    }
}

/// Starts an empty program with and without the agent, in turn.
pub fn starts(
    tools: &Tools,
    subject: Subject,
    count: usize,
    place: &Path,
) -> anyhow::Result<Starts> {
    let observe = Variant::Culprit(Set::Class("bench.Main".to_owned()));
    let mut starts = Starts::default();
    for _ in 0..count {
        for (variant, times) in [
            (&Variant::Plain, &mut starts.plain),
            (&observe, &mut starts.culprit),
        ] {
            let folder = fresh(place)?;
            let command = variant.command(tools, &subject, &tools.classes, &[], &folder)?;
            times.push(measure(&command, &folder, Work::Hello)?.wall);
        }
    }
    Ok(starts)
}

/// The folder of one run, emptied of the run before.
pub(crate) fn fresh(place: &Path) -> anyhow::Result<std::path::PathBuf> {
    let folder = place.join("work");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder.canonicalize()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("C{i}")).collect()
    }

    #[test]
    fn fewer_classes_still_reach_from_first_to_last() {
        assert_eq!(thinned(&names(9), 3), ["C0", "C4", "C8"]);
        assert_eq!(thinned(&names(9), 9), names(9));
        assert_eq!(thinned(&names(2), 9), names(2));
        assert_eq!(thinned(&names(9), 1), ["C0"]);
    }

    #[test]
    fn no_agent_comes_first_and_peers_have_the_middle_class() {
        let extent = Extent {
            rounds: 5,
            starts: 15,
            classes: 9,
            peers: Peers::Run,
        };
        let variants = variants(&names(9), extent);
        assert_eq!(variants[0], Variant::Plain);
        assert_eq!(variants.len(), 1 + 9 + 1 + 4);
        assert!(variants.contains(&Variant::AspectJ(Set::Class("C4".to_owned()))));
    }

    #[test]
    fn another_result_spoils_a_variant() {
        let samples = |sum| Samples {
            variant: Variant::Plain,
            taken: vec![Sample {
                sum,
                ..Sample::default()
            }],
            trouble: None,
        };
        let mut all = [samples(1), samples(1), samples(2)];
        check_sums(&mut all);
        assert_eq!(all[1].trouble, None);
        assert!(all[2].trouble.is_some());
    }
}
