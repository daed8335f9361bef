//! The JVMTI agent: weaves classes as they load and records what crosses the border of the
//! observed set. In other modes it follows the driver of a program, counts calls, or is the worker that replays
//! scenarios and runs scripts.
//!
//! It lives in someone else's process. It never writes to the program's streams, never changes
//! its exit status, catches its own panics at every border, and on any trouble stops recording,
//! says so in the recording or beside it, and lets the program go on.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod adopt;
mod agent;
mod blobs;
mod buffer;
mod callbacks;
mod caught;
mod children;
mod classes;
mod counting;
mod follow;
mod likeness;
mod load;
mod lock;
mod natives;
mod operators;
mod outlines;
mod pack;
mod recorder;
mod roots;
mod runtime;
mod state;
mod surroundings;
mod tracing;
mod worker;

use std::any::Any;
use std::sync::OnceLock;

use agent::Agent;

/// The one agent of the process.
static AGENT: OnceLock<Agent> = OnceLock::new();

fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// A panic of ours reached a border: recording ends, the program goes on. A worker ends: whatever it
/// would say about its candidate means nothing.
fn forget_on_panic(agent: &Agent, panic: Box<dyn Any + Send>) {
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    if let Some(worker) = worker::worker() {
        worker.fault(what);
    }
    agent.recorder.stop(format!("a fault of the agent: {what}"));
    // Dropping a panic payload may panic in turn.
    std::mem::forget(panic);
}
