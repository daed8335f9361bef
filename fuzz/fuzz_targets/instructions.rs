//! Gives any bytes to the target `instructions` of `culprit-fuzzing`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| culprit_fuzzing::read("instructions", bytes));
