//! `culprit isolate input` as a user runs it, on commands that need no JVM.

mod ends;
mod inputs;
mod log;
mod pairs;
mod runs;
mod stage;
