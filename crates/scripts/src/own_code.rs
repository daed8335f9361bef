//! The code of the program itself, told from the libraries that it uses by the place it was loaded from.

use std::collections::BTreeSet;

use culprit_program::{Program, main_class};
use culprit_signature::{Frame, FrameOrigin};
use culprit_trace::Start;

use crate::selection::{internal, is_framework, outermost};

/// The entries of a class path with code of the program itself: folders, and the archive that has the main class
/// or the test.
pub struct OwnCode<'p> {
    program: &'p Program,
    entries: BTreeSet<usize>,
    /// The class of the test that failed, by its internal name.
    test: Option<String>,
}

impl<'p> OwnCode<'p> {
    /// The own code of the program of a JVM, in which a test of this class failed.
    pub fn of(program: &'p Program, start: &Start, test: Option<&str>) -> OwnCode<'p> {
        let paths = program.class_path().enumerate();
        let folders = paths.filter(|(_, path)| path.is_dir());
        let mut entries: BTreeSet<usize> = folders.map(|(at, _)| at).collect();
        let drivers = [test.map(str::to_owned), main_class(start)];
        let drivers = drivers.into_iter().flatten().map(|name| internal(&name));
        let is_program = |name: &String| !is_framework(name);
        let drivers = drivers.filter(is_program);
        entries.extend(drivers.filter_map(|name| program.entry_of(&name)));
        OwnCode {
            program,
            entries,
            test: test.map(internal),
        }
    }

    /// The entries of the class path that have it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().copied()
    }

    /// Whether a class, by its internal name, is of the program itself.
    pub fn has(&self, name: &str) -> bool {
        let entry = self.program.entry_of(outermost(name));
        entry.is_some_and(|entry| self.entries.contains(&entry))
    }

    /// Whether a frame is of the program itself, and not of the test that failed.
    pub fn has_frame(&self, frame: &Frame) -> bool {
        let name = internal(&frame.class);
        let is_test = self
            .test
            .as_deref()
            .is_some_and(|test| outermost(test) == outermost(&name));
        frame.origin() == FrameOrigin::Program && !is_test && self.has(&name)
    }
}
