//! The evidence behind a pair: what the verdict on its passing side can tell, and what it cannot.

use super::material::{Item, Material};
use super::session::Syntax;
use crate::{Convention, How, Language, Rule};

/// Facts about the passing side of a pair, besides its verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evidence {
    pub answer: PassAnswer,
    pub form: PairForm,
}

/// The meaning of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassAnswer {
    /// The test says that it passes.
    Passes,
    /// A script finds it not interesting: it may pass, or fail in another way.
    NotInteresting,
    /// The sign of the failure does not show, and the run ended like this. `None` if there was no time to run it.
    NoSign(Option<How>),
}

impl PassAnswer {
    /// True if the passing side may fail in another way.
    pub fn is_doubtful(self) -> bool {
        match self {
            PassAnswer::Passes => false,
            PassAnswer::NotInteresting => true,
            PassAnswer::NoSign(how) => how.and_then(How::code) != Some(0),
        }
    }
}

/// The syntax of the files in which both sides differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PairForm {
    /// The language is not known, or the failing side is not well-formed either.
    Unknown,
    /// Both sides are well-formed.
    WellFormed(Language),
    /// Only the failing side is.
    Broken(Language),
}

impl PairForm {
    pub(crate) fn of(old: &Material, new: &Material, syntax: Syntax) -> PairForm {
        let mut form = PairForm::Unknown;
        for (path, old, new) in old.beside(new).filter(|(_, old, new)| old != new) {
            let bytes = new.map_or(&[][..], Item::bytes);
            let language = syntax.language(path, bytes);
            let Some(language) = language.filter(|language| language.reads(bytes)) else {
                return PairForm::Unknown;
            };
            form = match old {
                Some(old) if !language.reads(old.bytes()) => return PairForm::Broken(language),
                _ => PairForm::WellFormed(language),
            };
        }
        form
    }
}

impl Rule {
    /// What it means that the rule takes a run for a pass, which ended like this.
    pub(crate) fn pass_answer(&self, how: Option<How>) -> PassAnswer {
        match self.convention {
            _ if self.tells_pass() => PassAnswer::Passes,
            Convention::Interesting if self.signs.is_empty() => PassAnswer::NotInteresting,
            _ => PassAnswer::NoSign(how),
        }
    }
}
