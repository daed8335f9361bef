//! `culprit isolate changes` from outside: what it finds, what it refuses, and that nothing of the
//! user's is touched.

mod answers;
mod ends;
mod place;
mod runs;
mod versions;
