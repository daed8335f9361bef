//! A slice as lines of the program, each with the lines that it depended on.
//!
//! Instructions of one line are one entry, and so are all their executions. Code that is not shown, such as that of
//! libraries, is passed through: a line depends on the lines that were given to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::graph::{Dependence, NodeId, Origin};
use crate::program::{Place, Role};
use crate::replay::Replayed;
use crate::slice::Criterion;

/// The direction of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceDirection {
    /// To everything that the criterion depended on.
    Backward,
    /// To everything that depended on the criterion.
    Forward,
}

/// The lines of a slice.
#[derive(Clone, PartialEq, Debug)]
pub struct LineSlice {
    /// Statements of the script first, then lines by class and number.
    pub lines: Vec<SlicedLine>,
    /// The lines that the criterion itself is in; where it is in code that is not shown, those that it depended on.
    pub criterion: BTreeSet<usize>,
    /// Lines that ran, whether they are in the slice or not.
    pub lines_run: usize,
}

/// A line of a slice.
#[derive(Clone, PartialEq, Debug)]
pub struct SlicedLine {
    pub origin: LineOrigin,
    pub depends: Vec<LineDependence>,
}

/// The origin of a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LineOrigin {
    /// A statement of the script, by its number.
    Statement(u32),
    /// A line of a method. The `pc` of the place is that of the first instruction in the slice.
    Line(Place),
}

/// A dependence of a line on another one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineDependence {
    pub how: How,
    /// The number of the other line in the slice.
    pub on: usize,
}

/// The way in which a line depended on another one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum How {
    /// It used a variable that was assigned there.
    Variable(String),
    /// It read a field that was written there.
    Field(String),
    /// It read a static field that was written there.
    Static(String),
    /// It read an element that was written there.
    Element,
    /// It used the result of a method, which ended there.
    Result(String),
    /// It used a value that was computed there.
    Value,
    /// It reached into an object from there.
    Object,
    /// It was given an exception from there.
    Exception,
    /// It ran because of a branch there.
    Branch,
    /// It ran because of a call there.
    Call,
    /// It depended on the other line through code that is not shown.
    Library,
}

impl How {
    /// The way in which an instruction depended on another one, by the role of the other one.
    pub fn of(kind: Dependence, role: &Role) -> How {
        match (kind, role) {
            (Dependence::Control, Role::Branch) => How::Branch,
            (Dependence::Control, Role::Call(_)) => How::Call,
            (Dependence::Control | Dependence::Exception, _) => How::Exception,
            (Dependence::Field | Dependence::Library, Role::Field(name)) => {
                How::Field(name.clone())
            }
            (Dependence::Static | Dependence::Library, Role::Static(name)) => {
                How::Static(name.clone())
            }
            (Dependence::Element, _) => How::Element,
            (Dependence::Return, Role::Return(name)) => How::Result(name.clone()),
            (Dependence::Value | Dependence::Return, Role::Call(name)) if !name.is_empty() => {
                How::Result(name.clone())
            }
            (Dependence::Value | Dependence::Base, Role::Variable(Some(name))) => {
                How::Variable(name.clone())
            }
            (Dependence::Base, _) => How::Object,
            (Dependence::Library, _) => How::Library,
            _ => How::Value,
        }
    }
}

