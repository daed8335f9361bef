//! The search for smaller inputs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use culprit_model::script::Action;
use culprit_model::value::Contents;
use culprit_model::{ObjectId, Reference, Tables, Value};
use culprit_reduce::{
    Budget, DeltaSet, Engine, Error as Reduction, Needs, Oracle, Problem, Schedule, Settings,
    Units, Verdict, Wanted,
};

use super::answers::{self, Question};
use super::places::{Place, array, arrays, arrays_again, hand_on, leaves, set_elements};
use super::simpler::{FEW, LETTER, characters, is_plain, is_small, partners, simpler, units};
use crate::{Error, Script, Statement};

/// Whether statements fail as they should.
pub(super) type Fails<'a> = dyn Fn(&[Statement]) -> Result<bool, Error> + Sync + 'a;

/// How long the search goes on.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The most candidates.
    pub(super) tests: u64,
    /// The time of the settings' clock at which it ends.
    pub(super) end: Duration,
    /// What is small already is left alone.
    pub(super) spares_small: bool,
}

/// Literals that are looked at.
const MANY: usize = 1_000;

/// Candidates for one text or array, until it is its turn again. What cannot go now may be able to when
/// something else has become smaller: a buffer, after the length that is asked for.
const AT_ONCE: u64 = 400;

pub(super) struct Shrinker<'a> {
    tables: &'a Tables,
    prelude: usize,
    /// The simplest statements that failed.
    best: Vec<Statement>,
    fails: &'a Fails<'a>,
    settings: &'a Settings,
    limits: Limits,
    tests: AtomicU64,
}

