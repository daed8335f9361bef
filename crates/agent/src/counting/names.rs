//! The numbers of what is counted, what is known of the classes behind them, and how counts
//! become the coupling of a program.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

use culprit_classfile::ClassFile;
use culprit_model::observe::{ClassOrigin, is_jdk_name};
use culprit_trace::{CoupledClass, Coupling, Edge};
use culprit_weave::coupling::{CouplingCount, Numbers};

use super::cells::{CellIndex, MOST_CLASSES};
use crate::lock::LockSafe;

/// The meaning of a number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum CountedName {
    /// Code that is not counted, and classes beyond the last number.
    Others,
    Class(String),
    /// A field that the class named by the code inherits from nobody knows yet.
    Field(String, String),
    /// Live library code.
    Live,
}

/// What a class file says.
#[derive(Default, Debug)]
pub(super) struct Outline {
    pub(super) methods: u32,
    pub(super) fields: HashSet<String>,
    /// The superclass first.
    pub(super) supertypes: Vec<String>,
    pub(super) program: bool,
}

impl Outline {
    pub(super) fn of(
        class: &ClassFile,
        program: bool,
    ) -> Result<Outline, culprit_classfile::Error> {
        let mut outline = Outline {
            methods: class.methods.len() as u32,
            program,
            ..Outline::default()
        };
        for field in &class.fields {
            let name = class.pool.utf8(field.name)?.into_owned();
            outline.fields.insert(name);
        }
        let superclass = class.super_name()?;
        for name in superclass.into_iter().chain(class.interface_names()?) {
            outline.supertypes.push(name.into_owned());
        }
        Ok(outline)
    }
}

#[derive(Debug)]
struct KnownNames {
    numbers: HashMap<CountedName, u32>,
    names: Vec<CountedName>,
    outlines: HashMap<String, Outline>,
}

impl KnownNames {
    fn number(&mut self, named: CountedName) -> u32 {
        if let Some(number) = self.numbers.get(&named) {
            return *number;
        }
        let number = self.names.len() as u32;
        if number >= MOST_CLASSES {
            return 0;
        }
        self.names.push(named.clone());
        self.numbers.insert(named, number);
        number
    }

    /// The class that declares a field, looked for from `owner` upwards as far as it is known.
    fn declaring(&self, owner: &str, field: &str) -> Option<&str> {
        let (name, outline) = self.outlines.get_key_value(owner)?;
        if outline.fields.contains(field) {
            return Some(name);
        }
        outline
            .supertypes
            .iter()
            .find_map(|supertype| self.declaring(supertype, field))
    }
}

#[derive(Debug)]
pub(super) struct CountedNames(Mutex<KnownNames>);

impl Default for CountedNames {
    fn default() -> CountedNames {
        CountedNames(Mutex::new(KnownNames {
            numbers: HashMap::new(),
            names: vec![CountedName::Others],
            outlines: HashMap::new(),
        }))
    }
}

impl Numbers for CountedNames {
    fn class(&self, name: &str) -> u32 {
        self.0
            .lock_safe()
            .number(CountedName::Class(name.to_owned()))
    }

    fn field(&self, owner: &str, name: &str) -> u32 {
        let mut known = self.0.lock_safe();
        let named = match known.declaring(owner, name) {
            Some(class) => CountedName::Class(class.to_owned()),
            None if is_jdk_name(owner) => CountedName::Class(owner.to_owned()),
            None => CountedName::Field(owner.to_owned(), name.to_owned()),
        };
        known.number(named)
    }

    fn live(&self) -> u32 {
        self.0.lock_safe().number(CountedName::Live)
    }
}

impl CountedNames {
    /// Notes what a class says; before it is woven, so that it finds itself.
    pub(super) fn outline(&self, name: &str, outline: Outline) {
        self.0.lock_safe().outlines.insert(name.to_owned(), outline);
    }

    /// What the counts mean.
    pub(super) fn coupling(&self, counts: &[(CellIndex, u64)], time_ms: u64) -> Coupling {
        let known = self.0.lock_safe();
        let mut made = Making {
            known: &known,
            coupling: Coupling {
                time_ms,
                ..Coupling::default()
            },
            numbers: BTreeMap::new(),
        };
        let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
        for &((row, column), count) in counts {
            let from = made.class(column);
            if known.names.get((row >> 2) as usize) == Some(&CountedName::Live) {
                if let Some(class) = from.checked_sub(1) {
                    if let Some(class) = made.coupling.classes.get_mut(class) {
                        class.live_calls += count;
                    }
                }
                continue;
            }
            let to = made.class(row >> 2);
            let edge = edges.entry((from, to)).or_insert(Edge {
                from,
                to,
                ..Edge::default()
            });
            match CouplingCount::of_row(row) {
                CouplingCount::Calls => edge.calls += count,
                CouplingCount::Constructions => edge.constructions += count,
                CouplingCount::Arrays => edge.arrays += count,
                CouplingCount::Accesses => edge.accesses += count,
            }
        }
        made.coupling.edges = edges.into_values().collect();
        made.coupling
    }
}

