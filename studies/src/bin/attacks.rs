//! `make study-attacks`: see `docs/studies/attacks.md`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use culprit_jvm::{Jdk, JdkLocations};
use rustix::process::geteuid;
use studies::attacks::attempt::judge;
use studies::attacks::cases::CASES;
use studies::attacks::page::{Attacker, Row, render};
use studies::attacks::place::remove_all;
use studies::attacks::results::{self, Outcomes};
use studies::attacks::stage::{Confines, Observations, Stage, open_folder};
use studies::attacks::tricks::TRICKS;
use studies::attacks::within::Within;
use studies::attacks::{Attempt, Verdict, Way, attempts};
use studies::markdown::write_into;
use studies::process::{Outcome, Run, words};

/// The time limit for the attacks of one user on one JDK.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs of culprit that are made at a time.
const AT_A_TIME: usize = 4;

/// An ordinary user: a number that nobody has.
const NOBODY: &str = "64321";

/// Attacks culprit in many ways, and has witnesses outside tell what came of it
#[derive(Parser)]
struct Args {
    /// The executable to attack [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    culprit: Option<PathBuf>,
    /// Only these JDKs, by their feature number
    #[arg(long, value_name = "N")]
    jdk: Vec<u32>,
    /// Only these users: root, user
    #[arg(long, value_name = "NAME")]
    user: Vec<String>,
    /// Only attempts whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only these parts: launch, worker, check, cases, tricks
    #[arg(long, value_name = "NAME")]
    part: Vec<String>,
    /// Put the tables into the study's document, if they are all there
    #[arg(long)]
    document: bool,
    /// Make the attacks as whoever this is, and write their outcomes to a file
    #[arg(long, value_name = "FILE", hide = true)]
    inside: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let mut jdks: Vec<Jdk> = Vec::new();
    for jdk in Jdk::all(&JdkLocations::of_process()) {
        let feature = jdk.version.feature;
        let known = jdks.iter().any(|it| it.version.feature == feature);
        let wanted = args.jdk.is_empty() || args.jdk.contains(&feature);
        if !known && wanted && jdk.tool("javac").is_file() {
            jdks.push(jdk);
        }
    }
    jdks.sort_by_key(|jdk| jdk.version.feature);
    ensure!(!jdks.is_empty(), "no such JDK");
    match &args.inside {
        Some(file) => attack(&args, &jdks[0], file),
        None => all(&args, &jdks),
    }
}

/// Makes all attempts as the user that this process has, and on one JDK.
fn attack(args: &Args, jdk: &Jdk, file: &Path) -> anyhow::Result<ExitCode> {
    let place = file.parent().context("a file in no folder")?.join("place");
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only));
    let stage = Stage::new(jdk, &place)?;
    let is_root = geteuid().is_root();
    let chosen: Vec<&'static Attempt> = attempts()
        .filter(|it| wanted(it.name) && (is_root || !it.root_only))
        .collect();
    let culprit = args.culprit.as_deref().context("no executable")?;
    let mut outcomes = Outcomes::new();
    let part = |name: &str| args.part.is_empty() || args.part.iter().any(|it| it == name);
    if !chosen.is_empty() {
        let free = stage.observe_all(&chosen, Confines::None)?;
        let mut add = |place: &str, seen: Observations| {
            for (key, confined) in seen {
                if let (Some(attempt), Some(free)) = (attempt_of(&key), free.get(&key)) {
                    let verdict = judge(attempt, free, &confined, place == "worker");
                    outcomes.insert(format!("{place} {key}"), verdict);
                }
            }
        };
        if part("launch") {
            add("launch", stage.observe_all(&chosen, Confines::Sandbox)?);
        }
        for (name, within) in [("worker", Within::Worker), ("check", Within::Check)] {
            if part(name) {
                add(name, stage.observe_within(within, culprit, &chosen)?);
            }
        }
    }
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for case in CASES.iter().filter(|it| part("cases") && wanted(it.mode)) {
        let name = format!("case {}", case.mode);
        jobs.push((name, Box::new(|| case.run(&stage, culprit))));
    }
    for trick in TRICKS.iter().filter(|it| part("tricks") && wanted(it.name)) {
        let folder = stage.place.join(format!("trick-{}", trick.name));
        let stage = &stage;
        let play = move || {
            let verdict = (trick.play)(stage, culprit, &folder);
            remove_all(&folder);
            verdict
        };
        jobs.push((format!("trick {}", trick.name), Box::new(play)));
    }
    outcomes.extend(run_all(jobs)?);
    fs::write(file, results::written(&outcomes))?;
    Ok(ExitCode::SUCCESS)
}

