//! The figures of replays and of small candidates, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::candidates::{CLASSES, Pace, Way};
use super::figures::median;
use super::page::{Conditions, thousands, write};
use super::replays::Replays;

/// Candidates a second and core that we want to reach.
const AIM: f64 = 5000.0;

/// All that was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayFigures {
    pub replays: Vec<Replays>,
    /// Steps of the scenario of a candidate.
    pub steps: usize,
    pub paces: Vec<(Way, Vec<Pace>)>,
}

impl ReplayFigures {
    /// Candidates a second, by the clock.
    fn rate(&self, way: Way) -> f64 {
        let paces = self.paces.iter().filter(|(it, _)| *it == way);
        median(paces.flat_map(|(_, it)| it).map(|it| it.rate).collect())
    }

    /// Candidates a second of processor time.
    fn cpu_rate(&self, way: Way) -> Option<f64> {
        let paces = self.paces.iter().filter(|(it, _)| *it == way);
        let rates: Option<Vec<f64>> = paces.flat_map(|(_, it)| it).map(|it| it.cpu_rate).collect();
        rates.filter(|rates| !rates.is_empty()).map(median)
    }

    fn runs(&self, way: Way) -> u64 {
        let paces = self.paces.iter().filter(|(it, _)| *it == way);
        paces.flat_map(|(_, it)| it).map(|it| it.runs).sum()
    }

    /// The aim is for a core: both by the clock and by processor time.
    fn is_met(&self) -> bool {
        let by_cpu = self.cpu_rate(Way::Reset);
        self.rate(Way::Reset) >= AIM && by_cpu.is_none_or(|rate| rate >= AIM)
    }
}

/// The tables, as Markdown that is readable as it is.
pub fn text(figures: &ReplayFigures, around: &Conditions) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(
        out,
        "JDK {}, {}, {} processors; median of {} rounds; {:.0} minutes.\n",
        around.java, around.system, around.processors, around.rounds, around.minutes
    )?;
    replay_table(&mut out, &figures.replays)?;
    writeln!(
        out,
        "\nCandidates of {} steps, a program of {CLASSES} classes, one worker:\n",
        figures.steps
    )?;
    candidate_table(&mut out, figures)?;
    writeln!(
        out,
        "\nAim: at least {} candidates a second and core: {}.",
        thousands(AIM as u64),
        if figures.is_met() { "hit" } else { "MISS" }
    )?;
    Ok(out)
}

fn replay_table(out: &mut String, replays: &[Replays]) -> std::fmt::Result {
    let heads = [
        "subject",
        "observed",
        "events",
        "plain",
        "recorded",
        "replay",
        "/recorded",
        "/plain",
    ];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    for it in replays {
        let seconds = |times: &[f64]| match times {
            [] => String::new(),
            _ => format!("{:.2} s", median(times.to_vec())),
        };
        let ratio = |it: Option<f64>| it.map_or(String::new(), |it| format!("{it:.2}"));
        table.push(vec![
            it.case.subject.to_owned(),
            match it.case.part {
                1 => it.case.set().label().to_owned(),
                part => format!("{}, 1/{part}", it.case.set().label()),
            },
            thousands(it.events),
            seconds(&it.plain),
            seconds(&it.recorded),
            seconds(&it.replayed),
            ratio(it.of_recorded()),
            ratio(it.of_plain()),
        ]);
    }
    write(out, &table)?;
    for it in replays {
        if let Some(trouble) = &it.trouble {
            let set = it.case.set();
            let why = why(trouble);
            writeln!(out, "\n{}, {}: {why}.", it.case.subject, set.label())?;
        }
    }
    Ok(())
}

/// The problem in one line: of an explained difference, its head and the differing values.
fn why(trouble: &str) -> String {
    let mut lines = trouble.lines().map(str::trim);
    let mut why = lines.next().unwrap_or_default().to_owned();
    let difference = lines.skip_while(|line| !line.starts_with("difference"));
    for line in difference.take_while(|line| !line.starts_with("within")) {
        let line = line.strip_prefix("difference").unwrap_or(line);
        why = format!("{why} {}", line.trim_start());
    }
    why
}

