//! The chain from a failure back to where it comes from: at each step one of the instructions that the one before
//! depended on, preferably one with which an experiment made the failure go away.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use culprit_slice::{Criterion, DefinedValue, Dependence, NodeId, Origin, Place, Replayed};

use crate::experiment::{Change, Ended, Experiment};
use crate::rank::Distances;

/// The most links of a chain.
const LONGEST: usize = 12;

/// The links behind the last one that is confirmed.
const BEYOND: usize = 1;

/// The most nodes that are looked at between two links.
const MOST_BETWEEN: usize = 10_000;

/// A link of a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    pub place: Place,
    /// The line of the source file without its indentation, if the file was found.
    pub code: Option<String>,
    /// The value that the instruction left, as text.
    pub value: Option<String>,
    /// The dependence of the link before on this one; none for the first.
    pub dependence: Option<Dependence>,
    pub evidence: Evidence,
}

/// The evidence that a link has to do with the failure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Evidence {
    /// With this change of the value, nothing fails.
    Confirmed(Change),
    /// The failure depended on it; no experiment made the failure go away.
    Related,
}

/// The chain from a criterion back.
pub(crate) fn chain(
    run: &Replayed,
    criterion: &Criterion,
    distances: &Distances,
    experiments: &[Experiment],
) -> Vec<Link> {
    let mut confirmed: BTreeMap<NodeId, Change> = BTreeMap::new();
    for it in experiments.iter().filter(|it| it.ended == Ended::Passed) {
        let known = confirmed.entry(it.spot.node).or_insert(it.change);
        if plainness(it.change) < plainness(*known) {
            *known = it.change;
        }
    }
    let ways = ways_to(run, &confirmed);
    let mut links: Vec<Link> = Vec::new();
    let mut at = run.nodes(criterion);
    let mut last = None;
    while links.len() < LONGEST {
        let own = own_behind(run, distances, &at, last);
        let best = own.into_iter().min_by_key(|(node, kind)| {
            let is_data = *kind != Some(Dependence::Control) && *kind != Some(Dependence::Base);
            (ways[node.0 as usize], !is_data, Reverse(*node))
        });
        let Some((node, kind)) = best else {
            break;
        };
        if let Origin::Instruction(number) = run.graph.origin(node)
            && let Some(place) = run.program.place(number)
        {
            let evidence = match confirmed.get(&node) {
                Some(change) => Evidence::Confirmed(*change),
                None => Evidence::Related,
            };
            let link = Link {
                place,
                code: None,
                value: value(run, node),
                dependence: kind,
                evidence,
            };
            add(&mut links, link);
        }
        at = vec![node];
        last = Some(node);
    }
    // What is behind the last confirmed link had no part in an experiment.
    let is_confirmed = |link: &Link| link.evidence != Evidence::Related;
    if let Some(last) = links.iter().rposition(is_confirmed) {
        links.truncate(last + 1 + BEYOND);
    }
    links
}

/// By node, the number of steps back to the next confirmed one.
fn ways_to(run: &Replayed, confirmed: &BTreeMap<NodeId, Change>) -> Vec<u32> {
    let mut ways = vec![u32::MAX; run.graph.len()];
    // Nodes come after those that they depend on.
    for node in run.graph.nodes() {
        let parents = run.graph.parents(node);
        let behind = parents.map(|(parent, _)| ways[parent.0 as usize]).min();
        ways[node.0 as usize] = match confirmed.contains_key(&node) {
            true => 0,
            false => behind.unwrap_or(u32::MAX).saturating_add(1),
        };
    }
    ways
}

/// Adds a link, unless it is of the same line as the one before and tells less.
fn add(links: &mut Vec<Link>, link: Link) {
    match links.last_mut() {
        Some(last)
            if last.place.class == link.place.class
                && last.place.method == link.place.method
                && last.place.line == link.place.line =>
        {
            if last.evidence == Evidence::Related && link.evidence != Evidence::Related {
                last.evidence = link.evidence;
                last.value = link.value;
            }
        }
        _ => links.push(link),
    }
}

/// The nearest own instructions behind some nodes, each with the dependence that leads to it. Those nodes count
/// themselves unless one is the last link.
fn own_behind(
    run: &Replayed,
    distances: &Distances,
    from: &[NodeId],
    last: Option<NodeId>,
) -> Vec<(NodeId, Option<Dependence>)> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let mut open: Vec<(NodeId, Option<Dependence>)> = from.iter().map(|it| (*it, None)).collect();
    while let Some((node, kind)) = open.pop() {
        if !seen.insert(node) || seen.len() > MOST_BETWEEN {
            continue;
        }
        if distances.is_own(run, node) && Some(node) != last {
            found.push((node, kind));
            continue;
        }
        for (parent, own_kind) in run.graph.parents(node) {
            // The first step from a link tells how it depends.
            open.push((parent, kind.or(Some(own_kind))));
        }
    }
    found
}

/// How easily a change is understood.
fn plainness(change: Change) -> u8 {
    match change {
        Change::Flip => 0,
        Change::Put(0) => 1,
        Change::Put(_) => 2,
        Change::Add(_) => 3,
        Change::Negate => 4,
    }
}

/// The value of a node as text.
fn value(run: &Replayed, node: NodeId) -> Option<String> {
    Some(match run.graph.value(node)? {
        DefinedValue::Int(value) => value.to_string(),
        DefinedValue::Long(value) => value.to_string(),
        DefinedValue::Float(value) => value.to_string(),
        DefinedValue::Double(value) => value.to_string(),
        DefinedValue::Object(0) => "null".to_owned(),
        DefinedValue::Object(id) => {
            let object = run.objects.get(id as usize - 1)?;
            object.text.clone().map_or_else(
                || object.class.replace('/', "."),
                |text| format!("\"{text}\""),
            )
        }
    })
}
