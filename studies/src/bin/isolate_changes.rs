//! `make study-changes`: see `docs/studies/changes.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use clap::Parser;
use culprit_jvm::{Jdk, JdkLocations};
use serde_json::Value;
use studies::changes::histories::{HISTORIES, History, START};
use studies::changes::releases::{LINES, Line, PAIRS, Pair};
use studies::changes::study::{Proved, Study};
use studies::changes::subject::Workshop;
use studies::changes::{isolate, made, shell, verdicts_with};
use studies::markdown;
use studies::maven::Maven;

/// Isolates changes of releases, programs and histories, with git bisect beside it
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
    /// Only the releases of this case of corpus/; may be repeated
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
}

const DOCUMENT: &str = "docs/studies/changes.md";

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    fs::create_dir_all(&args.place)?;
    let place = args.place.canonicalize()?;
    let maven = Maven::new(
        std::env::var_os("PATH").as_deref(),
        &place.with_file_name("maven"),
    );
    let jdk = Jdk::find(&JdkLocations::of_process())?;
    let study = Study {
        culprit: &args.culprit,
        place: &place,
        corpus: Path::new("corpus"),
        workshop: Workshop {
            maven: &maven,
            jdk: &jdk,
        },
    };
    let is_meant = |case: &str| args.only.is_empty() || args.only.iter().any(|name| name == case);
    let mut tables = Vec::new();
    if args.only.is_empty() {
        let mut programs = vec![
            "| case | changes | tests | without a verdict | s | published |\n|---|---|---|---|---|---|"
                .to_owned(),
        ];
        for make in ["make", "make -k"] {
            let place = place.join(make);
            let row = one_constant(&args.culprit, &place, args.modules, make)?;
            programs.push(said(row)?);
        }
        tables.push(programs);
        let mut beside = vec!["| history | commits | tests | of them on commits | what is left | git bisect | it names |\n|---|---|---|---|---|---|---|".to_owned()];
        for (number, history) in HISTORIES.iter().enumerate() {
            let folder = place.join(format!("history-{number}"));
            beside.push(said(with_bisect(&args.culprit, history, &folder)?)?);
        }
        tables.push(beside);
    }
    let mut releases = vec!["| case | versions | changed places | changes | tests | without a verdict | s | left | of the fix, in | taken back one by one |\n|---|---|---|---|---|---|---|---|---|---|".to_owned()];
    for pair in PAIRS.iter().filter(|pair| is_meant(pair.case)) {
        releases.push(said(pair_row(&study, pair)?)?);
    }
    tables.push(releases);
    let mut lines = vec!["| releases | commits | tests | of them on commits | s | left | git bisect | s | it names |\n|---|---|---|---|---|---|---|---|---|".to_owned()];
    for line in LINES.iter().filter(|line| is_meant(line.case)) {
        lines.push(said(line_row(&study, line)?)?);
    }
    tables.push(lines);
    if !args.dry {
        let tables: Vec<String> = tables.iter().map(|rows| rows.join("\n")).collect();
        markdown::write_into(Path::new(DOCUMENT), &format!("{}\n", tables.join("\n\n")))?;
    }
    Ok(())
}

/// Says a row and keeps it.
fn said(row: String) -> anyhow::Result<String> {
    say(&row)?;
    Ok(row)
}

/// A row for two releases.
fn pair_row(study: &Study<'_>, pair: &Pair) -> anyhow::Result<String> {
    let Proved {
        case,
        report,
        at,
        taken_back,
        out,
    } = study.pair(pair)?;
    Ok(format!(
        "| `{}` | {} {}, {} | {} | {} | {} | {} | {:.0} | {} | {at} | {taken_back} |",
        case.name,
        case.fixed.artifact,
        case.fixed.version,
        case.buggy.version,
        report["difference"]["places"],
        report["difference"]["deltas"],
        report["tests"],
        verdicts_with(&out, "has no verdict")?,
        report["seconds"].as_f64().unwrap_or_default(),
        left(&report),
    ))
}

/// A row for releases as commits, with git bisect beside it.
fn line_row(study: &Study<'_>, line: &Line) -> anyhow::Result<String> {
    let found = study.line(line)?;
    let (report, place) = (&found.report, study.place_of_line(line));
    let began = Instant::now();
    let repository = place.join("repository");
    let bisected = bisect(&repository, &line.good(), "sh ../test.sh")?;
    Ok(format!(
        "| {} {} to {} | {} | {} | {} | {:.0} | {} | {} runs | {:.0} | {} |",
        found.case.fixed.artifact,
        line.versions[0],
        line.versions[line.versions.len() - 1],
        report["commits"]["of"],
        report["tests"],
        verdicts_with(&found.out, "\"level\":\"commits\"")?,
        report["seconds"].as_f64().unwrap_or_default(),
        left(report),
        bisected.runs,
        began.elapsed().as_secs_f64(),
        bisected.named,
    ))
}

/// The number of lines that are left.
fn left(report: &Value) -> String {
    match report["changes"].as_array().map_or(0, Vec::len) {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// The made-up program, one constant of which decides.
fn one_constant(
    culprit: &Path,
    place: &Path,
    modules: usize,
    make: &str,
) -> anyhow::Result<String> {
    made::write(&place.join("old"), &place.join("new"), modules)?;
    let report = isolate(
        culprit,
        place,
        &place.join("out"),
        &[
            "--good",
            "old",
            "--bad",
            "new",
            "--build",
            &format!("{make} -s -j2 tool"),
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
        "| a made-up C program, {make} | {} | {} | {} | {} | 8,721 changes, 97 tests |",
        report["difference"]["places"],
        report["tests"],
        verdicts_with(&place.join("out"), "has no verdict")?,
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
        &place.join("out"),
        &["--good", "good", "--bad", bad, "--test", history.test],
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
    let of_commits = verdicts_with(&place.join("out"), "\"level\":\"commits\"")?;
    let bisected = bisect(&repository, "good", history.test)?;
    Ok(format!(
        "| {} | {} | {} | {of_commits} | {} | {} runs | {} |",
        history.name,
        report["commits"]["of"],
        report["tests"],
        left(&report),
        bisected.runs,
        bisected.named,
    ))
}

/// The result of `git bisect run`.
struct Bisected {
    runs: usize,
    /// The subject of the commit.
    named: String,
}

fn bisect(repository: &Path, good: &str, test: &str) -> anyhow::Result<Bisected> {
    let place = repository.parent().context("no folder")?;
    // Runs of the test are counted by a line for each.
    fs::write(place.join("bisect.sh"), format!("echo >>../runs\n{test}\n"))?;
    let script = format!(
        "git stash -q -u || true; git bisect start HEAD {good} >/dev/null; \
         git bisect run sh ../bisect.sh >../bisect.log 2>&1 || true; git bisect reset >/dev/null 2>&1; \
         grep -A9 'is the first bad commit' ../bisect.log | sed -n 's/^    //p' | head -1 >../named; \
         grep -q 'first bad commit could be any of' ../bisect.log && echo 'any of several' >../named; true"
    );
    shell(repository, &script)?;
    let runs = fs::read_to_string(place.join("runs")).unwrap_or_default();
    let named = fs::read_to_string(place.join("named")).unwrap_or_default();
    let named = match named.trim() {
        "" => "nothing",
        named => named,
    };
    Ok(Bisected {
        runs: runs.lines().count(),
        named: named.to_owned(),
    })
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
