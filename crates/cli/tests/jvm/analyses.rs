//! What else can be learned from a replay: the lines it runs, and whatever other agents have to
//! say.

use culprit_report::document::conforming;
use culprit_report::replay::ReplayDocument;
use std::fs;

use crate::fixture::Fixture;
use crate::library::jar;
use crate::process::{self, command};
use crate::replay::{STRICT, record, replayed};
use crate::stage::{folder, on_every_jdk, on_one_jdk, skipped};

#[test]
fn the_lines_that_were_run_are_counted() {
    on_every_jdk(&Fixture::named("replay/lines"), |stage| {
        let recorded = record(stage, "replay/lines");
        let args = [&["--coverage"], &STRICT[..]].concat();
        let ended = replayed(stage, &recorded, &args);
        assert_eq!(ended.status, 0, "{ended:?}");
        let (first, said) = ended.out.split_once('\n').unwrap();
        assert!(first.starts_with("In sync: "), "{first}");
        // InZone was never loaded, so the recording does not have it.
        let expect = "
Lines run: 10 of 15, 66%
  class                  lines
  lines.InTariff         10/15   66%
    not run: 15-17, 21, 32-33
";
        assert_eq!(said, expect, "JDK {}", stage.feature());
    });
}

#[test]
fn lines_run_are_added_over_recordings_and_are_in_the_document() {
    let stage = on_one_jdk();
    let recorded = record(stage, "replay/lines");
    let file = recorded.recording().path().to_owned();
    fs::copy(&file, recorded.run.join("jvm-1.culprit")).unwrap();
    let ended = replayed(stage, &recorded, &["--coverage"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let summary = "\n2 recordings: 2 in sync\n\nLines run: 10 of 15, 66%\n";
    assert!(ended.out.contains(summary), "{}", ended.out);

    let ended = replayed(stage, &recorded, &["--coverage", "--json"]);
    let document: serde_json::Value = conforming::<ReplayDocument>(&ended.out).unwrap();
    let both = &document["coverage"]["classes"][0];
    let one = &document["recordings"][1]["coverage"]["classes"][0];
    assert_eq!(both["class"], "lines.InTariff");
    assert_eq!(
        one["not_run"],
        serde_json::json!([[15, 17], [21, 21], [32, 33]])
    );
    // Each has the constructor's line twice.
    let count = |of: &serde_json::Value| {
        let counts = of["counts"].as_array().unwrap().iter();
        let line = counts.into_iter().find(|pair| pair[0] == 10).unwrap();
        line[1].as_u64().unwrap()
    };
    assert_eq!((count(one), count(both)), (2, 4));

    let ended = replayed(stage, &recorded, &["--json"]);
    let document: serde_json::Value = conforming::<ReplayDocument>(&ended.out).unwrap();
    assert!(document["coverage"].is_null());
}

/// The coverage tool that most Java projects have.
const JACOCO: &str = "0.8.14";

#[test]
fn another_agent_measures_the_coverage_of_a_replay() {
    let fetched = (
        jar("org.jacoco", "org.jacoco.agent", JACOCO, Some("runtime")),
        jar("org.jacoco", "org.jacoco.cli", JACOCO, Some("nodeps")),
    );
    let (Some(agent), Some(tool)) = fetched else {
        return skipped("JaCoCo, which is not here");
    };
    on_every_jdk(&Fixture::named("replay/lines"), |stage| {
        let recorded = record(stage, "replay/lines");
        let place = folder();
        let exec = place.path().join("jacoco.exec");
        let option = format!(
            "-javaagent:{}=inclnolocationclasses=true,destfile={}",
            agent.display(),
            exec.display()
        );
        let allow = [
            "--allow-write",
            place.path().to_str().unwrap(),
            "--",
            &option,
        ];
        let ended = replayed(stage, &recorded, &allow);
        let about = format!("JDK {}: {ended:?}", stage.feature());
        assert_eq!(ended.status, 0, "{about}");
        assert!(ended.out.starts_with("In sync: "), "{about}");

        // Its own report finds the classes again by the sums of their bytes.
        let csv = place.path().join("report.csv");
        let mut report = command(stage.jdk.tool("java"), place.path());
        report.arg("-jar").arg(&tool).arg("report").arg(&exec);
        report.arg("--classfiles").arg(stage.classes.join("lines"));
        report.arg("--csv").arg(&csv);
        let ended = process::run(&mut report);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(!ended.err.contains("does not match"), "{}", ended.err);
        let text = fs::read_to_string(&csv).unwrap();
        let row = |class: &str| -> Vec<String> {
            let rows = text.lines().map(|row| row.split(',').collect::<Vec<_>>());
            let mut found = rows.filter(|row| row[2] == class);
            found.next().unwrap_or_else(|| panic!("{class}: {text}"))[7..9]
                .iter()
                .map(|figure| (*figure).to_owned())
                .collect()
        };
        // Lines that were missed, lines that were run: as `--coverage` says.
        assert_eq!(row("InTariff"), ["5", "10"], "JDK {}", stage.feature());
        assert_eq!(row("InZone")[1], "0");
        assert_eq!(row("Main")[1], "0");
    });
}
