//! Signals while a target runs. One test and a process of its own, because the handlers are
//! the whole process's.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use culprit_jvm::{Status, TargetCommand};

#[test]
fn a_signal_sent_to_us_alone_reaches_the_child_and_spares_us() {
    // Survive signals that arrive before the target is watched; the child repeats them.
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, flag).unwrap();
    let script = "trap 'exit 42' USR1; while :; do kill -USR1 $PPID; sleep 0.05; done";
    let target = TargetCommand {
        file: "/bin/sh".into(),
        name: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
    };
    assert_eq!(target.run().unwrap(), Status::Exited(42));
}
