//! The program under test: the classes on its class path and in its JDK, and the JVMs that run it again.
//!
//! [`Program`] looks classes up as a JVM does. [`PlainWorkers`] starts worker JVMs for scripts, in which
//! nothing is woven; `culprit-replay` builds its own kind of worker on the same [`WorkerJvm`]. [`Confines`]
//! starts the compiler and generated tests with the same rights.
//!
//! Invariant: a recording may come from anywhere. Nothing that it claims becomes an option of a JVM, except for
//! the closed list in [`likeness`], and no worker is started for a recording that [`vet`] refuses.
#![forbid(unsafe_code)]

mod class_path;
mod command;
mod confines;
mod environment;
mod error;
mod jdk_classes;
mod kotlin_compilers;
pub mod likeness;
pub mod manifest;
mod matching_jdk;
mod nested_archive;
mod program;
mod recorded_jvm;
mod sources;
mod unpacking;
mod vet;
mod workers;

pub use class_path::ClassPath;
pub use command::{Command, CommandError, Streams};
pub use confines::{Compilation, Confines, Folders, class_path_option};
pub use environment::Environment;
pub use error::Error;
pub use jdk_classes::JdkClasses;
pub use kotlin_compilers::{KotlinCompilation, KotlinCompiler, KotlinCompilers, KotlinLocations};
pub use likeness::memory_option;
pub use matching_jdk::matching_jdk;
pub use program::Program;
pub use recorded_jvm::{class_path, command_line, main_class, working_folder};
pub use sources::Sources;
pub use unpacking::{unpacked, with_loader, with_recorded};
pub use vet::{CalledCode, Forged, vet};
pub use workers::{Extras, PlainWorkers, WorkerJvm, agent_argument};
