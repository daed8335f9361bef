//! `culprit record --replay`: a recording of a narrower observed set, made while a wider one is
//! replayed.
//!
//! The replay runs the code of the wider set alone; an agent beside the one that replays records
//! what crosses the border of the narrower set within it.

use std::ffi::OsString;
use std::path::Path;

use culprit_jvm::Status;
use culprit_model::AgentOptions;
use culprit_model::options::Mode;
use culprit_replay::narrower;
use culprit_trace::Recording;

use super::aftermath::{self, Aftermath};
use super::folder::{Facts, RunFolder};
use super::{Args, Around};
use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::origin;
use crate::program::Maker;
use crate::replay;
use crate::show;

pub(super) fn run(
    path: &Path,
    args: &Args,
    around: &Around,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let plan = args.plan();
    let mut record = args.record_options();
    let sandbox = confinement::sandbox(args.no_sandbox, console)?;
    let recording = Recording::open(path);
    let recording = recording.map_err(|error| show::expected_run("show", &error))?;
    record.weave.selection = narrower(&recording, &record.weave.selection);
    if record.weave.selection.observe.is_empty() {
        return Err(nothing(&recording).into());
    }
    let start = (around.clock)();
    let folder = RunFolder::create(plan.output.as_deref(), &around.cwd, start.date())?;
    let options = AgentOptions {
        out: folder.absolute()?,
        mode: Mode::Record(record.clone()),
    };
    let words: [OsString; 3] = ["culprit".into(), "replay".into(), path.into()];
    let mut facts = Facts {
        command: words.to_vec(),
        cwd: around.cwd.clone(),
        options: options.clone(),
        start,
        end: None,
    };
    folder.write_facts(&facts)?;
    let file = recording.path().to_owned();
    let is_ours = origin::maker(&recording, &around.agent_folders) == Maker::Us;
    drop(recording);
    let code = replay::capture(&file, options.out.clone(), record, sandbox, console)?;
    let status = Status::Exited(code.status());
    facts.end = Some(((around.clock)(), status));
    folder.write_facts(&facts)?;
    let aftermath = Aftermath::find(folder.path(), &options.mode)?;
    let is_in_sync = code == ExitCode::Answered;
    if !is_in_sync && aftermath.is_empty() {
        // What kept it from being made is said by now.
        return Ok(code);
    }
    aftermath.report(&folder, plan.say, console)?;
    if is_ours {
        // Without it, `culprit minimize` asks for the class path.
        let _ = aftermath.note(&around.agent_folders);
    }
    if !is_in_sync {
        aftermath::warn(console, "the recording ends where the replay did")?;
    }
    Ok(match is_in_sync && aftermath.is_empty() {
        true => ExitCode::Target,
        false => code,
    })
}

/// None of the classes that are to be observed is one that the recording has.
fn nothing(recording: &Recording) -> Expected {
    let observed = recording.classes().iter().filter(|class| class.observed);
    let mut names: Vec<String> = observed.map(|c| c.name.replace('/', ".")).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let path = recording.path().display();
    let message = format!("{path} observed none of the classes to observe");
    let hint = match names.is_empty() {
        true => "it observed none at all; record again".to_owned(),
        false => format!("it has {}{more}", names.join(", ")),
    };
    Expected::new(ExitCode::Usage, message).hint(hint)
}

/// How many names to propose.
const SHOWN: usize = 5;
