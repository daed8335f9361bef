//! The executable of the build that a test belongs to.

use std::path::{Path, PathBuf};

use studies::process::{Outcome, Run, words};

/// The folder of the build: this test is in its `deps`.
pub(crate) fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().to_owned()
}

/// The executable of this build. `cargo test --workspace` has built it before any test runs;
/// a test of this package alone has not.
pub(crate) fn culprit(profile: &Path) -> PathBuf {
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
