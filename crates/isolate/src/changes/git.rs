//! A Git repository of the user's, read and never changed.
//!
//! Every command has an index and a store of objects of its own, so that neither the user's work
//! tree nor anything below `.git` is written: versions are checked out into our folders. The settings of a
//! repository can name programs, such as filters and merge drivers: Git runs in the sandbox with all that it
//! starts.

mod blame;
mod checkout;
mod command;
#[cfg(test)]
pub(crate) mod fixture;
mod merge;
mod revisions;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use culprit_jvm::{Deadline, Limits, Sandbox, Scratch, Status};
use tempfile::TempDir;

use self::command::{GRACE, millis, odd};
use super::Error;
use super::git_output::{first_line, lines};

/// Variables that would point Git elsewhere.
pub const ELSEWHERE: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// What Git tells to set where a repository is of another user.
const SAFE: &str = "safe.directory";

/// How many settings the environment has.
const SETTINGS: &str = "GIT_CONFIG_COUNT";

/// How Git is run.
#[derive(Clone, Debug)]
pub struct Git {
    /// Its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it may write besides our folders; `None` lets it do whatever we may do.
    pub sandbox: Option<Sandbox>,
    /// What each command may use up.
    pub limits: Limits,
    /// The end of the time of all commands. Each has some seconds in any case.
    pub deadline: Deadline,
}

/// A repository.
pub struct Repository {
    /// Where its data is.
    data: PathBuf,
    objects: PathBuf,
    /// `None` if the folder is in none.
    work_tree: Option<PathBuf>,
    is_shallow: bool,
    git: Git,
    scratch: Scratch,
    /// Milliseconds that each command has when the time is over; none any more when one did not end.
    grace: AtomicU64,
}

impl Repository {
    /// The repository that a folder is in.
    pub fn find(folder: &Path, git: &Git) -> Result<Repository, Error> {
        let scratch = Scratch::new("git").map_err(Error::at(&std::env::temp_dir()))?;
        let objects = scratch.path().join("objects");
        fs::create_dir(&objects).map_err(Error::at(&objects))?;
        let mut env = git.env.clone();
        env.retain(|(name, _)| !ELSEWHERE.iter().any(|odd| name == *odd));
        let quiet = quiet_settings(&env);
        let mut set = |name: &str, value: &OsStr| {
            env.retain(|(known, _)| known != name);
            env.push((name.into(), value.into()));
        };
        set("LC_ALL", "C".as_ref());
        set("GIT_OPTIONAL_LOCKS", "0".as_ref());
        set("GIT_TERMINAL_PROMPT", "0".as_ref());
        if git.sandbox.is_some() {
            // There is no network to fetch from.
            set("GIT_NO_LAZY_FETCH", "1".as_ref());
        }
        for (name, value) in quiet {
            set(&name, value.as_ref());
        }
        let mut found = Repository {
            data: PathBuf::new(),
            objects: PathBuf::new(),
            work_tree: None,
            is_shallow: false,
            git: Git { env, ..git.clone() },
            scratch,
            grace: AtomicU64::new(millis(GRACE)),
        };
        let asked = [
            "rev-parse",
            "--absolute-git-dir",
            "--is-shallow-repository",
            "--is-inside-work-tree",
        ];
        let said = found.run(folder, &asked, &[])?;
        if said.status != Some(Status::Exited(0)) {
            if let Some(allow) = said.err.lines().find(|line| line.contains(SAFE)) {
                return Err(Error::NotOurs {
                    path: folder.to_owned(),
                    allow: allow.trim().to_owned(),
                });
            }
            return Err(Error::NoRepository {
                path: folder.to_owned(),
                message: first_line(&said.err),
            });
        }
        let lines = lines(&said.out);
        let [data, shallow, inside] = &lines[..] else {
            return Err(odd(&asked, "an answer of another form"));
        };
        found.is_shallow = shallow == b"true";
        if inside == b"true" {
            // Asked before `GIT_DIR` is set: with it, the top is whatever folder Git is in.
            let top = found.line(folder, &["rev-parse", "--show-toplevel"])?;
            found.work_tree = Some(PathBuf::from(top));
        }
        found.data = PathBuf::from(OsStr::from_bytes(data));
        let path = found.line(folder, &["rev-parse", "--git-path", "objects"])?;
        found.objects = folder.join(path);
        Ok(found)
    }

