//! The borders at which a failing program can be cut, and the evidence for the order in which to try them.

use std::collections::BTreeSet;

use culprit_classfile::{ClassFile, named_classes};
use culprit_model::owner::{FLUENT_ASSERTIONS, GENERATED, is_of_language, makes_objects};
use culprit_model::{Owner, Pattern, Selection};
use culprit_program::{Program, main_class};
use culprit_signature::{Frame, FrameOrigin};

use crate::clojure::function_class;
use crate::own_code::OwnCode;
use crate::selection::{
    asserting, driver_of, frames_of, internal, is_cut_off, is_framework, is_of, outermost, packages,
};
use crate::{Error, Failed};

/// The way from the driver of a program to the code that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// The driver calls the program itself.
    Direct,
    /// A library calls the program back, on behalf of the driver, or a thread that the program started does.
    Library,
    /// The driver has mocks, or a framework makes its objects, or it interprets another language: what it does cannot be
    /// done again without the framework.
    Framework,
}

/// A part of the program to record, from the calls that enter it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Border {
    /// The class that threw, where it is recorded alone.
    pub class: Option<String>,
    pub selection: Selection,
}

/// The way from the driver to the code that failed.
pub fn route(failed: &Failed<'_>, program: &Program) -> Route {
    let driver = driver_of(failed);
    let own = OwnCode::of(program, failed.start, failed.test);
    if is_given_objects(program, &driver, &own) || is_of_language(&driver) {
        return Route::Framework;
    }
    let thrown = failed.signature.thrown().chain().last();
    let stack = thrown.map_or(&[][..], |thrown| &thrown.frames);
    let is_own = |frame: &Frame| own.has(&internal(&frame.class));
    let is_library =
        |frame: &Frame| frame.origin() == FrameOrigin::Program && !is_own(frame) || starts(frame);
    let thrower = stack.iter().position(is_own);
    let drives = |frame: &Frame| is_of(&internal(&frame.class), &driver);
    let driven = stack.iter().rposition(drives);
    let main = main_class(failed.start);
    let is_main = main.is_some_and(|main| is_of(&internal(&main), &driver));
    let is_started = failed.test.is_none() && !is_main;
    match (thrower, driven) {
        (Some(inner), Some(outer)) if inner < outer => {
            match is_started || stack[inner..outer].iter().any(is_library) {
                true => Route::Library,
                false => Route::Direct,
            }
        }
        // The driver is in another thread.
        (Some(_), None) if !is_cut_off(failed) => Route::Library,
        _ => Route::Direct,
    }
}

/// True if a frame is of code that replaces a server in a test.
fn starts(frame: &Frame) -> bool {
    Owner::of_java(&frame.class) == Owner::Mock
}

/// True if a class has mocks, or objects that a framework gives it. The framework may be the program itself, which is
/// a program like others then.
fn is_given_objects(program: &Program, class: &str, own: &OwnCode<'_>) -> bool {
    let Some(bytes) = program.bytes(class) else {
        return false;
    };
    let Ok(class) = ClassFile::parse(&bytes) else {
        return false;
    };
    // Annotations have their types as texts.
    let indices = (1..=u16::MAX).take(class.pool.count());
    let texts = indices.filter_map(|index| class.pool.utf8(index).ok());
    let names = texts.map(|text| text.trim_start_matches(['[', 'L']).to_owned());
    names.into_iter().any(|name| {
        let is_mock = Owner::of(&name) == Owner::Mock && name.contains('/');
        (is_mock || makes_objects(&name)) && !own.has(name.trim_end_matches(';'))
    })
}

/// The borders inside a program, the innermost first: the class that threw, then all of the program's own code
/// but for the driver.
pub fn inner_borders(failed: &Failed<'_>, program: &Program) -> Result<Vec<Border>, Error> {
    let driver = driver_of(failed);
    let own = OwnCode::of(program, failed.start, failed.test);
    let frames = frames_of(failed);
    let mut found = Vec::new();
    let own_frames = frames.iter().filter(|frame| own.has_frame(frame));
    let mut throwers = own_frames.chain(&frames).map(|frame| {
        let name = internal(&frame.class);
        let function = function_class(&name, frame.file.as_deref());
        function.unwrap_or_else(|| outermost(&name)).to_owned()
    });
    let thrower = throwers.next().filter(|_| !failed.signature.is_assertion());
    if let Some(thrower) = thrower.as_ref().filter(|name| !is_of(name, &driver)) {
        let class = thrower.replace('/', ".");
        found.push(Border {
            selection: selection([class.clone(), format!("{class}$*")], &driver),
            class: Some(class),
        });
    }
    let mut entries: BTreeSet<usize> = own.entries().collect();
    // What tests have of their own, such as fakes and base classes, belongs to the outside.
    let of_tests = program.entry_of(&driver).filter(|_| failed.test.is_some());
    let is_subject = |name: &str| program.entry_of(name) == of_tests;
    if let Some(of_tests) = of_tests.filter(|_| entries.len() > 1)
        && !thrower.is_some_and(|name| is_subject(&name))
    {
        entries.remove(&of_tests);
    }
    let mut names = BTreeSet::new();
    for entry in entries {
        names.extend(program.names(entry)?);
    }
    let drives = program.above(&driver);
    names.retain(|name| {
        let is_program = !is_framework(name) && !is_of_language(name);
        is_program && !is_of(name, &driver) && !drives.contains(name)
    });
    // Frameworks make classes of their own in memory.
    if names.iter().any(|name| !makes_objects(name)) {
        names.retain(|name| !makes_objects(name));
    }
    if !names.is_empty() {
        let mut observe = packages(names.iter());
        if failed.signature.is_assertion() {
            observe.extend(asserting(program));
            observe.extend(fluent(program, &driver));
        }
        found.push(Border {
            class: None,
            selection: selection(observe, &driver),
        });
    }
    Ok(found)
}

/// Patterns of the libraries whose assertions, made step by step, a class uses.
fn fluent(program: &Program, class: &str) -> Vec<String> {
    let bytes = program.bytes(class).unwrap_or_default();
    let named = ClassFile::parse(&bytes).and_then(|class| named_classes(&class));
    let named = named.unwrap_or_default();
    let is_used = |package: &&&str| named.iter().any(|name| name.starts_with(**package));
    let used = FLUENT_ASSERTIONS.iter().filter(is_used);
    used.map(|package| format!("{}**", package.replace('/', ".")))
        .collect()
}

fn selection(observe: impl IntoIterator<Item = String>, driver: &str) -> Selection {
    let pattern = |text: String| text.parse::<Pattern>().ok();
    let driver = driver.replace('/', ".");
    let generated = GENERATED.iter().map(|part| format!("**{part}**"));
    let exclude = [driver.clone(), format!("{driver}$*")]
        .into_iter()
        .chain(generated);
    Selection {
        observe: observe.into_iter().filter_map(pattern).collect(),
        exclude: exclude.filter_map(pattern).collect(),
        app: false,
    }
}