impl<'a> Shrinker<'a> {
    pub(super) fn new(
        script: &'a Script,
        fails: &'a Fails<'a>,
        settings: &'a Settings,
        limits: Limits,
    ) -> Shrinker<'a> {
        Shrinker {
            tables: &script.tables,
            prelude: script.prelude,
            best: script.statements.clone(),
            fails,
            settings,
            limits,
            tests: AtomicU64::new(0),
        }
    }

    /// Tries everything until nothing helps any more.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        loop {
            let changes = [
                self.drop_answers()?,
                self.forget_contents()?,
                self.shorten_arrays()?,
                self.simplify_alike()?,
                self.simplify_each()?,
                self.drop_statements()?,
            ];
            if !changes.contains(&true) || self.is_over() {
                return Ok(());
            }
        }
    }

    /// What is left, and how many candidates were tried.
    pub(super) fn found(self) -> (Vec<Statement>, u64) {
        (self.best, self.tests.into_inner())
    }

    fn is_over(&self) -> bool {
        self.settings.cancel.is_cancelled()
            || self.tests.load(Ordering::Relaxed) >= self.limits.tests
            || self.settings.clock.now() >= self.limits.end
    }

    fn judge(&self, candidate: &[Statement]) -> Result<bool, Error> {
        self.tests.fetch_add(1, Ordering::Relaxed);
        (self.fails)(candidate)
    }

    /// Takes the candidate if it fails; whether it did.
    fn try_out(&mut self, candidate: Vec<Statement>) -> Result<bool, Error> {
        let fails = !self.is_over() && self.judge(&candidate)?;
        if fails {
            self.best = candidate;
        }
        Ok(fails)
    }

    /// Takes out what can go of so many things; whether something did.
    fn reduce(
        &mut self,
        problem: &Problem,
        size: u64,
        with: &(dyn Fn(&DeltaSet) -> Vec<Statement> + Sync),
    ) -> Result<bool, Error> {
        if size == 0 || self.is_over() {
            return Ok(false);
        }
        let tests = self.limits.tests - self.tests.load(Ordering::Relaxed);
        let now = self.settings.clock.now();
        let settings = Settings {
            schedule: Schedule::Splitting,
            budget: Budget {
                tests: Some(tests.min(AT_ONCE)),
                time: Some(self.limits.end.saturating_sub(now)),
            },
            ..self.settings.clone()
        };
        let trial = Trial {
            shrinker: self,
            with,
        };
        match Engine::new(problem, &trial).settings(settings).ddmin() {
            Ok(found) if found.failing.len() < size => {
                self.best = with(&found.failing);
                Ok(true)
            }
            Ok(_) | Err(Reduction::Nothing | Reduction::NotFailing { .. }) => Ok(false),
            Err(Reduction::Oracle { source, .. }) => Err(source),
            Err(error) => Err(Error::Reduction(format!("{error:?}"))),
        }
    }

    fn drop_answers(&mut self) -> Result<bool, Error> {
        let (from, answers) = (self.best.clone(), answers::all(&self.best));
        let size = answers.len() as u64;
        self.reduce(&Problem::new(size), size, &|kept| {
            let is_kept = |answer: &Question| {
                let number = answers.binary_search(answer);
                number.is_ok_and(|number| kept.contains(number as u64))
            };
            answers::keep(&from, &is_kept)
        })
    }

    /// Arrays that are given again have what the program put there, without being told.
    fn forget_contents(&mut self) -> Result<bool, Error> {
        let mut changed = false;
        for place in arrays_again(&self.best, self.prelude) {
            let mut candidate = self.best.clone();
            if let Some(Value::Reference(Reference::Array { contents, .. })) =
                place.get_mut(&mut candidate)
            {
                *contents = Contents::Unknown;
            }
            changed |= self.try_out(candidate)?;
        }
        Ok(changed)
    }

    fn shorten_arrays(&mut self) -> Result<bool, Error> {
        let mut changed = false;
        let mut at = 0;
        while let Some(place) = arrays(&self.best, self.prelude).get(at) {
            at += 1;
            let value = place.get(&self.best);
            let elements = value.and_then(|value| array(value, self.tables));
            let is_spared = |elements: &Vec<Value>| {
                self.limits.spares_small
                    && elements.len() <= FEW
                    && elements.iter().all(|value| is_small(value, self.tables))
            };
            let Some(elements) = elements.filter(|elements| !is_spared(elements)) else {
                continue;
            };
            let from = self.best.clone();
            let size = elements.len() as u64;
            changed |= self.reduce(&Problem::new(size), size, &|kept| {
                let kept = kept.iter().map(|at| elements[at as usize].clone());
                let mut candidate = from.clone();
                set_elements(place, &mut candidate, kept.collect());
                candidate
            })?;
            changed |= self.simplify_elements(place)?;
        }
        Ok(changed)
    }

    /// Makes all elements of an array as simple as can be, at once.
    fn simplify_elements(&mut self, place: &Place) -> Result<bool, Error> {
        let value = place.get(&self.best);
        let Some(elements) = value.and_then(|value| array(value, self.tables)) else {
            return Ok(false);
        };
        let simplest = |value: &Value| simpler(value).into_iter().next();
        let simple = elements
            .iter()
            .map(|value| simplest(value).unwrap_or_else(|| value.clone()));
        let simple: Vec<Value> = simple.collect();
        if simple == elements {
            return Ok(false);
        }
        let mut candidate = self.best.clone();
        set_elements(place, &mut candidate, simple);
        self.try_out(candidate)
    }

    /// Equal literals may have to stay equal: a key that is put in and looked up.
    fn simplify_alike(&mut self) -> Result<bool, Error> {
        let mut groups: Vec<(Value, Vec<Place>)> = Vec::new();
        for place in leaves(&self.best, self.prelude).into_iter().take(MANY) {
            let Some(value) = place.get(&self.best) else {
                continue;
            };
            match groups.iter_mut().find(|(known, _)| known == value) {
                Some((_, places)) => places.push(place),
                None => groups.push((value.clone(), vec![place])),
            }
        }
        let mut changed = false;
        for (_, places) in groups.iter().filter(|(_, places)| places.len() > 1) {
            changed |= self.simplify(places)?;
        }
        Ok(changed)
    }

    fn simplify_each(&mut self) -> Result<bool, Error> {
        let mut changed = false;
        for place in leaves(&self.best, self.prelude).into_iter().take(MANY) {
            changed |= self.simplify(&[place])?;
        }
        Ok(changed)
    }

    /// Simplifies a literal that is at all of the places.
    fn simplify(&mut self, places: &[Place]) -> Result<bool, Error> {
        let value = places.first().and_then(|place| place.get(&self.best));
        let is_spared = |value: &&Value| self.limits.spares_small && is_small(value, self.tables);
        let value = value.filter(|value| !is_spared(value));
        let Some(mut value) = value.cloned() else {
            return Ok(false);
        };
        if let Some(units) = units(&value, self.tables) {
            return Ok(self.shorten(places, &units)? | self.plain(places)?);
        }
        let mut changed = false;
        'next: loop {
            for simpler in simpler(&value) {
                if self.try_out(with(&self.best, places, &simpler))? {
                    (changed, value) = (true, simpler);
                    continue 'next;
                }
            }
            return Ok(changed);
        }
    }

    /// Takes lines, words and characters out of a text.
    fn shorten(&mut self, places: &[Place], text: &[u16]) -> Result<bool, Error> {
        let (from, characters) = (self.best.clone(), characters(text));
        let size = characters.len() as u64;
        let levels = [b'\n', b' '].map(|end| groups(&characters, end.into()));
        let needs = Needs::graph(size as u32, partners(&characters));
        let problem = Problem::new(size).levels(levels).needs(needs);
        self.reduce(&problem, size, &|kept| {
            let kept = kept.iter().map(|at| characters[at as usize]);
            let text: Vec<u16> = kept.flatten().copied().collect();
            with(&from, places, &Value::Reference(Reference::String(text)))
        })
    }

    /// Puts a letter for characters of a text that are hard to read.
    fn plain(&mut self, places: &[Place]) -> Result<bool, Error> {
        let mut changed = false;
        let mut at = 0;
        loop {
            let value = places.first().and_then(|place| place.get(&self.best));
            let Some(text) = value.and_then(|value| units(value, self.tables)) else {
                return Ok(changed);
            };
            let mut characters = characters(&text);
            let Some(hard) = characters.iter().skip(at).position(|it| !is_plain(it)) else {
                return Ok(changed);
            };
            at += hard;
            characters[at] = &[LETTER];
            at += 1;
            let text = Value::Reference(Reference::String(characters.concat()));
            changed |= self.try_out(with(&self.best, places, &text))?;
        }
    }

    /// Takes out statements that only the larger inputs needed.
    fn drop_statements(&mut self) -> Result<bool, Error> {
        let mut changed = false;
        let last = self.best.len().saturating_sub(1);
        for at in (self.prelude..last).rev() {
            let statement = &self.best[at];
            // A condition stays: it is for other versions of the program.
            if statement.is_guard() || matches!(statement.action, Action::Expect(_)) {
                continue;
            }
            let made = statement.defines();
            let made = made.filter(|id| !statement.uses().contains(id));
            let rest = &self.best[at + 1..];
            if made.is_some_and(|id| rest.iter().any(|other| mentions(other, id))) {
                continue;
            }
            let mut candidate = self.best.clone();
            let gone = candidate.remove(at);
            hand_on(&gone, &mut candidate[at..]);
            changed |= self.try_out(candidate)?;
        }
        Ok(changed)
    }
}