/// A coupling under construction.
struct Making<'a> {
    known: &'a KnownNames,
    coupling: Coupling,
    /// Numbers in the coupling by class.
    numbers: BTreeMap<String, usize>,
}

impl Making<'_> {
    /// The number in the coupling of what has this number in the table.
    fn class(&mut self, number: u32) -> usize {
        let name = match self.known.names.get(number as usize) {
            Some(CountedName::Class(name)) => name.as_str(),
            Some(CountedName::Field(owner, field)) => {
                self.known.declaring(owner, field).unwrap_or(owner)
            }
            _ => return 0,
        };
        self.named(name)
    }

    /// The number of a class. Its supertypes are there too, with or without code that runs: who
    /// observes them observes it.
    fn named(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let outline = self.known.outlines.get(name);
        self.coupling.classes.push(CoupledClass {
            name: name.replace('/', "."),
            origin: match outline {
                Some(outline) if outline.program => ClassOrigin::Program,
                None if is_jdk_name(name) => ClassOrigin::Jdk,
                _ => ClassOrigin::Library,
            },
            methods: outline.map_or(0, |o| o.methods),
            live_calls: 0,
            supertypes: outline
                .map(|o| o.supertypes.iter().map(|s| s.replace('/', ".")).collect())
                .unwrap_or_default(),
        });
        let number = self.coupling.classes.len();
        self.numbers.insert(name.to_owned(), number);
        let known = self.known;
        for supertype in outline.iter().flat_map(|o| &o.supertypes) {
            if known.outlines.contains_key(supertype) {
                self.named(supertype);
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(fields: &[&str], supertypes: &[&str], program: bool) -> Outline {
        Outline {
            methods: 3,
            fields: fields.iter().map(|&f| f.to_owned()).collect(),
            supertypes: supertypes.iter().map(|&s| s.to_owned()).collect(),
            program,
        }
    }

    #[test]
    fn an_inherited_field_is_counted_for_the_class_that_turns_out_to_declare_it() {
        let names = CountedNames::default();
        let (user, early) = (names.class("a/User"), names.field("a/Sub", "f"));
        names.outline("a/Sub", outline(&[], &["a/Base"], true));
        names.outline("a/Base", outline(&["f"], &["java/lang/Object"], false));
        let late = names.field("a/Sub", "f");
        assert_ne!(early, late);
        let access = |number: u32| ((number << 2 | CouplingCount::Accesses as u32, user), 5);
        let coupling = names.coupling(&[access(early), access(late)], 7);
        let edge = coupling.edges[0];
        assert_eq!((coupling.edges.len(), edge.accesses), (1, 10));
        let base = &coupling.classes[edge.to - 1];
        assert_eq!(
            (base.name.as_str(), base.origin),
            ("a.Base", ClassOrigin::Library)
        );
    }

    #[test]
    fn supertypes_are_there_even_if_nothing_of_theirs_runs() {
        let names = CountedNames::default();
        let class = names.class("a/B");
        names.outline("a/B", outline(&[], &["java/lang/Object", "lib/I"], true));
        names.outline("lib/I", outline(&[], &["java/lang/Object", "lib/J"], false));
        names.outline("lib/J", outline(&[], &["java/lang/Object"], false));
        let coupling = names.coupling(&[((class << 2, 0), 1)], 1);
        let found: Vec<&str> = coupling.classes.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(found, ["a.B", "lib.I", "lib.J"]);
    }

    #[test]
    fn live_calls_belong_to_the_caller_and_unknown_callers_are_others() {
        let names = CountedNames::default();
        let class = names.class("a/B");
        names.outline("a/B", outline(&[], &[], true));
        let counts = [((names.live() << 2, class), 9), ((class << 2 | 1, 0), 2)];
        let coupling = names.coupling(&counts, 1);
        assert_eq!(coupling.classes[0].live_calls, 9);
        assert_eq!(coupling.classes[0].origin, ClassOrigin::Program);
        let expect = Edge {
            from: 0,
            to: 1,
            constructions: 2,
            ..Edge::default()
        };
        assert_eq!(coupling.edges, [expect]);
    }

    #[test]
    fn classes_beyond_the_last_number_are_others() {
        let names = CountedNames::default();
        let numbers: Vec<u32> = (0..MOST_CLASSES)
            .map(|i| names.class(&i.to_string()))
            .collect();
        assert_eq!(numbers[0], 1);
        assert_eq!(numbers.last(), Some(&0));
    }
}
