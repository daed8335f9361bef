//! `make study-changes`: see `docs/studies/changes.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use serde_json::Value;
use studies::changes::histories::{HISTORIES, History, START};
use studies::changes::made;
use studies::markdown;
use studies::process::{Outcome, Run, words};

/// Isolates changes of made-up programs and histories, with git bisect beside it
#[derive(Parser, Debug)]
struct Args {
    /// The executable to isolate with
    #[arg(long, value_name = "FILE")]
    culprit: PathBuf,
    /// An empty folder to work in and to leave the results
    #[arg(long, value_name = "DIR")]
    place: PathBuf,
    /// Modules of the made-up program; 66 have more than 8,800 changed places
    #[arg(long, value_name = "N", default_value_t = 66)]
    modules: usize,
    /// Leave the document as it is
    #[arg(long)]
    dry: bool,
}

const DOCUMENT: &str = "docs/studies/changes.md";

/// Nothing takes longer.
const LIMIT: Duration = Duration::from_secs(3600);

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    fs::create_dir_all(&args.place)?;
    let place = args.place.canonicalize()?;
    let mut rows = vec![
        "| case | changes | tests | without a verdict | s | seed |\n|---|---|---|---|---|---|"
            .to_owned(),
    ];
    rows.push(one_constant(
        &args.culprit,
        &place.join("made"),
        args.modules,
    )?);
    say(&rows.join("\n"))?;
    let mut beside = vec![
        "| history | commits | tests | of them on commits | what is left | git bisect | it names |\n|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (number, history) in HISTORIES.iter().enumerate() {
        let row = with_bisect(
            &args.culprit,
            history,
            &place.join(format!("history-{number}")),
        )?;
        say(&row)?;
        beside.push(row);
    }
    if !args.dry {
        let results = format!("{}\n\n{}\n", rows.join("\n"), beside.join("\n"));
        markdown::write_into(Path::new(DOCUMENT), &results)?;
    }
    Ok(())
}

/// The made-up program, one constant of which decides.
fn one_constant(culprit: &Path, place: &Path, modules: usize) -> anyhow::Result<String> {
    made::write(&place.join("old"), &place.join("new"), modules)?;
    let report = isolate(
        culprit,
        place,
        &[
            "--good",
            "old",
            "--bad",
            "new",
            "--build",
            "make -s -j2 tool",
            "--test",
            "./tool | grep -q ^arguments",
        ],
    )?;
    let added = &report["changes"][0]["added"][0];
    ensure!(
        added
            .as_str()
            .is_some_and(|line| line.contains("argument list")),
        "{report:#}"
    );
    ensure!(
        report["changes"]
            .as_array()
            .is_some_and(|all| all.len() == 1)
    );
    Ok(format!(
        "| a made-up C program, make | {} | {} | {} | {} | 8,721 changes, 97 tests |",
        report["difference"]["places"],
        report["tests"],
        unresolved(&place.join("out"))?,
        report["seconds"]
    ))
}

/// A history, with git bisect beside it.
fn with_bisect(culprit: &Path, history: &History, place: &Path) -> anyhow::Result<String> {
    let repository = place.join("repository");
    fs::create_dir_all(&repository)?;
    shell(&repository, &format!("{START}{}", history.script))?;
    let bad = if history.commit.is_empty() {
        "WORKTREE"
    } else {
        "HEAD"
    };
    let report = isolate(
        culprit,
        &repository,
        &[
            "--good",
            "good",
            "--bad",
            bad,
            "--test",
            history.test,
            "-o",
            "../out",
        ],
    )?;
    let changes = report["changes"].as_array().context("no changes")?;
    let holds = |line: &Value| line.as_str() == Some(history.line);
    let has_line = changes.iter().any(|change| {
        change["added"]
            .as_array()
            .is_some_and(|all| all.iter().any(holds))
    });
    ensure!(has_line, "{}: {report:#}", history.name);
    let subjects = report["commits"]["left"].as_array().context("no commits")?;
    let has_commit = subjects
        .iter()
        .any(|commit| commit["subject"] == history.commit);
    ensure!(
        has_commit || history.commit.is_empty(),
        "{}: {report:#}",
        history.name
    );
    let of_commits = fs::read_to_string(place.join("out/candidates.jsonl"))?;
    let of_commits = of_commits
        .lines()
        .filter(|line| line.contains("\"level\":\"commits\""))
        .count();
    // Runs of the test are counted by a line for each.
    let script = format!(
        "git stash -q -u || true; git bisect start HEAD good >/dev/null; \
         git bisect run sh -c 'echo >>../runs; {}' >../bisect.log 2>&1 || true; git bisect reset >/dev/null 2>&1; \
         grep -A9 'is the first bad commit' ../bisect.log | sed -n 's/^    //p' | head -1 >../named; \
         grep -q 'first bad commit could be any of' ../bisect.log && echo 'any of several' >../named; true",
        history.test
    );
    shell(&repository, &script)?;
    let runs = fs::read_to_string(place.join("runs"))
        .unwrap_or_default()
        .lines()
        .count();
    let named = fs::read_to_string(place.join("named")).unwrap_or_default();
    let named = match named.trim() {
        "" => "nothing",
        named => named,
    };
    Ok(format!(
        "| {} | {} | {} | {of_commits} | {} | {runs} runs | {named} |",
        history.name,
        report["commits"]["of"],
        report["tests"],
        match changes.len() {
            1 => "1 line".to_owned(),
            count => format!("{count} lines"),
        }
    ))
}

/// Isolates in a folder, and reads the report.
fn isolate(culprit: &Path, folder: &Path, words_of: &[&str]) -> anyhow::Result<Value> {
    let out = match words_of.contains(&"-o") {
        true => folder.join("../out"),
        false => folder.join("out"),
    };
    let mut args = words(["isolate", "changes", "--jobs", "1"]);
    args.extend(words_of.iter().map(Into::into));
    if !words_of.contains(&"-o") {
        args.extend(words(["-o", "out"]));
    }
    let run = Run {
        program: culprit.to_owned(),
        args,
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: folder.with_extension("out.txt"),
        stderr: folder.with_extension("err.txt"),
        limit: LIMIT,
    };
    let outcome = run.run()?;
    let is_good = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
    ensure!(is_good, "{outcome:?}: {}", fs::read_to_string(&run.stderr)?);
    Ok(serde_json::from_str(&fs::read_to_string(
        out.join("report.json"),
    )?)?)
}

/// Candidates without a verdict.
fn unresolved(out: &Path) -> anyhow::Result<usize> {
    let all = fs::read_to_string(out.join("candidates.jsonl"))?;
    Ok(all
        .lines()
        .filter(|line| line.contains("has no verdict"))
        .count())
}

fn shell(folder: &Path, script: &str) -> anyhow::Result<()> {
    let run = Run {
        program: "/bin/sh".into(),
        args: words(["-c", script]),
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: folder.with_extension("shell-out.txt"),
        stderr: folder.with_extension("shell-err.txt"),
        limit: LIMIT,
    };
    let outcome = run.run()?;
    let is_good = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
    ensure!(is_good, "{outcome:?}: {}", fs::read_to_string(&run.stderr)?);
    Ok(())
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
