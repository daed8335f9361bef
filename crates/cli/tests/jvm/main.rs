//! Records small Java programs in real JVMs with the real executable, and compares what was
//! captured with what the programs do.
//!
//! The programs are in `fixtures/capture`, `fixtures/follow`, `fixtures/minimize`, `fixtures/replay`,
//! `fixtures/suggest` and `fixtures/survive`, one folder each. `fixture` says how they describe themselves; `stage` runs them.
//! Those of `fixtures/debug` have a library and what uses it: `debug` runs these. Those of `fixtures/confined` do
//! harm where they can: `confined` runs these. `isolate` and `loading` have programs of their own, in folders of
//! these names.

mod against;
mod analyses;
mod candidates;
mod capture;
mod caught;
mod check;
mod choosing;
mod confined;
mod consistency;
mod debug;
mod derive;
mod environment;
mod everyday;
mod failures;
mod fixture;
mod folders;
mod follow;
mod foreign;
mod instrument;
mod isolate;
mod java_test;
mod kotlin;
mod library;
mod loaders;
mod loading;
mod mock;
mod modes;
mod operands;
mod origin;
mod outlines;
mod plain;
mod process;
mod recipes;
mod render;
mod replay;
mod rounds;
mod same;
mod scenario;
mod slice;
mod stage;
mod suggest;
mod survive;
