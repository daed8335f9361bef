//! The dependence graph of a run: a node for each instruction instance that defines a value or decides what runs, in
//! the order in which they ran. Loads of locals and moves on the operand stack have none.

use std::collections::HashMap;

/// A node, by its place in the order of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A static instruction, numbered over all methods of a trace; or a statement of the script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    Instruction(u32),
    Statement(u32),
}

/// How an instruction depends on an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Dependence {
    /// It ran because of a branch, a call or an exception.
    Control,
    /// It used a value from a local or from the operand stack.
    Value,
    /// It used an object to reach into it.
    Base,
    /// It read a field that was written.
    Field,
    /// It read a static field that was written.
    Static,
    /// It read an element that was written.
    Element,
    /// It used the result of a call.
    Return,
    /// It was given an exception.
    Exception,
    /// It used what code that is not traced may have done.
    Library,
}

/// A value that an instruction defined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DefinedValue {
    /// `int` and everything narrower.
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// An object by its id in the trace, 0 for null.
    Object(u32),
}

/// All nodes of a run.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The instruction, or the statement with the top bit set.
    origins: Vec<u32>,
    /// The control parent, or `NONE`.
    controls: Vec<u32>,
    /// Where the data parents of a node end.
    ends: Vec<u32>,
    parents: Vec<u32>,
    kinds: Vec<Dependence>,
    /// By node, in order.
    values: Vec<(NodeId, DefinedValue)>,
    /// Results of the program's own calls, which have their nodes before the methods that return them.
    results: HashMap<NodeId, DefinedValue>,
}

/// The nodes that a graph may have: one event of a trace may stand for thousands of instructions, so that only this
/// bounds the memory that a trace takes.
const MOST_NODES: u32 = 1 << 26;

const NONE: u32 = u32::MAX;
const STATEMENT: u32 = 1 << 31;

impl Graph {
    /// Adds a node; `None` if there are as many as can be.
    pub(crate) fn add(
        &mut self,
        origin: Origin,
        control: Option<NodeId>,
        parents: impl IntoIterator<Item = (NodeId, Dependence)>,
    ) -> Option<NodeId> {
        let id = u32::try_from(self.origins.len()).ok();
        let id = id.filter(|id| *id < MOST_NODES)?;
        let first = self.parents.len();
        for (parent, kind) in parents {
            let known = &self.parents[first..];
            if !known.contains(&parent.0) {
                self.parents.push(parent.0);
                self.kinds.push(kind);
            }
        }
        self.origins.push(match origin {
            Origin::Instruction(number) => number & !STATEMENT,
            Origin::Statement(number) => number | STATEMENT,
        });
        self.controls.push(control.map_or(NONE, |it| it.0));
        self.ends.push(u32::try_from(self.parents.len()).ok()?);
        Some(NodeId(id))
    }

    /// Notes the value of the last node.
    pub(crate) fn define(&mut self, node: NodeId, value: DefinedValue) {
        if self.values.last().is_none_or(|(last, _)| *last < node) {
            self.values.push((node, value));
        }
    }

    /// Notes the result of a call.
    pub(crate) fn define_result(&mut self, call: NodeId, value: DefinedValue) {
        self.results.insert(call, value);
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// True if nothing was run.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// True if it has as many nodes as it can have.
    pub fn is_full(&self) -> bool {
        self.origins.len() >= MOST_NODES as usize
    }

    /// The number of data dependences.
    pub fn data_edges(&self) -> usize {
        self.parents.len()
    }

    /// All nodes in the order of the run.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.origins.len() as u32).map(NodeId)
    }

    /// The instruction or statement of a node.
    pub fn origin(&self, node: NodeId) -> Origin {
        let origin = self.origins.get(node.0 as usize).copied().unwrap_or(0);
        match origin & STATEMENT {
            0 => Origin::Instruction(origin),
            _ => Origin::Statement(origin & !STATEMENT),
        }
    }

    /// The branch, call, exception or statement because of which a node ran.
    pub fn control(&self, node: NodeId) -> Option<NodeId> {
        let control = self.controls.get(node.0 as usize).copied();
        control.filter(|it| *it != NONE).map(NodeId)
    }

    /// The nodes that a node depends on, each with the kind of dependence: control first.
    pub fn parents(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
        let at = node.0 as usize;
        let control = self.control(node).map(|it| (it, Dependence::Control));
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let range =
            start.copied().unwrap_or(0) as usize..self.ends.get(at).copied().unwrap_or(0) as usize;
        let parents = self.parents.get(range.clone()).unwrap_or_default();
        let kinds = self.kinds.get(range).unwrap_or_default();
        let data = parents
            .iter()
            .map(|it| NodeId(*it))
            .zip(kinds.iter().copied());
        control.into_iter().chain(data)
    }

    /// The value that a node defined, if it was traced.
    pub fn value(&self, node: NodeId) -> Option<DefinedValue> {
        let at = self.values.binary_search_by_key(&node, |(node, _)| *node);
        match at {
            Ok(at) => self.values.get(at).map(|(_, value)| *value),
            Err(_) => self.results.get(&node).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_its_control_parent_first_and_each_data_parent_once() {
        let mut graph = Graph::default();
        let one = graph.add(Origin::Statement(3), None, []).unwrap();
        let two = graph.add(Origin::Instruction(7), Some(one), []).unwrap();
        let given = [
            (two, Dependence::Value),
            (one, Dependence::Field),
            (two, Dependence::Base),
        ];
        let three = graph.add(Origin::Instruction(8), Some(one), given).unwrap();
        graph.define(three, DefinedValue::Int(-1));
        let parents: Vec<_> = graph.parents(three).collect();
        let expect = [
            (one, Dependence::Control),
            (two, Dependence::Value),
            (one, Dependence::Field),
        ];
        assert_eq!(parents, expect);
        assert_eq!(graph.parents(one).count(), 0);
        assert_eq!(graph.origin(one), Origin::Statement(3));
        assert_eq!(graph.origin(three), Origin::Instruction(8));
        assert_eq!(graph.value(three), Some(DefinedValue::Int(-1)));
        assert_eq!(graph.value(two), None);
    }
}