impl Replayed {
    /// The lines of a slice. `is_shown` admits the code whose lines count.
    pub fn line_slice(
        &self,
        criterion: &Criterion,
        direction: SliceDirection,
        is_shown: &dyn Fn(&Place) -> bool,
    ) -> LineSlice {
        let lines = Lines::of(self, is_shown);
        let slice = match direction {
            SliceDirection::Backward => self.backward(criterion),
            SliceDirection::Forward => self.forward(criterion),
        };
        let mut found: BTreeMap<LineKey, BTreeSet<(How, LineKey)>> = BTreeMap::new();
        let mut sets = LineSets::default();
        // For a node that is not shown, the set of lines that it depended on.
        let mut behind: HashMap<NodeId, u32> = HashMap::new();
        let mut is_in = vec![false; self.graph.len()];
        for node in &slice.nodes {
            is_in[node.0 as usize] = true;
        }
        for node in &slice.nodes {
            let line = lines.key(self, *node);
            let mut set = LineSets::EMPTY;
            for (parent, kind) in self.graph.parents(*node) {
                if !is_in[parent.0 as usize] {
                    continue;
                }
                match (line, lines.key(self, parent)) {
                    (Some(line), Some(on)) => {
                        let how = lines.how(self, parent, kind);
                        found.entry(line).or_default().insert((how, on));
                    }
                    (Some(line), None) => {
                        let through = behind.get(&parent).copied().unwrap_or(LineSets::EMPTY);
                        let known = found.entry(line).or_default();
                        known.extend(sets.get(through).iter().map(|on| (How::Library, *on)));
                    }
                    (None, Some(on)) => set = sets.with(set, on),
                    (None, None) => {
                        let through = behind.get(&parent).copied().unwrap_or(LineSets::EMPTY);
                        set = sets.union(set, through);
                    }
                }
            }
            match line {
                Some(line) => drop(found.entry(line).or_default()),
                None => drop(behind.insert(*node, set)),
            }
        }
        let mut criterion_lines: BTreeSet<LineKey> = BTreeSet::new();
        for node in self.nodes(criterion) {
            match lines.key(self, node) {
                Some(line) => drop(criterion_lines.insert(line)),
                None => {
                    let set = behind.get(&node).copied().unwrap_or(LineSets::EMPTY);
                    criterion_lines.extend(sets.get(set));
                }
            }
        }
        lines.slice(self, found, &criterion_lines)
    }
}

/// A line: a statement of the script, or a line of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum LineKey {
    Statement(u32),
    /// The first instruction of the line that was seen.
    Line(u32),
}

/// The lines of the instructions that ran.
struct Lines {
    /// By instruction; none for code that is not shown.
    keys: HashMap<u32, Option<LineKey>>,
    roles: HashMap<u32, Role>,
    run: usize,
}

impl Lines {
    fn of(run: &Replayed, is_shown: &dyn Fn(&Place) -> bool) -> Lines {
        let mut numbers: BTreeSet<u32> = BTreeSet::new();
        for node in run.graph.nodes() {
            if let Origin::Instruction(number) = run.graph.origin(node) {
                numbers.insert(number);
            }
        }
        let mut first: HashMap<Place, u32> = HashMap::new();
        let mut lines = Lines {
            keys: HashMap::new(),
            roles: HashMap::new(),
            run: 0,
        };
        for number in numbers {
            let place = run.program.place(number).filter(|it| is_shown(it));
            let key = place.map(|place| {
                let line = Place { pc: 0, ..place };
                LineKey::Line(*first.entry(line).or_insert(number))
            });
            if key.is_some() {
                lines.roles.insert(number, run.program.role(number));
            }
            lines.keys.insert(number, key);
        }
        lines.run = first.len();
        lines
    }

    fn key(&self, run: &Replayed, node: NodeId) -> Option<LineKey> {
        match run.graph.origin(node) {
            Origin::Statement(number) => Some(LineKey::Statement(number)),
            Origin::Instruction(number) => self.keys.get(&number).copied().flatten(),
        }
    }

    fn how(&self, run: &Replayed, on: NodeId, kind: Dependence) -> How {
        let role = match run.graph.origin(on) {
            Origin::Instruction(number) => self.roles.get(&number).unwrap_or(&Role::Value),
            // A statement calls, and gives values.
            Origin::Statement(_) => &Role::Call(String::new()),
        };
        How::of(kind, role)
    }

