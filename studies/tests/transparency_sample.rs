//! A sample of the transparency study, as part of `cargo test`: most of the smallest suite, on
//! the JDK that the user means. `make study-transparency` runs them all on all JDKs.

use std::path::{Path, PathBuf};

use culprit_jvm::{Jdk, Surroundings};
use studies::maven::Maven;
use studies::process::{Outcome, Run, words};
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
    let profile = profile_folder();
    let place = profile.parent().unwrap().join("studies");
    let jdk = Jdk::find(&Surroundings::of_process()).unwrap();
    let study = Study {
        culprit: culprit(&profile),
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

/// The folder of the build: this test is in its `deps`.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().to_owned()
}

/// The executable of this build. `cargo test --workspace` has built it before any test runs;
/// a test of this package alone has not.
fn culprit(profile: &Path) -> PathBuf {
    let culprit = profile.join("culprit");
    if !culprit.is_file() {
        let mut args = words(["build", "--locked", "--package", "culprit"]);
        if !cfg!(debug_assertions) {
            args.push("--release".into());
        }
        let run = Run {
            program: env!("CARGO").into(),
            args,
            folder: env!("CARGO_MANIFEST_DIR").into(),
            env: Vec::new(),
            stdout: profile.join("study-build.out"),
            stderr: profile.join("study-build.err"),
            limit: std::time::Duration::from_secs(20 * 60),
        };
        let outcome = run.run().unwrap();
        let built = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
        assert!(
            built,
            "culprit does not build; see {}",
            run.stderr.display()
        );
    }
    culprit
}
