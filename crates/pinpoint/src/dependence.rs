//! The dependence of a link of a chain on the next one, in the terms of the source.

use culprit_slice::{Dependence, How, NodeId, Origin, Replayed};

/// The way in which a link of a chain depended on the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkDependence {
    /// Without a step between.
    Direct(How),
    /// It used an argument that was computed there, by a caller.
    Argument,
    /// Through calls of the test.
    Test,
    /// Through code of libraries.
    Library,
    /// Through lines of the program that are not in the chain.
    Indirect,
}

/// The part of a way since the last instruction of the program.
#[derive(Default)]
pub(crate) struct Passed {
    last: Option<NodeId>,
    through: Option<LinkDependence>,
}

impl Passed {
    /// Goes through a node that is not shown. A library that a test calls is not worth a word.
    pub(crate) fn through(&mut self, run: &Replayed, node: NodeId) {
        match run.graph.origin(node) {
            Origin::Statement(_) => self.through = Some(LinkDependence::Test),
            Origin::Instruction(_) => {
                self.through.get_or_insert(LinkDependence::Library);
            }
        }
    }

    /// Goes to an instruction of the program: the dependence of the last one on it, none for the first.
    pub(crate) fn to(
        &mut self,
        run: &Replayed,
        node: NodeId,
        kind: Option<Dependence>,
    ) -> Option<LinkDependence> {
        let (last, through) = (self.last.replace(node), self.through.take());
        through.or_else(|| {
            let number = |node| match run.graph.origin(node) {
                Origin::Instruction(number) => Some(number),
                Origin::Statement(_) => None,
            };
            let method = |node| number(node).and_then(|number| run.program.method_start(number));
            let how = How::of(kind?, &run.program.role(number(node)?));
            let is_of_caller = last.is_some_and(|last| method(last) != method(node));
            Some(match how {
                How::Value | How::Variable(_) if is_of_caller => LinkDependence::Argument,
                how => LinkDependence::Direct(how),
            })
        })
    }
}
