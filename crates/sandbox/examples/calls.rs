//! Prints the numbers of the system calls that a confined JVM may make, as a set for `strace`:
//!
//! ```text
//! strace -f --seccomp-bpf -e trace="!$(cargo run -q -p culprit-sandbox --example calls)" CMD
//! ```
//!
//! shows the other calls that a command makes.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use culprit_sandbox::{Filter, Permissions};

fn main() {
    let calls = Filter::allowed(Permissions::default()).unwrap_or_default();
    let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
    println!("{}", calls.join(","));
}
