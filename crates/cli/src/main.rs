//! The `culprit` command.

mod console;
mod exit;

fn main() {}