/// The statements with another literal at some places.
fn with(statements: &[Statement], places: &[Place], value: &Value) -> Vec<Statement> {
    let mut changed = statements.to_vec();
    for place in places {
        place.set(&mut changed, value.clone());
    }
    changed
}

/// Characters up to and with each that ends a group.
fn groups(characters: &[&[u16]], end: u16) -> Units {
    let mut from = 0;
    let groups = characters.split_inclusive(|it| **it == [end]).map(|group| {
        let range = from..from + group.len() as u64;
        from = range.end;
        DeltaSet::from(range)
    });
    Units::groups(groups.collect::<Vec<_>>())
}

fn mentions(statement: &Statement, id: ObjectId) -> bool {
    let mut found = false;
    for value in statement.values() {
        value.each_reference(&mut |reference| match reference {
            Reference::Object { id: of, .. } | Reference::Array { id: of, .. } => {
                found |= *of == id;
            }
            _ => {}
        });
    }
    found
}

/// Judges what is left of some things.
struct Trial<'a> {
    shrinker: &'a Shrinker<'a>,
    with: &'a (dyn Fn(&DeltaSet) -> Vec<Statement> + Sync),
}

impl Oracle for Trial<'_> {
    type Detail = ();
    type Error = Error;

    fn judge(&self, kept: &DeltaSet, _: &Wanted<'_>) -> Result<Verdict<()>, Error> {
        Ok(match self.shrinker.judge(&(self.with)(kept))? {
            true => Verdict::Fail(()),
            false => Verdict::Pass,
        })
    }
}
