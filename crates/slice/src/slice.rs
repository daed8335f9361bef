//! Slices: the closure of a criterion in the dependence graph.

use std::collections::BTreeSet;

use crate::graph::{Dependence, Graph, NodeId, Origin};
use crate::program::{Place, Program, Role};
use crate::replay::Replayed;

/// What a slice starts from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Criterion {
    /// The exception that ended the script.
    Exception,
    /// The value that the last statement returned.
    Result,
    /// All instances of the instructions of a line. The class is an internal name.
    Line { class: String, line: u16 },
    /// These instances.
    Nodes(Vec<NodeId>),
}

/// A dependence between two nodes of a slice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// The node that depends.
    pub node: NodeId,
    /// The node that it depends on.
    pub on: NodeId,
    pub kind: Dependence,
}

/// The nodes that a criterion depends on, or those that depend on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// In the order of the run.
    pub nodes: Vec<NodeId>,
}

impl Replayed {
    /// The decisions by which a statement threw nothing: the branches of the code that it ran, as far as this is looked at, and the
    /// handlers there that were given an exception; without any, the instructions that no branch decided on. Without a
    /// number it is the last statement that ran such code.
    pub fn decisions(&self, number: Option<usize>, is_own: &dyn Fn(&Place) -> bool) -> Vec<NodeId> {
        let is_own = |node: &NodeId| {
            let place = place(&self.program, &self.graph, *node);
            place.is_some_and(|it| is_own(&it))
        };
        let mut statements: Vec<Option<NodeId>> = vec![None; self.graph.len()];
        for node in self.graph.nodes() {
            statements[node.0 as usize] = match self.graph.origin(node) {
                Origin::Statement(_) => Some(node),
                Origin::Instruction(_) => {
                    let control = self.graph.control(node);
                    control.and_then(|it| statements[it.0 as usize])
                }
            };
        }
        let is_wanted = |node: &NodeId| match self.graph.origin(*node) {
            Origin::Statement(it) => number.is_none_or(|number| it as usize == number),
            Origin::Instruction(_) => false,
        };
        let statement = |node: &NodeId| statements[node.0 as usize].filter(is_wanted);
        let mut own = self.graph.nodes().rev().filter(is_own);
        let Some(statement) = own.find_map(|node| statement(&node)) else {
            return Vec::new();
        };
        let ran = self.graph.nodes();
        let ran = ran.filter(|it| statements[it.0 as usize] == Some(statement) && is_own(it));
        let ran: Vec<NodeId> = ran.collect();
        let decides = |node: &NodeId| {
            let is_branch = match self.graph.origin(*node) {
                Origin::Instruction(number) => self.program.role(number) == Role::Branch,
                Origin::Statement(_) => false,
            };
            let mut kinds = self.graph.parents(*node).map(|(_, kind)| kind);
            is_branch || kinds.any(|kind| kind == Dependence::Exception)
        };
        let decisions: Vec<NodeId> = ran.iter().copied().filter(decides).collect();
        match decisions.is_empty() {
            true => {
                let is_certain = |node: &NodeId| self.graph.control(*node) == Some(statement);
                ran.into_iter().filter(is_certain).collect()
            }
            false => decisions,
        }
    }

    /// The nodes of a criterion.
    pub fn nodes(&self, criterion: &Criterion) -> Vec<NodeId> {
        match criterion {
            Criterion::Exception => self.exception.into_iter().collect(),
            Criterion::Result => self.result.into_iter().collect(),
            Criterion::Nodes(nodes) => nodes.clone(),
            Criterion::Line { class, line } => {
                let is_there = |node: &NodeId| {
                    let place = place(&self.program, &self.graph, *node);
                    place.is_some_and(|it| it.class == *class && it.line == Some(*line))
                };
                self.graph.nodes().filter(is_there).collect()
            }
        }
    }

    /// Everything that a criterion depends on, with the criterion itself.
    pub fn backward(&self, criterion: &Criterion) -> Slice {
        let mut is_in = vec![false; self.graph.len()];
        for node in self.nodes(criterion) {
            if let Some(is_in) = is_in.get_mut(node.0 as usize) {
                *is_in = true;
            }
        }
        // Parents are before their nodes.
        for node in self.graph.nodes().rev() {
            if is_in[node.0 as usize] {
                for (parent, _) in self.graph.parents(node) {
                    is_in[parent.0 as usize] = true;
                }
            }
        }
        self.slice_of(&is_in)
    }

    /// Everything that depends on a criterion, with the criterion itself.
    pub fn forward(&self, criterion: &Criterion) -> Slice {
        let mut is_in = vec![false; self.graph.len()];
        for node in self.nodes(criterion) {
            if let Some(is_in) = is_in.get_mut(node.0 as usize) {
                *is_in = true;
            }
        }
        for node in self.graph.nodes() {
            let mut parents = self.graph.parents(node);
            if parents.any(|(parent, _)| is_in[parent.0 as usize]) {
                is_in[node.0 as usize] = true;
            }
        }
        self.slice_of(&is_in)
    }

    fn slice_of(&self, is_in: &[bool]) -> Slice {
        let nodes = self.graph.nodes();
        Slice {
            nodes: nodes.filter(|node| is_in[node.0 as usize]).collect(),
        }
    }

    /// The places of a slice in classes that are not the JDK's: class and line.
    pub fn lines(&self, slice: &Slice) -> BTreeSet<(String, u16)> {
        let instructions = slice
            .nodes
            .iter()
            .filter_map(|node| match self.graph.origin(*node) {
                Origin::Instruction(number) => Some(number),
                Origin::Statement(_) => None,
            });
        let instructions: BTreeSet<u32> = instructions.collect();
        let own = instructions
            .into_iter()
            .filter(|it| !self.program.is_library(*it));
        let places = own.filter_map(|it| self.program.place(it));
        places
            .filter_map(|place| Some((place.class, place.line?)))
            .collect()
    }

    /// The dependences between nodes of a slice.
    pub fn edges(&self, slice: &Slice) -> Vec<Edge> {
        let mut edges = Vec::new();
        for node in &slice.nodes {
            for (on, kind) in self.graph.parents(*node) {
                if slice.nodes.binary_search(&on).is_ok() {
                    edges.push(Edge {
                        node: *node,
                        on,
                        kind,
                    });
                }
            }
        }
        edges
    }
}

fn place(program: &Program, graph: &Graph, node: NodeId) -> Option<Place> {
    match graph.origin(node) {
        Origin::Instruction(number) => program.place(number),
        Origin::Statement(_) => None,
    }
}
