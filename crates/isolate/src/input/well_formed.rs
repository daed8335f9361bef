//! The requirement on candidates of a known language: they stay well-formed, as the input is.
//!
//! A test that only says yes or no takes an input that no longer compiles for one that passes. For such a test
//! candidates also keep to the names of the input, whole ones, and declare those that they use.

use std::path::{Path, PathBuf};

use super::material::Material;
use super::vocabulary::Vocabulary;
use crate::Language;

/// The flaw of a candidate that is not tested because its language cannot read it.
const ILL_FORMED: &str = "is not well-formed";

/// The files of a candidate that must stay well-formed.
#[derive(Default)]
pub(crate) struct WellFormed(Vec<FileForm>);

struct FileForm {
    path: PathBuf,
    language: Language,
    vocabulary: Option<Vocabulary>,
}

impl WellFormed {
    /// The requirement on one file.
    pub(crate) fn file(path: &Path, language: Language) -> WellFormed {
        let mut form = WellFormed::default();
        form.add(path, language, None);
        form
    }

    /// Adds a file, with the names that it may have if they are to be kept.
    pub(crate) fn add(&mut self, path: &Path, language: Language, vocabulary: Option<Vocabulary>) {
        self.0.push(FileForm {
            path: path.to_owned(),
            language,
            vocabulary,
        });
    }

    /// The reason why a candidate need not be tested, if there is one.
    pub(crate) fn flaw(&self, candidate: &Material) -> Option<&'static str> {
        let is_fit = |file: &FileForm| {
            let Some(index) = candidate.find(&file.path) else {
                return true;
            };
            let bytes = candidate.items[index].bytes();
            let knows = |vocabulary: &Vocabulary| vocabulary.allows(bytes, file.language);
            file.language.reads(bytes) && file.vocabulary.as_ref().is_none_or(knows)
        };
        (!self.0.iter().all(is_fit)).then_some(ILL_FORMED)
    }
}
