//! The `culprit` command.

fn main() {}
