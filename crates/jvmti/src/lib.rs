//! Safe layer over JVMTI and JNI. Owns every raw pointer that the JVM hands out; the agent sees
//! values that cannot outlive the callback they came with.
//!
//! Raw tables come from `jvmti-bindings` (`sys` only): its layouts are checked against the JDK's
//! headers. Nothing here knows what the agent is for.

pub mod invoke;
pub mod jni;
pub mod tool;

/// The raw tables, for the signatures of callbacks and native methods.
pub use jvmti_bindings::sys;

pub use invoke::{Global, Passed, StaticFieldId};
pub use jni::{Jni, Local, MethodId, NativeMethod, StaticMethodId};
pub use tool::{Declared, Jvmti, StackFrame, Vm};

/// A call into the JVM that did not work.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    #[error("JVMTI {call} failed with code {code}")]
    Jvmti { call: &'static str, code: i32 },
    #[error("JNI {call} failed: {what}")]
    Jni { call: &'static str, what: String },
}

pub type Result<T> = std::result::Result<T, Error>;
