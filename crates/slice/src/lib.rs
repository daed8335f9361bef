//! Dynamic slices: the instructions of a run on which a value, an exception or a line depended.
//!
//! An instruction trace (`culprit_trace::instructions`) is replayed without a JVM: the code of the blocks that were run
//! is executed on shadows of locals, operand stack and heap, which hold the defining instruction instances
//! in the places of values. The result is a graph of instances with their data and control dependences; a slice is the
//! closure of a criterion in it.
//!
//! Code that is not traced (native methods, most of the JDK besides `java.util` and strings) has a summary: its result
//! depends on its arguments, on the contents of strings and arrays among them, and on what it called back; an object
//! whose class is not traced, and every array, may be changed by a call that is given it.
//!
//! Slices are larger than need be around `finally` and `synchronized`, whose code the compiler writes twice: the copy
//! for exceptions depends on the exception.
//!
//! Limits, each of which can leave a dependence out:
//! - Fields that `Unsafe`, `VarHandle` or reflection writes are changed as a whole object.
//! - That an instruction ran because none before it threw is not a dependence, nor that another did not run.
//! - Fields of the same name in a class and in a superclass of which no method was run are one.
//! - Threads are ordered by their turns: two accesses that race may be in the wrong order. Only `Thread.start` makes
//!   a thread depend on another; tasks of an executor begin without a cause.
//! - A lambda that code which is not traced calls has the captured values of the lambda that the call was given, or of
//!   the one with the same body that was made last.
//! - Handlers that are also reached by jumps, and methods with subroutines (`jsr`), are not followed.
#![forbid(unsafe_code)]

pub mod cfg;
pub mod control;
mod error;
pub mod graph;
mod lines;
mod location;
mod operation;
pub mod postdominators;
mod program;
mod replay;
mod shadow;
mod slice;

pub use error::Error;
pub use graph::{DefinedValue, Dependence, Graph, NodeId, Origin};
pub use lines::{How, LineDependence, LineOrigin, LineSlice, SliceDirection, SlicedLine};
pub use location::{Location, NotThere};
pub use program::{Place, Program, Role};
pub use replay::{Replayed, ScriptStatement, replay};
pub use slice::{Criterion, Edge, Slice};
