//! The search for smaller inputs: the oracle *values* of the driver.

use culprit_model::script::Action;
use culprit_model::value::Contents;
use culprit_model::{ObjectId, Reference, Tables, Value};
use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, DeltaSet, Digester, Driver, Error as Reduction, Goal, Needs,
    Problem, Scale, Schedule, Search, Units, Verdict, Wanted,
};

use super::answers::{self, Question};
use super::places::{ValuePosition, array, arrays, arrays_again, hand_on, leaves, set_elements};
use super::simpler::{FEW, LETTER, characters, is_plain, is_small, partners, simpler, units};
use crate::{Error, Script, Statement};

/// The name of the search for values, in events.
pub const VALUES: &str = "values";

/// Whether statements fail as they should.
pub(super) type Fails<'a> = dyn Fn(&[Statement]) -> Result<bool, Error> + Sync + 'a;

/// Literals that are looked at.
const MANY: usize = 1_000;

/// Candidates for one text or array, until it is its turn again. What cannot go now may be able to when
/// something else has become smaller: a buffer, after the length that is asked for.
const AT_ONCE: Budget = Budget {
    tests: Some(400),
    time: None,
};

/// The oracle: runs of the same calls with other values.
pub(super) struct Oracle<'a> {
    pub(super) fails: &'a Fails<'a>,
    /// Everything that verdicts depend on besides the statements.
    pub(super) key: String,
}

impl Oracle<'_> {
    fn artefact(&self, statements: Vec<Statement>) -> Artefact<Vec<Statement>> {
        let mut digester = Digester::default();
        digester.field(VALUES.as_bytes());
        digester.field(self.key.as_bytes());
        for statement in &statements {
            digester.field(format!("{statement:?}").as_bytes());
        }
        Artefact {
            digest: digester.finish(),
            size: statements.len() as u64,
            content: Ok(statements),
        }
    }

    fn judge(&self, statements: &[Statement]) -> Result<Verdict<String>, Error> {
        Ok(match (self.fails)(statements)? {
            true => Verdict::Fail(String::new()),
            false => Verdict::Pass,
        })
    }
}

pub(super) struct Shrinker<'a> {
    tables: &'a Tables,
    prelude: usize,
    /// The simplest statements that failed.
    best: Vec<Statement>,
    oracle: &'a Oracle<'a>,
    driver: &'a Driver<'a>,
    scale: Scale,
    /// Whether small values are left alone.
    spares_small: bool,
    /// Whether all statements stay.
    keeps_statements: bool,
}

impl<'a> Shrinker<'a> {
    pub(super) fn new(
        script: &'a Script,
        oracle: &'a Oracle<'a>,
        driver: &'a Driver<'a>,
    ) -> Shrinker<'a> {
        let size = script.statements.len() as u64;
        Shrinker {
            tables: &script.tables,
            prelude: script.prelude,
            best: script.statements.clone(),
            oracle,
            driver,
            scale: Scale {
                whole: size,
                best: size,
                extent: 1.0,
            },
            spares_small: false,
            keeps_statements: false,
        }
    }

    /// Leaves small values alone.
    pub(super) fn sparing_small(self) -> Shrinker<'a> {
        Shrinker {
            spares_small: true,
            ..self
        }
    }

    /// Keeps all statements.
    pub(super) fn keeping_statements(self) -> Shrinker<'a> {
        Shrinker {
            keeps_statements: true,
            ..self
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
            if !changes.contains(&true) || self.driver.is_over() {
                return Ok(());
            }
        }
    }

    /// The simplest statements that failed.
    pub(super) fn found(self) -> Vec<Statement> {
        self.best
    }

    /// Takes the candidate if it fails; whether it did.
    fn try_out(&mut self, candidate: Vec<Statement>) -> Result<bool, Error> {
        let artefact = self.oracle.artefact(candidate);
        let judge = |statements: &Vec<Statement>, _: &Wanted<'_>| self.oracle.judge(statements);
        let verdict = self.driver.test(VALUES, &artefact, self.scale, judge)?;
        match (verdict, artefact.content) {
            (Some(Verdict::Fail(_)), Ok(candidate)) => {
                self.best = candidate;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes out what can go of so many things; whether something did.
    fn reduce(
        &mut self,
        problem: Problem,
        size: u64,
        with: &(dyn Fn(&DeltaSet) -> Vec<Statement> + Sync),
    ) -> Result<bool, Error> {
        if size == 0 {
            return Ok(false);
        }
        let search = Search {
            name: VALUES,
            problem,
            goal: Goal::Simplify,
            schedule: Schedule::Splitting,
            scale: self.scale,
            is_sequential: false,
            learn: None,
        };
        let parts = ValueCandidates {
            oracle: self.oracle,
            with,
        };
        let found = (self.driver).within(AT_ONCE, || self.driver.search(search, &parts));
        match found {
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
        self.reduce(Problem::new(size), size, &|kept| {
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
                self.spares_small
                    && elements.len() <= FEW
                    && elements.iter().all(|value| is_small(value, self.tables))
            };
            let Some(elements) = elements.filter(|elements| !is_spared(elements)) else {
                continue;
            };
            let from = self.best.clone();
            let size = elements.len() as u64;
            changed |= self.reduce(Problem::new(size), size, &|kept| {
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
    fn simplify_elements(&mut self, place: &ValuePosition) -> Result<bool, Error> {
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
        let mut groups: Vec<(Value, Vec<ValuePosition>)> = Vec::new();
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
    fn simplify(&mut self, places: &[ValuePosition]) -> Result<bool, Error> {
        let value = places.first().and_then(|place| place.get(&self.best));
        let is_spared = |value: &&Value| self.spares_small && is_small(value, self.tables);
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
    fn shorten(&mut self, places: &[ValuePosition], text: &[u16]) -> Result<bool, Error> {
        let (from, characters) = (self.best.clone(), characters(text));
        let size = characters.len() as u64;
        let levels = [b'\n', b' '].map(|end| groups(&characters, end.into()));
        let needs = Needs::graph(size as u32, partners(&characters));
        let problem = Problem::new(size).levels(levels).needs(needs);
        self.reduce(problem, size, &|kept| {
            let kept = kept.iter().map(|at| characters[at as usize]);
            let text: Vec<u16> = kept.flatten().copied().collect();
            with(&from, places, &Value::Reference(Reference::String(text)))
        })
    }

    /// Puts a letter for characters of a text that are hard to read.
    fn plain(&mut self, places: &[ValuePosition]) -> Result<bool, Error> {
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
        if self.keeps_statements {
            return Ok(changed);
        }
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
pub(super) fn with(
    statements: &[Statement],
    places: &[ValuePosition],
    value: &Value,
) -> Vec<Statement> {
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

/// Candidates that are parts of one value.
struct ValueCandidates<'a> {
    oracle: &'a Oracle<'a>,
    with: &'a (dyn Fn(&DeltaSet) -> Vec<Statement> + Sync),
}

impl ArtefactOracle for ValueCandidates<'_> {
    type Content = Vec<Statement>;
    type Error = Error;

    fn make(&self, kept: &DeltaSet) -> Result<Artefact<Vec<Statement>>, Error> {
        Ok(self.oracle.artefact((self.with)(kept)))
    }

    fn judge(&self, statements: &Vec<Statement>, _: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        self.oracle.judge(statements)
    }
}
