//! The benchmark: what recording costs, beside a run without an agent, JaCoCo's agent, and a
//! recorder written with AspectJ; and how fast recordings and small candidates run again,
//! and instructions are traced.
//!
//! Workloads are small programs in `studies/java/bench` on real libraries. Every variant of a
//! subject runs once a round, so that whatever else the machine does falls on all alike, and
//! every figure is a median over the rounds. `docs/studies/bench.md` says what is measured.

pub mod candidates;
pub mod choose;
pub mod figures;
pub mod measure;
pub mod page;
pub mod replay_page;
pub mod replays;
pub mod results;
pub mod subject;
pub mod tools;
pub mod tracing;
pub mod variant;