fn candidate_table(out: &mut String, figures: &ReplayFigures) -> std::fmt::Result {
    let heads = [
        "static state",
        "in sync",
        "a second",
        "a second of cpu",
        "in place is faster by",
    ];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    for way in Way::EACH {
        let rate = figures.rate(way);
        let number = |it: f64| match it {
            small if small < 100.0 => format!("{small:.1}"),
            large => thousands(large.round() as u64),
        };
        table.push(vec![
            way.label().to_owned(),
            thousands(figures.runs(way)),
            number(rate),
            figures.cpu_rate(way).map_or(String::new(), number),
            match way {
                Way::Reset => String::new(),
                _ => format!("{} x", number(figures.rate(Way::Reset) / rate)),
            },
        ]);
    }
    write(out, &table)
}

/// Everything for programs to read.
pub fn json(figures: &ReplayFigures, around: &Conditions) -> Value {
    json!({
        "version": 1,
        "java": around.java,
        "system": around.system,
        "processors": around.processors,
        "rounds": around.rounds,
        "replays": figures.replays.iter().map(|it| json!({
            "subject": it.case.subject,
            "observed": it.case.set().label(),
            "part": it.case.part,
            "events": it.events,
            "plain_s": it.plain,
            "recorded_s": it.recorded,
            "replay_s": it.replayed,
            "of_recorded": it.of_recorded(),
            "of_plain": it.of_plain(),
            "trouble": it.trouble,
        })).collect::<Vec<_>>(),
        "candidates": {
            "classes": CLASSES,
            "steps": figures.steps,
            "ways": figures.paces.iter().map(|(way, paces)| json!({
                "static_state": way.label(),
                "runs": paces.iter().map(|it| it.runs).collect::<Vec<_>>(),
                "per_second": paces.iter().map(|it| it.rate).collect::<Vec<_>>(),
                "per_cpu_second": paces.iter().map(|it| it.cpu_rate).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "at_least": AIM,
            "met": figures.is_met(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rate: f64, cpu_rate: Option<f64>) -> ReplayFigures {
        let pace = |rate, cpu_rate| Pace {
            runs: 1000,
            rate,
            cpu_rate,
        };
        ReplayFigures {
            replays: Vec::new(),
            steps: 40,
            paces: vec![
                (Way::Reset, vec![pace(rate, cpu_rate), pace(rate, cpu_rate)]),
                (Way::NewLoader, vec![pace(600.0, None)]),
                (Way::NewJvm, vec![pace(10.0, None)]),
            ],
        }
    }

    #[test]
    fn the_aim_is_for_a_core() {
        assert!(figures(6000.0, Some(5500.0)).is_met());
        assert!(figures(6000.0, None).is_met());
        assert!(!figures(6000.0, Some(3000.0)).is_met());
        assert!(!figures(4000.0, Some(6000.0)).is_met());
    }

    #[test]
    fn what_went_wrong_is_told_in_a_line() {
        assert_eq!(why("no end"), "no end");
        let told = "ended with 1: Out of sync at event 3\n  recorded  a\n  difference  value 1\n    differs\n  within  m\n";
        assert_eq!(
            why(told),
            "ended with 1: Out of sync at event 3 value 1 differs"
        );
    }

    #[test]
    fn ways_stand_beside_each_other_with_their_ratio() {
        let mut out = String::new();
        candidate_table(&mut out, &figures(6000.0, Some(5500.0))).unwrap();
        let lines: Vec<Vec<&str>> = out
            .lines()
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        let head = "initialised again in place";
        assert_eq!(lines[2], ["", head, "2,000", "6,000", "5,500", "", ""]);
        assert_eq!(
            lines[3],
            ["", "new class loader", "1,000", "600", "", "10.0 x", ""]
        );
        assert_eq!(lines[4], ["", "new JVM", "1,000", "10.0", "", "600 x", ""]);
    }
}
