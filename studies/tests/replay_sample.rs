//! A sample of the replay study, as part of `cargo test`: some tests of nanoxml with each class
//! alone, some sets and all classes. `make study-replay` runs them all.

mod build;

use std::path::Path;

use culprit_jvm::{Jdk, JdkLocations};
use studies::maven::Maven;
use studies::replay::{Filter, Kind, PROGRAMS, Row, Study, Verdict};

/// So many tests, and so many random sets for each.
const TESTS: usize = 8;
const SETS: usize = 5;

#[test]
fn recordings_of_nanoxml_replay_in_sync() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let profile = build::profile_folder();
    let place = profile.parent().unwrap().join("studies");
    let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
    let study = Study {
        culprit: build::culprit(&profile),
        place: place.join("replay-sample"),
        java: here.join("java/replay"),
        maven: Maven::new(std::env::var_os("PATH").as_deref(), &place.join("maven")),
    };
    let filter = Filter {
        limit: Some(TESTS),
        random: Some(SETS),
        ..Filter::default()
    };
    let results = study.run(&PROGRAMS[0], &jdk, &filter, 2).unwrap();
    let bad: Vec<&Row> = results
        .rows()
        .iter()
        .filter(|row| !row.verdict.is_good())
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let in_sync = |kind: Kind| {
        let rows = results.rows().iter();
        rows.filter(|row| row.kind == kind && row.verdict == Verdict::InSync)
            .count()
    };
    assert_eq!(in_sync(Kind::All), TESTS);
    assert!(in_sync(Kind::One) > 5 * TESTS, "{}", in_sync(Kind::One));
    assert!(in_sync(Kind::Some) > 3 * TESTS, "{}", in_sync(Kind::Some));
}
