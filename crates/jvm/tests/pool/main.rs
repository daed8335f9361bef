//! The pool against workers that do whatever a worker can do: answer, die, hang, talk nonsense.
//! The workers are this test's own program, started once more (`fake`), and a JVM (`java`).

mod fake;
mod java;
mod ways;
