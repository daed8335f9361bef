//! A sample of the benchmark, as part of `cargo test`: small candidates run in each way, in sync.
//! How fast, `make bench` says, on a machine that does nothing else.

mod build;

use std::path::Path;
use std::time::Duration;

use culprit_jvm::{Jdk, JdkLocations};
use studies::bench::candidates::{Candidates, Effort, Way};

#[test]
fn candidates_are_in_sync_however_their_state_is_made_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let culprit = build::culprit(&build::profile_folder());
    let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let candidates = Candidates::prepare(root, &culprit, &jdk, place.path()).unwrap();
    assert!((20..100).contains(&candidates.steps()), "{candidates:#?}");
    let effort = Effort {
        rounds: 1,
        warm_up: Duration::from_millis(100),
        timed: Duration::from_millis(500),
    };
    let measured = candidates.measure(effort, &mut |_| {}).unwrap();
    let of = |way: Way| {
        let mut all = measured.iter().filter(|(it, _)| *it == way);
        all.next().and_then(|(_, paces)| paces.first()).unwrap()
    };
    // A candidate that finds state of the one before it takes two.
    assert!(of(Way::Reset).runs > 1, "{measured:?}");
    assert!(of(Way::NewLoader).runs > 1, "{measured:?}");
    assert!(of(Way::Reset).rate > of(Way::NewJvm).rate, "{measured:?}");
}
