//! A sample of the study of inputs, as part of `cargo test`: culprit alone, on one real input with its real oracle.

mod build;

use std::path::Path;
use std::time::Duration;

use studies::isolate::case::Case;
use studies::isolate::reducer::{Reducer, Tools};

#[test]
fn a_warning_of_the_compiler_is_left_with_little_else() {
    let place = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("isolate");
    let cases = Case::all(&folder).unwrap();
    let case = cases.into_iter().find(|it| it.name == "html-scanner-c");
    let ready = case.unwrap().ready(place.path()).unwrap();
    assert!(ready.bytes.len() > 30_000, "{}", ready.bytes.len());
    let nowhere = || place.path().join("nowhere");
    let tools = Tools {
        culprit: build::culprit(&build::profile_folder()),
        python: nowhere(),
        cvise: nowhere(),
        treereduce: nowhere(),
    };
    let limit = Duration::from_secs(120);
    let reduced = Reducer::Culprit.reduce(&tools, &ready, place.path(), limit);
    let reduced = reduced.unwrap().unwrap();
    // The warning takes two variables and a comparison; a busy machine may not come to the end.
    let most = if reduced.is_cut { 1_000 } else { 120 };
    assert!(reduced.bytes < most, "{reduced:?}");
    assert!(reduced.tests < 1_500, "{reduced:?}");
}
