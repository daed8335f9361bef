//! Commits by name: what a revision stands for, its tree, its ancestors and its description.

use culprit_jvm::Status;

use super::Repository;
use crate::changes::Error;
use crate::changes::git_output::{self as output, Commit, text};

/// Commits that are asked about in one command.
const AT_ONCE: usize = 1000;

impl Repository {
    /// The full name of a commit.
    pub fn resolve(&self, revision: &str) -> Result<String, Error> {
        let wish = format!("{revision}^{{commit}}");
        let asked = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &wish,
        ];
        let said = self.ask(&asked)?;
        match said.status {
            Some(Status::Exited(0)) => Ok(text(&said.out)),
            _ => Err(Error::NoRevision {
                revision: revision.to_owned(),
                is_shallow: self.is_shallow,
            }),
        }
    }

    /// Whether a commit is that of the work tree.
    pub fn is_head(&self, commit: &str) -> bool {
        self.resolve("HEAD").is_ok_and(|head| head == commit)
    }

    /// The tree of a commit.
    pub(crate) fn tree_of(&self, commit: &str) -> Result<String, Error> {
        let wish = format!("{commit}^{{tree}}");
        self.line(&self.data, &["rev-parse", "--verify", &wish])
    }

    /// Whether the one is among the ancestors of the other.
    pub(crate) fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, Error> {
        let asked = ["merge-base", "--is-ancestor", one, other];
        Ok(self.ask(&asked)?.status == Some(Status::Exited(0)))
    }

    /// The best common ancestor, if there is one that is known here.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, Error> {
        let said = self.ask(&["merge-base", one, other])?;
        Ok((said.status == Some(Status::Exited(0))).then(|| text(&said.out)))
    }

    /// The commits that the bad one has and the good one has not, each with its parents, ancestors first.
    pub(crate) fn commits(
        &self,
        good: &str,
        bad: &str,
    ) -> Result<Vec<(String, Vec<String>)>, Error> {
        let range = format!("{good}..{bad}");
        let asked = ["rev-list", "--topo-order", "--reverse", "--parents", &range];
        let out = self.answer(&asked)?;
        Ok(output::commits(&out))
    }

    /// What commits say of themselves.
    pub(crate) fn describe<S: AsRef<str>>(&self, ids: &[S]) -> Result<Vec<Commit>, Error> {
        let form = "--format=%H%x00%an%x00%ae%x00%aI%x00%s";
        let mut found = Vec::new();
        for ids in ids.chunks(AT_ONCE) {
            let mut asked = vec!["log", "--no-walk=unsorted", "--no-show-signature", form];
            asked.extend(ids.iter().map(AsRef::as_ref));
            found.extend(output::descriptions(&self.answer(&asked)?));
        }
        Ok(found)
    }
}
