//! Attacks on whoever reads what `culprit` prints and writes: names, messages and inputs that steer
//! a terminal, forge lines or hide text.

mod arguments;
mod changes;
mod inputs;
mod recordings;
mod stage;
