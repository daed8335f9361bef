//! Good borders of a program. Candidates are single classes, classes with their nested ones,
//! packages, and clusters; the score ranks them.
//!
//! Clusters come from greedy agglomeration: every class, with its nested ones, starts as its own,
//! and again and again the two are joined that take away the largest part of the smaller one's
//! border, until no two are coupled or the result would be too large. Every cluster on the way is
//! a candidate.
//!
//! The *score* is the harmonic mean of two shares: of the calls that concern the border, those
//! that stay inside (small border); and of all the program's calls, those that are inside (much
//! inside). It is 1 for a border that nothing crosses and that holds everything, and 0 where
//! either is missing.
//!
//! Deterministic: candidates have a total order by score, events, and patterns.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::Pattern;

use crate::program::{CoupledProgram, Measure, Members};

/// Starting points of clusters, and classes proposed alone: the busiest.
const HOT_FAMILIES: usize = 300;
const SINGLE_CLASSES: usize = 10;
/// Families that a cluster joins at most.
const LARGEST_CLUSTER: usize = 12;
/// Two borders with more than this share of classes in common are the same proposal.
const ALIKE_PER_CENT: usize = 75;

/// A set of classes that may be worth recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Border {
    /// The classes to observe.
    pub patterns: Vec<Pattern>,
    /// The numbers of a recording of them.
    pub measure: Measure,
    /// From 0 to 1: few events and many calls inside score high.
    pub score: f64,
}

/// The border around all classes to choose from, which these patterns selected.
pub(crate) fn whole(program: &CoupledProgram, patterns: &[Pattern]) -> Border {
    let measure = program.measure(&program.whole());
    Border {
        patterns: patterns.to_vec(),
        score: score(&measure, program.calls()),
        measure,
    }
}

/// Proposes up to `limit` borders, best first.
pub(crate) fn propose(program: &CoupledProgram, limit: usize) -> Vec<Border> {
    let calls = program.calls();
    let whole = program.whole();
    let mut borders: Vec<(Border, Members)> = candidates(program)
        .into_iter()
        .filter_map(|patterns| {
            let members = program.matching(&patterns);
            if members == whole {
                return None;
            }
            let measure = program.measure(&members);
            let border = Border {
                score: score(&measure, calls),
                patterns,
                measure,
            };
            Some((border, members))
        })
        .filter(|(border, _)| border.score > 0.0)
        .collect();
    borders.sort_by(|(a, _), (b, _)| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.measure.events.cmp(&b.measure.events))
            .then_with(|| a.patterns.len().cmp(&b.patterns.len()))
            .then_with(|| a.patterns.cmp(&b.patterns))
    });
    let mut proposed: Vec<(Border, Members)> = Vec::new();
    for (border, members) in borders {
        if proposed.len() < limit && !proposed.iter().any(|(_, p)| alike(p, &members)) {
            proposed.push((border, members));
        }
    }
    proposed.into_iter().map(|(border, _)| border).collect()
}

/// The harmonic mean of the share of calls that stay inside and of that of all calls.
fn score(measure: &Measure, calls: u64) -> f64 {
    let inside = measure.inside as f64;
    if inside == 0.0 {
        return 0.0;
    }
    // Half of the events are calls that cross; an access counts as half a call.
    let cohesion = inside / (inside + measure.events as f64 / 2.0);
    let share = (inside / calls.max(1) as f64).min(1.0);
    2.0 * cohesion * share / (cohesion + share)
}

fn alike(a: &Members, b: &Members) -> bool {
    let both = a.iter().zip(b).filter(|(a, b)| **a && **b).count();
    let either = a.iter().zip(b).filter(|(a, b)| **a || **b).count();
    both * 100 > either * ALIKE_PER_CENT
}

fn candidates(program: &CoupledProgram) -> BTreeSet<Vec<Pattern>> {
    let mut found = BTreeSet::new();
    let mut add = |texts: &[String]| {
        // A class name that is no pattern (a generated one) cannot be proposed.
        let patterns: Option<Vec<Pattern>> = texts.iter().map(|t| t.parse().ok()).collect();
        found.extend(patterns.filter(|patterns| !patterns.is_empty()));
    };
    let families = Families::of(program);
    for &class in hot_classes(program).iter().take(SINGLE_CLASSES) {
        add(std::slice::from_ref(&program.classes[class].name));
    }
    for family in 0..families.names.len().min(SINGLE_CLASSES) {
        add(&families.patterns([family]));
    }
    for package in program.packages() {
        add(&[format!("{package}.*")]);
        add(&[format!("{package}.**")]);
    }
    for cluster in clusters(program, &families) {
        add(&families.patterns(cluster));
    }
    found
}

/// The classes to choose from, those with most calls first.
fn hot_classes(program: &CoupledProgram) -> Vec<usize> {
    let mut calls = vec![0_u64; program.classes.len()];
    for edge in &program.edges {
        let ends = BTreeSet::from([edge.from, edge.to]);
        for index in ends.into_iter().filter_map(|end| end.checked_sub(1)) {
            calls[index] += edge.calls + edge.constructions;
        }
    }
    let mut hot: Vec<usize> = program.own_classes().collect();
    hot.sort_by_key(|class| (std::cmp::Reverse(calls[*class]), *class));
    hot
}

