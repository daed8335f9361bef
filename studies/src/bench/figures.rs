//! From samples to the figures of the table: medians, ratios, and whether the aims are met.

use super::measure::Sample;
use super::results::{Samples, Starts, SubjectSamples};
use super::subject::Set;

/// Below this many events, what one of them costs is lost in the noise of a run.
const ENOUGH_EVENTS: u64 = 1_000_000;

/// The figures of one variant.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub subject: &'static str,
    pub tool: &'static str,
    /// `None` for the run without an agent.
    pub set: Option<Set>,
    pub runs: usize,
    pub trouble: Option<String>,
    /// Medians, in seconds.
    pub wall: f64,
    pub thread: f64,
    /// Against the run without an agent.
    pub wall_ratio: f64,
    pub cpu_ratio: f64,
    pub thread_ratio: f64,
    pub steady_ratio: f64,
    pub events: u64,
    pub bytes: u64,
    /// Processor time that the program's thread had more than without an agent, in seconds.
    pub extra: f64,
}

impl Row {
    /// Nanoseconds an event on the program's thread.
    pub fn ns_per_event(&self) -> Option<f64> {
        (self.events >= ENOUGH_EVENTS).then(|| self.extra * 1e9 / self.events as f64)
    }

    pub fn bytes_per_event(&self) -> Option<f64> {
        (self.events >= ENOUGH_EVENTS).then(|| self.bytes as f64 / self.events as f64)
    }

    fn is_culprit(&self) -> bool {
        self.tool == "Culprit" && self.trouble.is_none()
    }
}

/// The rows of a subject.
pub fn rows(samples: &SubjectSamples) -> Vec<Row> {
    let Some(plain) = samples.variants.first() else {
        return Vec::new();
    };
    samples
        .variants
        .iter()
        .map(|variant| row(samples.subject.name, variant, plain))
        .collect()
}

fn row(subject: &'static str, samples: &Samples, plain: &Samples) -> Row {
    let of = |samples: &Samples, pick: fn(&Sample) -> f64| {
        median(samples.taken.iter().map(pick).collect())
    };
    let ratio = |pick: fn(&Sample) -> f64| of(samples, pick) / of(plain, pick);
    let thread = of(samples, |s| s.thread);
    Row {
        subject,
        tool: samples.variant.tool(),
        set: samples.variant.set().cloned(),
        runs: samples.taken.len(),
        trouble: samples.trouble.clone(),
        wall: of(samples, |s| s.wall),
        thread,
        wall_ratio: ratio(|s| s.wall),
        cpu_ratio: ratio(|s| s.cpu),
        thread_ratio: ratio(|s| s.thread),
        steady_ratio: ratio(|s| s.steady),
        events: of(samples, |s| s.events as f64) as u64,
        bytes: of(samples, |s| s.bytes as f64) as u64,
        extra: thread - of(plain, |s| s.thread),
    }
}

/// The middle value, or the mean of the two in the middle; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Something we want to reach.
#[derive(Clone, PartialEq, Debug)]
pub struct Aim {
    pub what: &'static str,
    pub most: f64,
    pub unit: &'static str,
    /// `None` if nothing was measured.
    pub got: Option<f64>,
    /// The same by processor time of the program's thread, where that makes sense.
    pub by_thread: Option<f64>,
    /// The figures that SCARPE published.
    pub scarpe: &'static str,
}

impl Aim {
    pub fn is_met(&self) -> bool {
        self.got.is_some_and(|got| got <= self.most)
    }
}

