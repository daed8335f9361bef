//! Recordings of real programs as scenarios. That they make sense is asked of every complete
//! recording, in `stage`.

use culprit_model::Scenario;
use culprit_replay::{Finding, check, lift};

use crate::fixture::Fixture;
use crate::process::{command, run};
use crate::stage::{Recorded, folder, on_every_jdk, on_one_jdk};

fn shown(recorded: &Recorded, words: &[&str]) -> String {
    let folder = folder();
    let mut show = command(env!("CARGO_BIN_EXE_culprit"), folder.path());
    show.arg("show")
        .arg(&recorded.run)
        .arg("--scenario")
        .args(words);
    let ended = run(&mut show);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    ended.out
}

#[test]
fn what_is_shown_is_read_back_as_it_was_recorded() {
    for name in ["nine", "arrays", "scalars", "texts", "callbacks", "virtual"] {
        let fixture = Fixture::named(&format!("capture/{name}"));
        on_every_jdk(&fixture, |stage| {
            let recorded = stage.run(&fixture).record();
            let text = shown(&recorded, &[]);
            // Texts are compared: a NaN is not equal to itself.
            let read: Scenario = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            let lifted = lift(&recorded.complete()).scenario().unwrap();
            assert_eq!(lifted.to_string(), text);
        });
    }
}

#[test]
fn steps_are_shown_one_a_line_with_the_names_of_members() {
    let fixture = Fixture::named("capture/nine");
    let text = shown(&on_one_jdk().run(&fixture).record(), &["--range", "7..15"]);
    // Numbers of sites depend on the classes that are loaded before.
    let (_, steps) = text.split_once("\n\n").unwrap();
    let mut parts = steps.split('@');
    let mut steps = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        steps.push('@');
        steps.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    insta::assert_snapshot!(steps);
}

#[test]
fn a_program_that_ends_well_can_be_replayed_and_one_that_is_cut_short_says_so() {
    let fixture = Fixture::named("survive/counting");
    let record = |options: &[&str], calls: &str| {
        let run = on_one_jdk().run(&fixture).recording(options);
        run.args(&[calls, "end"]).record().recording()
    };
    assert_eq!(check(&record(&[], "100"), None).unwrap(), []);
    let found = check(&record(&["--last", "100"], "50000"), None).unwrap();
    assert_eq!(found, [Finding::Forgotten { events: 99_900 }]);
    let found = check(&record(&["--sample", "1/10"], "1000"), None).unwrap();
    let (one_in, left_out) = (10, 900);
    assert_eq!(found, [Finding::Sampled { one_in, left_out }]);
    let found = check(&record(&["--max-events", "5000"], "8000000"), None).unwrap();
    assert!(
        matches!(&found[0], Finding::Stopped { why } if why.contains("--max-events")),
        "{found:?}"
    );
}