    /// The user's work tree.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The repository of a folder inside the work tree.
    pub(crate) fn inside(&self, folder: &Path) -> Result<Repository, Error> {
        Repository::find(folder, &self.git)
    }

    /// An empty repository of ours in a new folder, where bytes stay as they are. What is kept there
    /// is not looked for in the user's: Git would give it a new time there.
    pub(crate) fn aside(&self, folder: &Path) -> Result<Repository, Error> {
        let data = folder.join(".git");
        for below in ["objects", "refs", "info"] {
            let place = data.join(below);
            fs::create_dir_all(&place).map_err(Error::at(&place))?;
        }
        let as_is = "* -text -ident -filter !merge !working-tree-encoding\n";
        for (name, said) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("info/attributes", as_is),
        ] {
            let place = data.join(name);
            fs::write(&place, said).map_err(Error::at(&place))?;
        }
        Repository::find(folder, &self.git)
    }

    /// Whether the work tree has changes that no commit has.
    pub fn is_dirty(&self) -> Result<bool, Error> {
        let Some(work_tree) = &self.work_tree else {
            return Ok(false);
        };
        let said = self.run(
            work_tree,
            &["status", "--porcelain", "--untracked-files=no"],
            &[],
        )?;
        Ok(!said.out.is_empty())
    }

    /// A folder for an index, or what is in it, that is used once: several threads have theirs at a time.
    pub(super) fn place_for_index(&self) -> Result<TempDir, Error> {
        TempDir::new_in(self.scratch.path()).map_err(Error::at(self.scratch.path()))
    }
}

/// Settings, as variables behind those that the environment has: hooks and monitors of the user's do not
/// run when we look, and lines are from the commits that changed them.
fn quiet_settings(env: &[(OsString, OsString)]) -> Vec<(String, String)> {
    let count = env.iter().find(|(name, _)| name == SETTINGS);
    let count = count.and_then(|(_, count)| count.to_str()?.parse::<usize>().ok());
    let mut number = count.unwrap_or(0);
    let mut found = Vec::new();
    for (name, value) in [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", "false"),
        ("diff.external", ""),
        ("log.showSignature", "false"),
        // Commits that the user passes over may be those that decide.
        ("blame.ignoreRevsFile", ""),
    ] {
        found.push((format!("GIT_CONFIG_KEY_{number}"), name.to_owned()));
        found.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
        number += 1;
    }
    found.push((SETTINGS.to_owned(), number.to_string()));
    found
}

#[cfg(test)]
mod tests {
    use super::fixture::{ScriptedRepository, git};
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Repository::find(folder.path(), &git()).err().unwrap();
        assert!(matches!(error, Error::NoRepository { .. }), "{error}");
        let made = ScriptedRepository::by(
            "echo a >a; commit one; echo b >a; commit two; git clone -q --depth 1 file://$PWD shallow",
        );
        let error = made.repository().resolve("nothing").unwrap_err();
        assert!(
            matches!(
                error,
                Error::NoRevision {
                    is_shallow: false,
                    ..
                }
            ),
            "{error}"
        );
        let shallow = Repository::find(&made.folder.path().join("shallow"), &git()).unwrap();
        let error = shallow.resolve("HEAD~1").unwrap_err();
        assert!(
            matches!(
                error,
                Error::NoRevision {
                    is_shallow: true,
                    ..
                }
            ),
            "{error}"
        );
    }
}
