//! The commits between two versions as deltas: each needs its parents.
//!
//! A set that has the parents of its commits is a version: that of its last commit, or, where
//! branches are not joined yet, what Git makes of merging them.

use std::collections::HashMap;

use culprit_reduce::{DeltaSet, Needs};

use super::Error;
use super::git::Repository;

/// Commits, ancestors first.
pub(crate) struct History {
    good: String,
    commits: Vec<Node>,
    /// Whether changes of the work tree come after the last commit.
    has_work_tree: bool,
}

struct Node {
    id: String,
    /// Those of its parents that are deltas.
    parents: Vec<u32>,
    /// Whether the good version is among its ancestors.
    is_after_good: bool,
}

/// A version by a set of commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CommitVersion {
    /// Commits that are no ancestors of each other.
    Commits(Vec<String>),
    /// All commits, and the work tree.
    WorkTree,
}

impl History {
    /// The commits after `good`, up to `bad`.
    pub(crate) fn between(
        repository: &Repository,
        good: &str,
        bad: &str,
        has_work_tree: bool,
    ) -> Result<History, Error> {
        let mut commits: Vec<Node> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (id, parents) in repository.commits(good, bad)? {
            let known: Vec<u32> = parents
                .iter()
                .filter_map(|id| numbers.get(id).copied())
                .collect();
            let after_good = |number: &u32| commits[*number as usize].is_after_good;
            let is_after_good =
                parents.iter().any(|parent| parent == good) || known.iter().any(after_good);
            numbers.insert(id.clone(), commits.len() as u32);
            commits.push(Node {
                id,
                parents: known,
                is_after_good,
            });
        }
        Ok(History {
            good: good.to_owned(),
            commits,
            has_work_tree,
        })
    }

    /// The number of deltas.
    pub(crate) fn size(&self) -> u64 {
        self.commits.len() as u64 + u64::from(self.has_work_tree)
    }

    pub(crate) fn needs(&self) -> Needs {
        let size = self.size() as u32;
        let parents = (0u32..).zip(&self.commits);
        let pairs = parents.flat_map(|(child, node)| node.parents.iter().map(move |p| (child, *p)));
        let last = self.commits.len() as u32;
        let work_tree = (0..last)
            .filter(|_| self.has_work_tree)
            .map(|commit| (last, commit));
        Needs::graph(size, pairs.chain(work_tree))
    }

    /// The version of a set that has what its commits need.
    pub(crate) fn version(&self, set: &DeltaSet) -> CommitVersion {
        if self.has_work_tree && set.contains(self.commits.len() as u64) {
            return CommitVersion::WorkTree;
        }
        let members = || set.iter().map(|delta| &self.commits[delta as usize]);
        let mut is_parent = vec![false; self.commits.len()];
        for parent in members().flat_map(|node| &node.parents) {
            is_parent[*parent as usize] = true;
        }
        let heads = set.iter().filter(|delta| !is_parent[*delta as usize]);
        let mut heads: Vec<String> = heads
            .map(|delta| self.commits[delta as usize].id.clone())
            .collect();
        if !members().any(|node| node.is_after_good) {
            heads.insert(0, self.good.clone());
        }
        CommitVersion::Commits(heads)
    }

    /// The last commits of a version; of the work tree none.
    pub(crate) fn heads(&self, set: &DeltaSet) -> Vec<String> {
        match self.version(set) {
            CommitVersion::Commits(heads) => heads,
            CommitVersion::WorkTree => Vec::new(),
        }
    }

    /// The commits of a set; the work tree is none.
    pub(crate) fn ids(&self, set: &DeltaSet) -> Vec<String> {
        let commits = set
            .iter()
            .filter_map(|delta| self.commits.get(delta as usize));
        commits.map(|node| node.id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::git::fixture::ScriptedRepository;
    use super::*;

    #[test]
    fn sets_of_commits_are_versions_and_open_branches_are_merged() {
        let made = ScriptedRepository::by(
            "seq 9 >a; commit base; git checkout -qb side; echo s >s; commit side1; echo t >>s; commit side2
             git checkout -q main; echo g >g; commit good; git tag good; echo b >b; commit b1; git merge -q --no-edit side; echo c >c; commit c1",
        );
        let repository = made.repository();
        let id = |name: &str| repository.resolve(name).unwrap();
        let (good, bad) = (id("good"), id("main"));
        let history = History::between(&repository, &good, &bad, false).unwrap();
        assert_eq!(history.size(), 5);
        let position = |name: &str| {
            let id = id(name);
            history
                .commits
                .iter()
                .position(|node| node.id == id)
                .unwrap() as u64
        };
        let version =
            |names: &[&str]| history.version(&names.iter().map(|n| position(n)).collect());
        assert_eq!(version(&[]), CommitVersion::Commits(vec![good.clone()]));
        // The side branch left before the good version: both are wanted.
        assert_eq!(
            version(&["side~1"]),
            CommitVersion::Commits(vec![good, id("side~1")])
        );
        let both = version(&["main~2", "side~1", "side"]);
        let CommitVersion::Commits(mut heads) = both else {
            panic!("{both:?}")
        };
        heads.sort();
        let mut expect = vec![id("main~2"), id("side")];
        expect.sort();
        assert_eq!(heads, expect);
        let all = history.version(&DeltaSet::all(5));
        assert_eq!(all, CommitVersion::Commits(vec![bad]));
    }
}
