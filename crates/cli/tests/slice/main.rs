//! Traces small programs in worker JVMs, and compares their slices with the lines that the programs name.
//!
//! The programs are in `fixtures/slice`. Each has a method `run`; a slice starts from what it returns, or from the
//! exception that it throws, and must have exactly the lines that end with `// slice`. A program whose slice is known to
//! be too large marks the surplus lines with `// surplus`; lines with `// either` depend on chance.

#![expect(clippy::print_stderr, reason = "figures are for whoever runs the test")]

mod checks;
mod generated;
mod interpreter;
mod oracle;
mod tracer;
