//! The code of the program itself, told from the libraries that it uses by the place it was loaded from.

use std::collections::BTreeSet;

use culprit_model::owner::is_of_language;
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
    /// The class with the `main` that the JVM called, by its internal name.
    main: Option<String>,
}

impl<'p> OwnCode<'p> {
    /// The own code of the program of a JVM, in which a test of this class failed.
    pub fn of(program: &'p Program, start: &Start, test: Option<&str>) -> OwnCode<'p> {
        let paths = program.class_path().enumerate();
        let folders = paths.filter(|(_, path)| path.is_dir());
        let mut entries: BTreeSet<usize> = folders.map(|(at, _)| at).collect();
        let test = test.map(internal);
        let main = main_class(start).map(|name| internal(&name));
        let drivers = [&test, &main].into_iter().flatten();
        let drivers = drivers.filter(|name| !is_framework(name) && !is_of_language(name));
        entries.extend(drivers.filter_map(|name| program.entry_of(name)));
        OwnCode {
            program,
            entries,
            test,
            main,
        }
    }

    /// The entries of the class path that have it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().copied()
    }

    /// True if a class, by its internal name, is of the program itself.
    pub fn has(&self, name: &str) -> bool {
        // In other languages than Java there need not be a class that a nested one stands in.
        let entry = self.program.entry_of(name);
        let entry = entry.or_else(|| self.program.entry_of(outermost(name)));
        entry.is_some_and(|entry| self.entries.contains(&entry))
    }

    /// True if a frame is of the program itself, and not of its driver: the test that failed, or `main`.
    pub fn has_frame(&self, frame: &Frame) -> bool {
        let name = internal(&frame.class);
        let is_test = self
            .test
            .as_deref()
            .is_some_and(|test| outermost(test) == outermost(&name));
        let is_main = frame.method == "main" && self.main.as_ref() == Some(&name);
        frame.origin() == FrameOrigin::Program && !is_test && !is_main && self.has(&name)
    }
}
