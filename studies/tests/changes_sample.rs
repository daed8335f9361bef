//! A sample of the study of changes, as part of `cargo test`: two releases of one library.
//! `make study-changes` has the others.

mod build;

use std::path::Path;

use culprit_jvm::{Jdk, JdkLocations};
use studies::changes::proof::Place;
use studies::changes::releases::PAIRS;
use studies::changes::study::Study;
use studies::changes::subject::Workshop;
use studies::maven::Maven;

#[test]
fn the_line_that_decides_between_two_releases_is_in_the_method_that_was_fixed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let profile = build::profile_folder();
    let studies = profile.parent().unwrap().join("studies");
    let place = tempfile::tempdir().unwrap();
    let study = Study {
        culprit: &build::culprit(&profile),
        place: place.path(),
        corpus: &root.join("corpus"),
        workshop: Workshop {
            maven: &Maven::new(std::env::var_os("PATH").as_deref(), &studies.join("maven")),
            jdk: &Jdk::find(&JdkLocations::of_process()).unwrap(),
        },
    };
    let pair = PAIRS.iter().find(|pair| pair.case == "csv-269").unwrap();
    let found = study.pair(pair).unwrap();
    assert_eq!(found.at, Place::Method);
    // 561 changes of lines; what is left was taken back line by line, and nothing failed any more.
    let lines = found.report["changes"].as_array().unwrap().len();
    assert_eq!(lines, found.taken_back);
    assert!(lines <= 2, "{:#}", found.report["changes"]);
    assert!(
        found.report["tests"].as_u64() < Some(30),
        "{:#}",
        found.report
    );
}
