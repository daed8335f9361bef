//! A sample of the transparency study, as part of `cargo test`: most of the smallest suite, on
//! the JDK that the user means. `make study-transparency` runs them all on all JDKs.

mod build;

use std::path::Path;

use culprit_jvm::{Jdk, JdkLocations};
use studies::maven::Maven;
use studies::transparency::{LIBRARIES, Library, Study};

/// What takes long, and is left to the study.
const TOO_LONG: [(&str, &str); 3] = [
    ("org.apache.commons.csv.perf.PerformanceTest", "too long"),
    ("org.apache.commons.csv.CSVPrinterTest", "too long"),
    ("org.apache.commons.csv.issues.JiraCsv198Test", "too long"),
];

#[test]
fn the_tests_of_commons_csv_end_alike_when_recorded() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let profile = build::profile_folder();
    let place = profile.parent().unwrap().join("studies");
    let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
    let study = Study {
        culprit: build::culprit(&profile),
        place: place.join("sample"),
        runner: here.join("java/transparency/SuiteRunner.java"),
        maven: Maven::new(std::env::var_os("PATH").as_deref(), &place.join("maven")),
    };
    let whole = LIBRARIES
        .iter()
        .find(|library| library.artifact == "commons-csv")
        .unwrap();
    let library = Library {
        leave_out: &TOO_LONG,
        ..*whole
    };
    let found = study.compare(&library, &jdk).unwrap();
    assert!(found.tests > 700, "{found:#?}");
    assert!(found.events > 10_000, "{found:#?}");
    assert!(found.is_clean(), "{found:#?}");
}