/// The aims, in the order of the issue that set them.
pub fn aims(rows: &[Row], starts: &Starts) -> Vec<Aim> {
    let ours: Vec<&Row> = rows.iter().filter(|row| row.is_culprit()).collect();
    let (whole, single): (Vec<&Row>, Vec<&Row>) =
        ours.iter().partition(|row| row.set == Some(Set::Whole));
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let mean = |rows: &[&Row], pick: fn(&Row) -> f64| {
        let sum: f64 = rows.iter().map(|row| pick(row)).sum();
        (!rows.is_empty()).then(|| sum / rows.len() as f64)
    };
    let most = |rows: &[&Row], pick: fn(&Row) -> f64| {
        rows.iter().map(|row| pick(row)).max_by(f64::total_cmp)
    };
    let per_event = |rows: &[&Row], pick: fn(&Row) -> f64| {
        let events: u64 = rows.iter().map(|row| row.events).sum();
        let sum: f64 = rows.iter().map(|row| pick(row)).sum();
        (events > 0).then(|| sum / events as f64)
    };
    let start = median(starts.culprit.clone()) - median(starts.plain.clone());
    vec![
        Aim {
            what: "one class observed, average overhead",
            most: 10.0,
            unit: "%",
            got: mean(&single, |row| row.wall_ratio).map(percent),
            by_thread: mean(&single, |row| row.thread_ratio).map(percent),
            scarpe: "69 to 145 %",
        },
        Aim {
            what: "one class observed, worst overhead",
            most: 60.0,
            unit: "%",
            got: most(&single, |row| row.wall_ratio).map(percent),
            by_thread: most(&single, |row| row.thread_ratio).map(percent),
            scarpe: "877 %",
        },
        Aim {
            what: "whole library observed, worst ratio",
            most: 2.0,
            unit: "x",
            got: most(&whole, |row| row.wall_ratio),
            by_thread: most(&whole, |row| row.thread_ratio),
            scarpe: "",
        },
        Aim {
            what: "an event on the program's thread, one class observed",
            most: 15.0,
            unit: "ns",
            got: per_event(&single, |row| row.extra * 1e9),
            by_thread: None,
            scarpe: "",
        },
        Aim {
            what: "an event on disk",
            most: 3.0,
            unit: "bytes",
            got: per_event(&ours, |row| row.bytes as f64),
            by_thread: None,
            scarpe: "50 bytes",
        },
        Aim {
            what: "start-up more than a bare JVM",
            most: 150.0,
            unit: "ms",
            got: (!starts.plain.is_empty()).then_some(start * 1e3),
            by_thread: None,
            scarpe: "1500 ms",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::subject::SUBJECTS;
    use crate::bench::variant::Variant;

    fn samples(variant: Variant, times: &[f64], events: u64) -> Samples {
        let sample = |wall: &f64| Sample {
            wall: *wall,
            cpu: *wall,
            thread: *wall,
            steady: *wall,
            events,
            bytes: 2 * events,
            ..Sample::default()
        };
        Samples {
            variant,
            taken: times.iter().map(sample).collect(),
            trouble: None,
        }
    }

    #[test]
    fn medians_of_odd_even_and_nothing() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn aims_are_judged_on_rows_of_ours_alone() {
        let one = Set::Class("a.B".to_owned());
        let rows = rows(&SubjectSamples {
            subject: SUBJECTS[0],
            variants: vec![
                samples(Variant::Plain, &[2.0, 9.0, 2.0], 0),
                samples(Variant::Culprit(one.clone()), &[2.2, 2.2, 1.0], 20_000_000),
                samples(Variant::Culprit(Set::Whole), &[5.0, 5.0, 5.0], 1_000_000),
                samples(Variant::AspectJ(one), &[20.0, 20.0, 20.0], 1_000_000),
            ],
        });
        let starts = Starts {
            plain: vec![0.04],
            culprit: vec![0.1],
        };
        let aims = aims(&rows, &starts);
        let got: Vec<f64> = aims
            .iter()
            .map(|aim| (aim.got.unwrap() * 10.0).round() / 10.0)
            .collect();
        assert_eq!(got, [10.0, 10.0, 2.5, 10.0, 2.0, 60.0]);
        let met: Vec<bool> = aims.iter().map(Aim::is_met).collect();
        assert_eq!(met[1..], [true, false, true, true, true]);
    }
}
