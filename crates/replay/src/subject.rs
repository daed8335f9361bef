//! The program of a recording, as a worker needs it: the classes with code, outlines of the
//! others, and how to weave them as they were woven.

use culprit_model::observe::ClassOrigin;
use culprit_model::options::{RecordOptions, WeaveOptions};
use culprit_model::{Pattern, Selection};
use culprit_trace::{Recording, SALT_NOTE};
use culprit_wire::{ClassKind, Loader, Subject, SubjectClass};

use crate::Error;

/// The program of a recording.
pub fn subject(recording: &Recording) -> Result<Subject, Error> {
    let mut subject = Subject {
        options: options(recording)?.to_string(),
        loaders: loaders(recording),
        class_path: Vec::new(),
        classes: Vec::new(),
    };
    for class in recording.classes() {
        subject.classes.push(SubjectClass {
            name: class.name.clone(),
            loader: class.loader,
            kind: match class.outline {
                true => ClassKind::Outline,
                false => ClassKind::Observed,
            },
            bytes: recording.class_bytes(class)?,
        });
    }
    Ok(subject)
}

fn loaders(recording: &Recording) -> Vec<Loader> {
    let loaders = recording.loaders().iter();
    loaders
        .map(|loader| Loader {
            number: loader.id,
            class: loader.class.clone(),
            name: loader.name.clone(),
        })
        .collect()
}

/// Options by which exactly the classes are observed that were: how they were chosen does not
/// matter any more, and neither does what else was to be recorded.
fn options(recording: &Recording) -> Result<WeaveOptions, Error> {
    let recorded = RecordOptions::of_recording(&recording.start().options)?.weave;
    let mut names: Vec<&str> = recording
        .classes()
        .iter()
        .filter(|class| class.observed)
        .map(|class| class.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(WeaveOptions {
        selection: Selection {
            observe: names.into_iter().filter_map(exactly).collect(),
            // Subclasses of observed classes are observed unless they are excluded.
            exclude: recorded.selection.exclude,
            ..Selection::default()
        },
        arrays: recorded.arrays,
        salt: salt(recording),
    })
}

/// The observed classes of a recording that are observed still by a narrower selection, each by its
/// name: a pattern may match others as well, of which the recording has no code.
pub fn narrower(recording: &Recording, selection: &Selection) -> Selection {
    let observed = recording.classes().iter().filter(|class| class.observed);
    let names = observed.map(|class| class.name.as_str());
    let mut kept: Vec<&str> = names
        .filter(|name| selection.selects(name, ClassOrigin::Program))
        .collect();
    kept.sort_unstable();
    kept.dedup();
    Selection {
        observe: kept.into_iter().filter_map(exactly).collect(),
        exclude: selection.exclude.clone(),
        app: false,
    }
}

/// What the recorded JVM made up for the order of immutable sets and maps.
pub(crate) fn salt(recording: &Recording) -> Option<i64> {
    let mut notes = recording.start().notes.iter();
    let (_, salt) = notes.find(|(name, _)| name == SALT_NOTE)?;
    salt.parse().ok()
}

/// The pattern that matches a class. Names made by other languages may have characters that no
/// pattern can have: there it matches whatever stands in their place.
pub(crate) fn exactly(name: &str) -> Option<Pattern> {
    let plain = name.replace(|c: char| !c.is_alphanumeric() && !"/_$-".contains(c), "*");
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_pattern() {
        for name in ["com/acme/Order$Line", "A", "x/it's <odd>", "p/Größe"] {
            let pattern = exactly(name).unwrap();
            assert!(pattern.matches(name), "{name}");
        }
        assert!(!exactly("a/B").unwrap().matches("a/BC"));
    }
}