/// Something to try, by name.
type Job<'a> = (
    String,
    Box<dyn Fn() -> anyhow::Result<Verdict> + Send + Sync + 'a>,
);

/// Runs several at a time: most of them wait most of the time.
fn run_all(jobs: Vec<Job<'_>>) -> anyhow::Result<Outcomes> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Outcomes::new()));
    let work = || -> anyhow::Result<()> {
        while let Some((name, job)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let verdict = job().with_context(|| name.clone())?;
            writeln!(io::stderr(), "{name}: {verdict}: {}", verdict.reason())?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert(name.clone(), verdict);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect::<anyhow::Result<Vec<()>>>()
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The attempt of a key such as `jni unlink`. Attempts of Java and of C may have the same name.
fn attempt_of(key: &str) -> Option<&'static Attempt> {
    let (by, name) = key.split_once(' ')?;
    attempts().find(|it| it.name == name && (it.way == Way::Java) == (by == "java"))
}

/// Has every user attack on every JDK, and shows what came of it.
fn all(args: &Args, jdks: &[Jdk]) -> anyhow::Result<ExitCode> {
    let users: Vec<&str> = match geteuid().is_root() {
        true => vec!["root", "user"],
        false => vec!["user"],
    };
    let place = tempfile::Builder::new().prefix("attacks-").tempdir()?;
    open_folder(place.path())?;
    // Whoever attacks must be able to read and execute it.
    let tools = place.path().join("tools");
    open_folder(&tools)?;
    let here = std::env::current_exe()?;
    let culprit = match &args.culprit {
        Some(file) => file.clone(),
        None => here.with_file_name("culprit"),
    };
    for (from, name) in [(&here, "attacks"), (&culprit, "culprit")] {
        fs::copy(from, tools.join(name)).with_context(|| format!("no {}", from.display()))?;
    }
    let newest = jdks.last().context("no such JDK")?;
    let mut found: BTreeMap<Attacker, Outcomes> = BTreeMap::new();
    for jdk in jdks {
        let wanted = |user: &&&str| args.user.is_empty() || args.user.iter().any(|it| it == *user);
        // Users attack at the same time, one JDK after the other.
        let of_users = thread::scope(|scope| {
            let started: Vec<_> = (users.iter().filter(wanted))
                .map(|user| {
                    let attacker = Attacker {
                        user: (*user).to_owned(),
                        jdk: jdk.version.feature.to_string(),
                    };
                    let folder = place.path().join(format!("{user}-{}", attacker.jdk));
                    let (tools, is_newest) = (&tools, jdk == newest);
                    let work = move || as_user(args, user, jdk, &folder, tools, is_newest);
                    (attacker, scope.spawn(work))
                })
                .collect();
            let ended = started
                .into_iter()
                .map(|(attacker, thread)| match thread.join() {
                    Ok(outcomes) => Ok((attacker, outcomes?)),
                    Err(panic) => std::panic::resume_unwind(panic),
                });
            ended.collect::<anyhow::Result<Vec<_>>>()
        })?;
        found.extend(of_users);
    }
    let attackers: Vec<Attacker> = found.keys().cloned().collect();
    let rows = rows(&found);
    let text = render(&rows, &attackers)?;
    io::stdout().write_all(text.as_bytes())?;
    let all = args.jdk.is_empty() && args.user.is_empty() && args.part.is_empty();
    let is_whole = all && args.only.is_none();
    if args.document && is_whole {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        write_into(&here.with_file_name("docs/studies/attacks.md"), &text)?;
    }
    let mut succeeded = false;
    for (attacker, outcomes) in &found {
        for (name, verdict) in outcomes.iter().filter(|(_, it)| it.has_succeeded()) {
            let Attacker { user, jdk } = attacker;
            let why = verdict.reason();
            writeln!(
                io::stderr(),
                "SUCCEEDED as {user} on JDK {jdk}: {name}: {why}"
            )?;
            succeeded = true;
        }
    }
    Ok(match succeeded {
        false => ExitCode::SUCCESS,
        true => ExitCode::FAILURE,
    })
}

/// Runs this program once more, as a user, with a descriptor open that nobody should inherit.
fn as_user(
    args: &Args,
    user: &str,
    jdk: &Jdk,
    folder: &Path,
    tools: &Path,
    is_newest: bool,
) -> anyhow::Result<Outcomes> {
    writeln!(io::stderr(), "attacks: {user} on JDK {}", jdk.version)?;
    open_folder(folder)?;
    let precious = folder.join("precious");
    fs::write(&precious, "precious")?;
    if user == "user" && geteuid().is_root() {
        let id = NOBODY.parse()?;
        std::os::unix::fs::chown(folder, Some(id), Some(id))?;
        std::os::unix::fs::chown(&precious, Some(id), Some(id))?;
    }
    let file = folder.join("outcomes.json");
    let mut line: Vec<OsString> = Vec::new();
    line.push("-c".into());
    line.push("exec 7<>\"$0\"; exec \"$@\"".into());
    line.push(precious.into());
    if user == "user" && geteuid().is_root() {
        line.extend(words([
            "setpriv",
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
        ]));
    }
    line.push(tools.join("attacks").into());
    line.extend(words(["--inside"]));
    line.push(file.clone().into());
    line.push(format!("--jdk={}", jdk.version.feature).into());
    line.push("--culprit".into());
    line.push(tools.join("culprit").into());
    if let Some(only) = &args.only {
        line.push(format!("--only={only}").into());
    }
    // What candidates do to culprit itself does not depend on the JDK.
    let is_for_all = |part: &&str| is_newest || !["cases", "tricks"].contains(part);
    let all = ["launch", "worker", "check", "cases", "tricks"];
    let parts: Vec<&str> = match args.part.is_empty() {
        true => all.into_iter().filter(is_for_all).collect(),
        false => args.part.iter().map(String::as_str).collect(),
    };
    line.extend(parts.iter().map(|it| format!("--part={it}").into()));
    let temporary = folder.join("tmp");
    open_folder(&temporary)?;
    if user == "user" && geteuid().is_root() {
        let id = NOBODY.parse()?;
        std::os::unix::fs::chown(&temporary, Some(id), Some(id))?;
    }
    let run = Run {
        program: "/bin/sh".into(),
        args: line,
        folder: folder.to_owned(),
        env: vec![
            ("HOME".into(), folder.into()),
            ("TMPDIR".into(), temporary.into()),
        ],
        stdout: folder.join("out"),
        stderr: folder.join("err"),
        limit: LIMIT,
    };
    let outcome = run.run()?;
    let said = fs::read_to_string(&run.stderr).unwrap_or_default();
    let ended = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
    ensure!(
        ended,
        "the attacks of {user} did not end well: {outcome:?}: {said}"
    );
    results::read(&fs::read_to_string(&file)?)
}

/// A row for each attempt: the worst outcome of all its ways and places.
fn rows(found: &BTreeMap<Attacker, Outcomes>) -> Vec<Row> {
    let worst = |is_own: &dyn Fn(&str) -> bool| {
        let mut verdicts = BTreeMap::new();
        for (attacker, outcomes) in found {
            let own = outcomes.iter().filter(|(key, _)| is_own(key));
            if let Some(worst) = own.map(|(_, verdict)| verdict).max() {
                verdicts.insert(attacker.clone(), worst.clone());
            }
        }
        verdicts
    };
    let direct = attempts().map(|attempt| Row {
        aim: attempt.aim,
        what: attempt.what.to_owned(),
        way: attempt.way.to_string(),
        witness: attempt.witness.to_string(),
        verdicts: worst(&|key| {
            let inner = key.split_once(' ').and_then(|(_, inner)| attempt_of(inner));
            inner == Some(attempt)
        }),
    });
    let cases = CASES.iter().map(|case| Row {
        aim: case.aim,
        what: case.what.to_owned(),
        way: "candidate".to_owned(),
        witness: "culprit".to_owned(),
        verdicts: worst(&|key| key.strip_prefix("case ") == Some(case.mode)),
    });
    let tricks = TRICKS.iter().map(|trick| Row {
        aim: trick.aim,
        what: trick.what.to_owned(),
        way: trick.by.to_owned(),
        witness: "files, culprit".to_owned(),
        verdicts: worst(&|key| key.strip_prefix("trick ") == Some(trick.name)),
    });
    let rows = direct.chain(cases).chain(tricks);
    rows.filter(|row| !row.verdicts.is_empty()).collect()
}
