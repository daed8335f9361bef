//! Inputs of real faults, reduced by `culprit isolate input` and by other reducers with the same oracle.

pub mod case;
pub mod page;
pub mod reducer;
