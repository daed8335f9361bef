//! Dynamic control dependence in one forward pass (Xin and Zhang, "Efficient Online Detection of Dynamic Control
//! Dependence"): a stack of the regions of branches that are open, for each activation.
//!
//! A branch opens a region that ends where its immediate post-dominator begins. Deviation: an exception that a handler
//! catches opens a region too, and the regions around it then end where their ends and the handler meet.

use crate::graph::NodeId;
use crate::postdominators::PostDominators;

/// The open regions of an activation.
#[derive(Clone, Debug, Default)]
pub struct RegionStack {
    regions: Vec<Region>,
}

#[derive(Clone, Copy, Debug)]
struct Region {
    /// The branch, or the instruction that threw.
    by: NodeId,
    /// The block with which it ends.
    end: usize,
}

impl RegionStack {
    /// The branch on which the instructions of the block depend.
    pub fn current(&self) -> Option<NodeId> {
        self.regions.last().map(|region| region.by)
    }

    /// A block begins.
    pub fn reach(&mut self, block: usize) {
        while self.regions.last().is_some_and(|it| it.end == block) {
            self.regions.pop();
        }
    }

    /// A branch at the end of a block is taken, in either direction.
    pub fn branch(&mut self, by: NodeId, block: usize, graph: &PostDominators) {
        self.open(by, graph.immediate(block));
    }

    /// An exception leads to a handler: the open regions end where their ends and the handler meet.
    pub fn leave_for(&mut self, handler: usize, graph: &PostDominators) {
        for region in &mut self.regions {
            region.end = graph.nearest_common(region.end, handler);
        }
        self.reach(handler);
    }

    /// A handler has caught, as `by`, an exception that was thrown in a block.
    pub fn catch(&mut self, by: NodeId, block: usize, handler: usize, graph: &PostDominators) {
        let end = graph.nearest_common(block, graph.immediate(handler));
        self.open(by, end);
    }

    /// Regions with the same end are closed together, so that the last one is enough: a loop takes no space.
    fn open(&mut self, by: NodeId, end: usize) {
        match self.regions.last_mut() {
            Some(last) if last.end == end => last.by = by,
            _ => self.regions.push(Region { by, end }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_ends_where_the_sides_of_its_branch_meet() {
        // 0: if, 1: then with an if, 2: in it, 3: after the inner, 4: after both
        let graph = PostDominators::of(&[vec![1, 4], vec![2, 3], vec![3], vec![4], vec![5]]);
        let mut regions = RegionStack::default();
        let (outer, inner) = (NodeId(10), NodeId(11));
        regions.branch(outer, 0, &graph);
        regions.reach(1);
        regions.branch(inner, 1, &graph);
        regions.reach(2);
        assert_eq!(regions.current(), Some(inner));
        regions.reach(3);
        assert_eq!(regions.current(), Some(outer));
        regions.reach(4);
        assert_eq!(regions.current(), None);
    }

    #[test]
    fn a_loop_keeps_one_region() {
        // 0: head, 1: body, 2: after
        let graph = PostDominators::of(&[vec![1, 2], vec![0], vec![3]]);
        let mut regions = RegionStack::default();
        for turn in 0..100 {
            regions.reach(0);
            regions.branch(NodeId(turn), 0, &graph);
            regions.reach(1);
        }
        assert_eq!(regions.regions.len(), 1);
        assert_eq!(regions.current(), Some(NodeId(99)));
        regions.reach(2);
        assert_eq!(regions.current(), None);
    }

    #[test]
    fn code_after_a_try_does_not_depend_on_what_was_left_by_an_exception() {
        // 0: if, 1: call that throws, 2: rest of the try, 3: handler, 4: after
        let graph = PostDominators::of(&[vec![1, 2], vec![2], vec![4], vec![4], vec![5]]);
        let mut regions = RegionStack::default();
        regions.branch(NodeId(1), 0, &graph);
        regions.reach(1);
        regions.leave_for(3, &graph);
        regions.catch(NodeId(2), 1, 3, &graph);
        assert_eq!(regions.current(), Some(NodeId(2)));
        regions.reach(4);
        assert_eq!(regions.current(), None);
    }
}