    /// The slice of the lines that were found.
    fn slice(
        &self,
        run: &Replayed,
        found: BTreeMap<LineKey, BTreeSet<(How, LineKey)>>,
        criterion: &BTreeSet<LineKey>,
    ) -> LineSlice {
        let origin = |key: &LineKey| match key {
            LineKey::Statement(number) => Some(LineOrigin::Statement(*number)),
            LineKey::Line(number) => run.program.place(*number).map(LineOrigin::Line),
        };
        let mut order: Vec<(LineOrigin, LineKey)> = found
            .keys()
            .filter_map(|key| Some((origin(key)?, *key)))
            .collect();
        order.sort_by(|(one, one_key), (other, other_key)| {
            sort_key(one, *one_key).cmp(&sort_key(other, *other_key))
        });
        let places: HashMap<LineKey, usize> = order.iter().map(|it| it.1).zip(0..).collect();
        let lines = order.into_iter().map(|(origin, key)| {
            let depends = found.get(&key).into_iter().flatten();
            // That a line depends on its own earlier executions is no news.
            let depends = depends.filter(|(_, on)| *on != key);
            let depends = depends.filter_map(|(how, on)| {
                Some(LineDependence {
                    how: how.clone(),
                    on: *places.get(on)?,
                })
            });
            SlicedLine {
                origin,
                depends: without_detours(depends.collect()),
            }
        });
        LineSlice {
            lines: lines.collect(),
            criterion: criterion
                .iter()
                .filter_map(|key| places.get(key))
                .copied()
                .collect(),
            lines_run: self.run,
        }
    }
}

/// The place of a line in the order of a slice, which is that of the source.
fn sort_key(origin: &LineOrigin, key: LineKey) -> (Option<String>, Option<u16>, String, LineKey) {
    match origin {
        LineOrigin::Statement(_) => (None, None, String::new(), key),
        LineOrigin::Line(place) => {
            let method = format!("{}{}", place.method, place.descriptor);
            (Some(place.class.clone()), place.line, method, key)
        }
    }
}

/// A dependence through code that is not shown says nothing beside a direct one on the same line.
fn without_detours(mut depends: Vec<LineDependence>) -> Vec<LineDependence> {
    let is_vague = |how: &How| matches!(how, How::Library | How::Value | How::Object | How::Call);
    let direct: BTreeSet<usize> = depends
        .iter()
        .filter(|it| !is_vague(&it.how))
        .map(|it| it.on)
        .collect();
    depends.retain(|it| it.how != How::Library || !direct.contains(&it.on));
    depends
}

/// Sets of lines, each of which is kept once.
#[derive(Default)]
struct LineSets {
    /// By number less 1; 0 is the empty set.
    sets: Vec<Vec<LineKey>>,
    numbers: HashMap<Vec<LineKey>, u32>,
    unions: HashMap<(u32, u32), u32>,
}

impl LineSets {
    const EMPTY: u32 = 0;

    fn get(&self, set: u32) -> &[LineKey] {
        let at = (set as usize).checked_sub(1);
        at.and_then(|at| self.sets.get(at))
            .map_or(&[], Vec::as_slice)
    }

    fn with(&mut self, set: u32, line: LineKey) -> u32 {
        let one = self.number(vec![line]);
        self.union(set, one)
    }

    fn union(&mut self, one: u32, other: u32) -> u32 {
        let (one, other) = (one.min(other), one.max(other));
        if one == LineSets::EMPTY || one == other {
            return other;
        }
        if let Some(known) = self.unions.get(&(one, other)) {
            return *known;
        }
        let both: BTreeSet<LineKey> = [one, other]
            .iter()
            .flat_map(|it| self.get(*it))
            .copied()
            .collect();
        let both = self.number(both.into_iter().collect());
        self.unions.insert((one, other), both);
        both
    }

    fn number(&mut self, set: Vec<LineKey>) -> u32 {
        if let Some(known) = self.numbers.get(&set) {
            return *known;
        }
        self.sets.push(set.clone());
        let number = self.sets.len() as u32;
        self.numbers.insert(set, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_lines_are_kept_once() {
        let mut sets = LineSets::default();
        let [one, two] = [1, 2].map(LineKey::Line);
        let first = sets.with(LineSets::EMPTY, two);
        let both = sets.with(first, one);
        assert_eq!(sets.get(both), [one, two]);
        let other = sets.with(LineSets::EMPTY, one);
        assert_eq!(sets.union(other, first), both);
        assert_eq!(sets.union(both, other), both);
        assert_eq!(sets.union(LineSets::EMPTY, both), both);
        assert_eq!(sets.sets.len(), 3);
    }
}
