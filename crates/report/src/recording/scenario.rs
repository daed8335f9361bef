//! The scenario of a recording as text: its tables, and then its steps as they are read.

use std::io::Write;

use culprit_model::scenario::text::Printer;
use culprit_model::scenario::{Step, Uses};
use culprit_model::{EventIndex, Tables};
use culprit_replay::lift;
use culprit_trace::Recording;

use super::event::missing;
use super::filter::{Filter, Found, Printed, each};
use crate::figure;

/// Prints the scenario of a recording as text: the steps of the events that pass the filter, after the entries of
/// the tables that they refer to.
pub fn print_scenario(recording: &Recording, filter: &Filter, out: &mut dyn Write) -> Printed {
    // The tables come first, so the events are read twice. What cannot be read is told when it is
    // read for the second time, after what is good.
    let mut uses = Uses::default();
    let _ = each(recording, filter, |found| {
        if let Found::Event(event, _) = found {
            uses.note(&Step::from(event));
        }
        Ok(())
    })?;
    let mut tables = lift(recording).tables;
    tables.keep(&uses);
    for line in Printer::head(&tables) {
        writeln!(out, "{line}")?;
    }
    for id in uses.blobs {
        match recording.blob(id) {
            Ok(Some(blob)) => writeln!(out, "{}", Printer::blob(id, &blob.bytes))?,
            Ok(None) => writeln!(out, "// {id} is missing")?,
            Err(error) => return Ok(Err(error)),
        }
    }
    steps(recording, &tables, filter, out)
}

fn steps(recording: &Recording, tables: &Tables, filter: &Filter, out: &mut dyn Write) -> Printed {
    let end = recording.event_count().min(filter.range.end);
    let mut printer = Printer::new(tables, end.checked_sub(1).map(EventIndex));
    let mut empty_line = Some("\n");
    each(recording, filter, |found| {
        let line = match found {
            Found::Event(event, _) => printer.step(&Step::from(event)),
            Found::Gap(gap) => {
                let events = figure::counted(gap.count, "event");
                format!("// {}: {events} {}", gap.thread, missing(&gap))
            }
        };
        let before = empty_line.take().unwrap_or_default();
        writeln!(out, "{before}{line}")
    })
}