/// Classes with their nested ones, the busiest first.
struct Families<'a> {
    /// Names of the outer classes.
    names: Vec<&'a str>,
    /// True if there are nested classes.
    nested: Vec<bool>,
    /// The family of each class of the program.
    of_class: Vec<Option<usize>>,
}

impl<'a> Families<'a> {
    fn of(program: &'a CoupledProgram) -> Families<'a> {
        let mut families = Families {
            names: Vec::new(),
            nested: Vec::new(),
            of_class: vec![None; program.classes.len()],
        };
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        for class in hot_classes(program) {
            let name = program.classes[class].name.as_str();
            let outer = outermost(name);
            let number = *numbers.entry(outer).or_insert_with(|| {
                families.names.push(outer);
                families.nested.push(false);
                families.names.len() - 1
            });
            families.nested[number] |= outer != name;
            families.of_class[class] = Some(number);
        }
        families
    }

    /// The patterns that observe some families.
    fn patterns(&self, families: impl IntoIterator<Item = usize>) -> Vec<String> {
        let mut patterns = Vec::new();
        for family in families {
            patterns.push(self.names[family].to_owned());
            if self.nested[family] {
                patterns.push(format!("{}$*", self.names[family]));
            }
        }
        patterns.sort();
        patterns
    }
}

/// The part of a name before the first `$` that is neither its first nor its last letter.
fn outermost(class: &str) -> &str {
    let simple = class.rfind('.').map_or(0, |dot| dot + 1);
    match class[simple..].find('$') {
        Some(at) if at > 0 && simple + at + 1 < class.len() => &class[..simple + at],
        _ => class,
    }
}

/// Every cluster of two or more families that agglomeration comes by.
fn clusters(program: &CoupledProgram, families: &Families<'_>) -> Vec<BTreeSet<usize>> {
    let most = families.names.len().min(HOT_FAMILIES);
    let mut groups: BTreeMap<usize, BTreeSet<usize>> =
        (0..most).map(|f| (f, BTreeSet::from([f]))).collect();
    let mut ties: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut border = vec![0_u64; most];
    for edge in &program.edges {
        let weight = 2 * (edge.calls + edge.constructions) + edge.accesses;
        let family = |end: usize| {
            let found = end
                .checked_sub(1)
                .and_then(|class| families.of_class[class]);
            found.filter(|family| *family < most)
        };
        let ends = (family(edge.from), family(edge.to));
        if ends.0 == ends.1 {
            continue;
        }
        for end in [ends.0, ends.1].into_iter().flatten() {
            border[end] += weight;
        }
        if let (Some(from), Some(to)) = ends {
            *ties.entry((from.min(to), from.max(to))).or_default() += weight;
        }
    }
    ties.retain(|_, weight| *weight > 0);
    let mut found = Vec::new();
    loop {
        let fits = |(a, b): (usize, usize)| groups[&a].len() + groups[&b].len() <= LARGEST_CLUSTER;
        let best = ties.iter().filter(|(pair, _)| fits(**pair)).max_by(|x, y| {
            let smaller = |(a, b): (usize, usize)| u128::from(border[a].min(border[b]));
            let (of_x, of_y) = (smaller(*x.0), smaller(*y.0));
            (u128::from(*x.1) * of_y)
                .cmp(&(u128::from(*y.1) * of_x))
                .then_with(|| x.1.cmp(y.1))
                .then_with(|| y.0.cmp(x.0))
        });
        let Some((&(a, b), &tie)) = best else {
            return found;
        };
        let joined = groups.remove(&b).unwrap_or_default();
        let group = groups.entry(a).or_default();
        group.extend(joined);
        found.push(group.clone());
        border[a] = (border[a] + border[b]).saturating_sub(2 * tie);
        ties.remove(&(a, b));
        let moved: Vec<(usize, usize)> = ties
            .keys()
            .copied()
            .filter(|(x, y)| *x == b || *y == b)
            .collect();
        for pair in moved {
            let weight = ties.remove(&pair).unwrap_or(0);
            let other = if pair.0 == b { pair.1 } else { pair.0 };
            *ties.entry((a.min(other), a.max(other))).or_default() += weight;
        }
    }
}

/// The pairs of classes with most calls between them, both ways together.
pub(crate) fn closest_pairs(program: &CoupledProgram, limit: usize) -> Vec<(usize, usize, u64)> {
    let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for edge in &program.edges {
        let (Some(from), Some(to)) = (edge.from.checked_sub(1), edge.to.checked_sub(1)) else {
            continue;
        };
        if from != to && program.own[from] && program.own[to] {
            *pairs.entry((from.min(to), from.max(to))).or_default() +=
                edge.calls + edge.constructions;
        }
    }
    let mut pairs: Vec<_> = pairs
        .into_iter()
        .map(|((a, b), calls)| (a, b, calls))
        .collect();
    pairs.retain(|(_, _, calls)| *calls > 0);
    pairs.sort_by_key(|(a, b, calls)| (std::cmp::Reverse(*calls), *a, *b));
    pairs.truncate(limit);
    pairs
}

#[cfg(test)]
mod tests;
