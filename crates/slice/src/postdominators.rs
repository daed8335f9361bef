//! Post-dominators: the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm") on the reversed
//! graph.
//!
//! Every node must reach the exit. Where nodes do not, as in an endless loop, one of them gets an edge to the exit: the
//! last one in the order of the code, which is where most loops jump back.

/// The immediate post-dominators of a graph with one exit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostDominators {
    /// By node; the exit has itself.
    immediate: Vec<usize>,
    /// The number of a node in an order in which each node comes after its immediate post-dominator.
    order: Vec<usize>,
}

impl PostDominators {
    /// The post-dominators of a graph, given the successors of each node. The node after the last is the exit;
    /// successors that do not exist are ignored.
    pub fn of(successors: &[Vec<usize>]) -> PostDominators {
        let exit = successors.len();
        let mut predecessors = vec![Vec::new(); exit + 1];
        for (node, targets) in successors.iter().enumerate() {
            for target in targets.iter().filter(|target| **target <= exit) {
                predecessors[*target].push(node);
            }
        }
        let mut postorder = Vec::with_capacity(exit + 1);
        let mut is_seen = vec![false; exit + 1];
        walk_back(exit, &predecessors, &mut is_seen, &mut postorder);
        let mut is_exit = vec![false; exit];
        for node in (0..exit).rev() {
            if !is_seen[node] {
                is_exit[node] = true;
                predecessors[exit].push(node);
                walk_back(node, &predecessors, &mut is_seen, &mut postorder);
            }
        }
        // The walks from added exits ended after that from the exit, which must have the highest number.
        postorder.retain(|node| *node != exit);
        postorder.push(exit);
        let mut number = vec![0; exit + 1];
        for (at, node) in postorder.iter().enumerate() {
            number[*node] = at;
        }
        let mut immediate: Vec<Option<usize>> = vec![None; exit + 1];
        immediate[exit] = Some(exit);
        let mut changed = true;
        while changed {
            changed = false;
            for node in postorder.iter().rev().copied().filter(|node| *node != exit) {
                let added = is_exit[node].then_some(exit);
                let targets = successors[node].iter().copied().chain(added);
                let known = targets.filter(|it| *it <= exit && immediate[*it].is_some());
                let meet = known.reduce(|one, other| intersect(&immediate, &number, one, other));
                if meet.is_some() && immediate[node] != meet {
                    immediate[node] = meet;
                    changed = true;
                }
            }
        }
        PostDominators {
            immediate: immediate.into_iter().map(|it| it.unwrap_or(exit)).collect(),
            order: number,
        }
    }

    /// The exit.
    pub fn exit_node(&self) -> usize {
        self.immediate.len() - 1
    }

    /// The immediate post-dominator of a node; the exit has itself.
    pub fn immediate(&self, node: usize) -> usize {
        self.immediate
            .get(node)
            .copied()
            .unwrap_or(self.exit_node())
    }

    /// The nearest node that post-dominates both, each node being one of its own post-dominators.
    pub fn nearest_common(&self, one: usize, other: usize) -> usize {
        let exit = self.exit_node();
        let (mut one, mut other) = (one.min(exit), other.min(exit));
        while one != other {
            if self.order[one] < self.order[other] {
                one = self.immediate[one];
            } else {
                other = self.immediate[other];
            }
        }
        one
    }
}

/// Visits the nodes that reach `from`, each after those found from it.
fn walk_back(
    from: usize,
    predecessors: &[Vec<usize>],
    is_seen: &mut [bool],
    postorder: &mut Vec<usize>,
) {
    let mut stack = vec![(from, 0)];
    is_seen[from] = true;
    while let Some((node, next)) = stack.last_mut() {
        match predecessors[*node].get(*next) {
            Some(&predecessor) => {
                *next += 1;
                if !is_seen[predecessor] {
                    is_seen[predecessor] = true;
                    stack.push((predecessor, 0));
                }
            }
            None => {
                postorder.push(*node);
                stack.pop();
            }
        }
    }
}

fn intersect(
    immediate: &[Option<usize>],
    number: &[usize],
    mut one: usize,
    mut other: usize,
) -> usize {
    while one != other {
        let lower = if number[one] < number[other] {
            &mut one
        } else {
            &mut other
        };
        match immediate[*lower] {
            Some(up) => *lower = up,
            None => return one.max(other),
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The nodes that are on every path from a node to the exit, by definition: without such a node, the exit is out
    /// of reach.
    fn post_dominators(successors: &[Vec<usize>], node: usize) -> Vec<usize> {
        let exit = successors.len();
        let reaches = |without: Option<usize>| {
            let mut seen = vec![false; exit + 1];
            let mut stack = vec![node];
            while let Some(at) = stack.pop() {
                if Some(at) == without || seen[at] {
                    continue;
                }
                seen[at] = true;
                stack.extend(successors.get(at).into_iter().flatten());
            }
            seen[exit]
        };
        (0..=exit).filter(|it| !reaches(Some(*it))).collect()
    }

    fn reaches_exit(successors: &[Vec<usize>], node: usize) -> bool {
        post_dominators(successors, node).len() <= successors.len()
    }

    proptest! {
        #[test]
        fn the_chain_of_a_node_is_its_post_dominators_by_definition(
            graph in (1usize..12).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0..=n, 0..4), n)
            })
        ) {
            let found = PostDominators::of(&graph);
            let all_reach = (0..graph.len()).all(|node| reaches_exit(&graph, node));
            for node in 0..graph.len() {
                let mut chain = vec![node];
                while *chain.last().unwrap() != graph.len() {
                    chain.push(found.immediate(*chain.last().unwrap()));
                    prop_assert!(chain.len() <= graph.len() + 1, "a cycle");
                }
                chain.sort_unstable();
                if all_reach {
                    prop_assert_eq!(&chain, &post_dominators(&graph, node));
                }
                for other in 0..=graph.len() {
                    let common = found.nearest_common(node, other);
                    prop_assert!(chain.contains(&common));
                }
            }
        }
    }

    #[test]
    fn an_endless_loop_has_an_exit_where_it_jumps_back() {
        // 0 -> 1 -> 2 -> 1
        let found = PostDominators::of(&[vec![1], vec![2], vec![1]]);
        assert_eq!([0, 1, 2].map(|node| found.immediate(node)), [1, 2, 3]);
    }

    #[test]
    fn a_branch_ends_where_its_sides_meet() {
        // 0 -> 1 | 2, 1 -> 3, 2 -> 3, 3 -> exit
        let found = PostDominators::of(&[vec![1, 2], vec![3], vec![3], vec![4]]);
        assert_eq!(found.immediate(0), 3);
        assert_eq!(found.nearest_common(1, 2), 3);
        assert_eq!(found.nearest_common(3, 1), 3);
    }
}
