//! The commits that lines and paths of a version are from.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use super::Repository;
use crate::changes::Error;
use crate::changes::git_output::{self as output, lines, text};

impl Repository {
    /// For each line of a file at a commit, the commit after `since` that it is from; `None` for lines
    /// that are older, or from where the branches of both parted.
    pub(crate) fn blame(
        &self,
        since: &str,
        at: &str,
        path: &Path,
    ) -> Result<Vec<Option<String>>, Error> {
        let (lines, older) =
            self.annotated(&["--root".to_owned(), format!("{since}..{at}")], path)?;
        let newer = |id: String| (!older.contains(&id)).then_some(id);
        Ok(lines.into_iter().map(newer).collect())
    }

    /// For each line of a file at a commit, the last commit up to `until` that has it.
    pub(crate) fn last_seen(
        &self,
        at: &str,
        until: &str,
        path: &Path,
    ) -> Result<Vec<String>, Error> {
        let asked = ["--reverse".to_owned(), format!("{at}..{until}")];
        Ok(self.annotated(&asked, path)?.0)
    }

    /// The last commit up to `at` that touched a path.
    pub(crate) fn last_touched(
        &self,
        since: &str,
        at: &str,
        path: &Path,
    ) -> Result<Option<String>, Error> {
        let range = format!("{since}..{at}");
        let mut asked: Vec<&OsStr> = ["rev-list", "--max-count=1", &range, "--"]
            .map(OsStr::new)
            .to_vec();
        asked.push(path.as_os_str());
        let out = self.answer(&asked)?;
        Ok(lines(&out).first().map(|line| text(line)))
    }

    /// The first commit after one, on the way to another, that touched a path.
    pub(crate) fn next_touched(
        &self,
        after: &str,
        until: &str,
        path: &Path,
    ) -> Result<Option<String>, Error> {
        let range = format!("{after}..{until}");
        let asked = [
            "rev-list",
            "--ancestry-path",
            "--topo-order",
            "--reverse",
            &range,
            "--",
        ];
        let mut asked: Vec<&OsStr> = asked.map(OsStr::new).to_vec();
        asked.push(path.as_os_str());
        let out = self.answer(&asked)?;
        Ok(lines(&out).first().map(|line| text(line)))
    }

    /// The commits of lines, and those among them that a range begins after.
    fn annotated(
        &self,
        range: &[String],
        path: &Path,
    ) -> Result<(Vec<String>, HashSet<String>), Error> {
        let mut asked: Vec<&OsStr> = ["blame", "--porcelain", "--no-textconv"]
            .map(OsStr::new)
            .to_vec();
        asked.extend(range.iter().map(OsStr::new));
        asked.extend([OsStr::new("--"), path.as_os_str()]);
        let out = self.answer(&asked)?;
        Ok(output::annotations(&out))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::fixture::ScriptedRepository;

    #[test]
    fn lines_from_before_the_branches_parted_are_of_no_commit_between() {
        let made = ScriptedRepository::by(
            "seq 5 >a; commit root; sed -i 's/^5$/five/' a; commit fork
             git checkout -qb good; sed -i 's/^1$/one/' a; commit good
             git checkout -q main; sed -i 's/^3$/three/' a; commit bad
             git config blame.ignoreRevsFile .git/ignored; git rev-parse HEAD >.git/ignored
             git checkout -q --orphan other; git rm -qrf .; echo b >b; commit b
             git checkout -q main; git merge -q --no-edit --allow-unrelated-histories other",
        );
        let repository = made.repository();
        let id = |name: &str| repository.resolve(name).unwrap();
        let blame = |path: &str| {
            repository
                .blame(&id("good"), &id("main"), Path::new(path))
                .unwrap()
        };
        assert_eq!(blame("a"), [None, None, Some(id("main~1")), None, None]);
        assert_eq!(blame("b"), [Some(id("other"))]);
    }

    #[test]
    fn lines_have_the_commits_that_brought_and_took_them() {
        let made = ScriptedRepository::by(
            "seq 5 >a; commit base; sed -i 's/^2$/two/' a; commit two; sed -i '/^4$/d' a; commit three",
        );
        let repository = made.repository();
        let id = |name: &str| repository.resolve(name).unwrap();
        let blamed = repository
            .blame(&id("HEAD~2"), &id("HEAD"), Path::new("a"))
            .unwrap();
        assert_eq!(blamed, [None, Some(id("HEAD~1")), None, None]);
        let seen = repository
            .last_seen(&id("HEAD~2"), &id("HEAD"), Path::new("a"))
            .unwrap();
        assert_eq!(
            seen,
            [
                id("HEAD"),
                id("HEAD~2"),
                id("HEAD"),
                id("HEAD~1"),
                id("HEAD")
            ]
        );
        let ids = [id("HEAD~1"), id("HEAD~2"), id("HEAD")];
        let commits = repository.describe(&ids).unwrap();
        let said = commits
            .iter()
            .map(|it| (&it.id, &it.author[..], &it.subject[..]));
        let expect = [
            (&ids[0], "Ann", "two"),
            (&ids[1], "Ann", "base"),
            (&ids[2], "Ann", "three"),
        ];
        assert!(said.eq(expect), "{commits:?}");
    }
}
