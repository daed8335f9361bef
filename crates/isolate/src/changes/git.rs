//! A Git repository of the user's, read and never changed.
//!
//! Every command has an index and a store of objects of its own, so that neither the user's work
//! tree nor anything below `.git` is written: versions are checked out into our folders. The settings of a
//! repository can name programs, such as filters and merge drivers: Git runs in the sandbox with all that it
//! starts.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use culprit_jvm::{Deadline, Errand, Fate, Launch, Limits, Sandbox, Scratch, Status, untrusted};
use tempfile::TempDir;

use super::Error;
use super::git_output::{self as output, Commit, first_line, lines, text};

/// No command of Git takes longer.
const LIMIT: Duration = Duration::from_secs(1800);

/// The time that each command of Git has, also when the time is over: what was found is to be completed.
const GRACE: Duration = Duration::from_secs(10);

/// A command has so many times as long as the longest before it.
const LONGER: u32 = 3;

/// Bytes that are read of what a command prints.
const PRINTED: u64 = 1 << 30;

/// Bytes of its standard error that are kept.
const KEPT: usize = 1 << 20;

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

/// Commits that are asked about in one command.
const AT_ONCE: usize = 1000;

/// The status of Git for options that it does not know.
const USAGE: u8 = 129;

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

/// What a command said.
struct Said {
    status: Option<Status>,
    out: Vec<u8>,
    err: String,
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

    /// A tree with the changes of all the commits, which are no ancestors of each other; `None` if
    /// they do not merge without a conflict.
    pub(crate) fn merged(&self, commits: &[&str]) -> Result<Option<String>, Error> {
        let Some((first, rest)) = commits.split_first() else {
            return Ok(None);
        };
        let mut commit = (*first).to_owned();
        let mut tree = self.tree_of(first)?;
        for next in rest {
            let asked = [
                "merge-tree",
                "--write-tree",
                // What was added from another repository has a root of its own.
                "--allow-unrelated-histories",
                &commit,
                next,
            ];
            let said = self.ask(&asked)?;
            match said.status {
                Some(Status::Exited(0)) => {}
                Some(Status::Exited(1)) => return Ok(None),
                Some(Status::Exited(USAGE)) => return Err(Error::OldGit),
                _ => return Err(odd(&["merge-tree"], &first_line(&said.err))),
            }
            tree = text(&said.out);
            commit = self.commit_tree(&tree, &[&commit, next])?;
        }
        Ok(Some(tree))
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

    /// A tree with what is in a folder, and besides with what makes one folder the other; `None` if
    /// the folder has other changes at the same places.
    pub(crate) fn carried_over(
        &self,
        (from, to): (&Path, &Path),
        folder: &Path,
    ) -> Result<Option<String>, Error> {
        let base = self.commit_tree(&self.tree_in(from)?, &[])?;
        let change = self.commit_tree(&self.tree_in(to)?, &[&base])?;
        let other = self.commit_tree(&self.tree_in(folder)?, &[&base])?;
        self.merged(&[&other, &change])
    }

    /// The tree of all that is in a folder of ours, in our store.
    fn tree_in(&self, folder: &Path) -> Result<String, Error> {
        let place = self.place_for_index()?;
        let index = place.path().join("index");
        let places: [(&str, &OsStr); 2] = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_WORK_TREE", folder.as_os_str()),
        ];
        // Modes count, whatever the user's file system is like.
        let add = ["-c", "core.fileMode=true", "add", "--all", "--force", "."];
        let mut said = self.run(folder, &add, &places)?;
        if said.status == Some(Status::Exited(0)) {
            said = self.run(folder, &["write-tree"], &places)?;
        }
        match said.status {
            Some(Status::Exited(0)) => Ok(text(&said.out)),
            _ => Err(odd(&["add"], &first_line(&said.err))),
        }
    }

    /// A folder for an index, or what is in it, that is used once: several threads have theirs at a time.
    fn place_for_index(&self) -> Result<TempDir, Error> {
        TempDir::new_in(self.scratch.path()).map_err(Error::at(self.scratch.path()))
    }

    /// A commit of ours.
    fn commit_tree(&self, tree: &str, parents: &[&str]) -> Result<String, Error> {
        let mut asked = vec!["commit-tree", tree, "-m", "merged"];
        asked.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        self.line(&self.data, &asked)
    }

    /// Writes the files of a tree into a folder that is empty, as a checkout would: submodules too,
    /// but for those that the user has not got.
    pub(crate) fn check_out(&self, tree: &str, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        let place = self.place_for_index()?;
        let index = place.path().join("index");
        let places: [(&str, &OsStr); 2] = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_WORK_TREE", folder.as_os_str()),
        ];
        for command in [
            &["read-tree", tree][..],
            &["checkout-index", "--all", "--force"],
        ] {
            let said = self.run(folder, command, &places)?;
            if said.status != Some(Status::Exited(0)) {
                return Err(odd(command, &first_line(&said.err)));
            }
        }
        self.check_out_submodules(tree, folder)
    }

    /// The repository of a folder inside the work tree.
    pub(super) fn inside(&self, folder: &Path) -> Result<Repository, Error> {
        Repository::find(folder, &self.git)
    }

    /// The files of the index in a folder of ours, those too that the work tree is to be without.
    pub(super) fn indexed(&self) -> Result<TempDir, Error> {
        let place = self.place_for_index()?;
        let asked = [
            "checkout-index",
            "--all",
            "--force",
            "--ignore-skip-worktree-bits",
        ];
        let folder = place.path();
        let said = self.run(folder, &asked, &[("GIT_WORK_TREE", folder.as_os_str())])?;
        match said.status {
            Some(Status::Exited(0)) => Ok(place),
            _ => Err(odd(&asked, &first_line(&said.err))),
        }
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

    fn line(&self, folder: &Path, asked: &[&str]) -> Result<String, Error> {
        let said = self.run(folder, asked, &[])?;
        match said.status {
            Some(Status::Exited(0)) => Ok(text(&said.out)),
            _ => Err(odd(asked, &first_line(&said.err))),
        }
    }

    pub(super) fn answer<S: AsRef<OsStr>>(&self, asked: &[S]) -> Result<Vec<u8>, Error> {
        let said = self.ask(asked)?;
        match said.status {
            Some(Status::Exited(0)) => Ok(said.out),
            _ => Err(odd(asked, &first_line(&said.err))),
        }
    }

    fn ask<S: AsRef<OsStr>>(&self, asked: &[S]) -> Result<Said, Error> {
        self.run(self.work_tree.as_deref().unwrap_or(&self.data), asked, &[])
    }

    /// Runs Git. What it prints goes through a file: there may be much of it.
    fn run<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        asked: &[S],
        places: &[(&str, &OsStr)],
    ) -> Result<Said, Error> {
        let out = tempfile::NamedTempFile::new_in(self.scratch.path());
        let out = out.map_err(Error::at(self.scratch.path()))?;
        let mut env = self.git.env.clone();
        let mut set = |name: &str, value: &OsStr| env.push((name.into(), value.into()));
        if !self.data.as_os_str().is_empty() {
            set("GIT_DIR", self.data.as_os_str());
            if let Some(work_tree) = self.work_tree.as_ref().filter(|_| places.is_empty()) {
                set("GIT_WORK_TREE", work_tree.as_os_str());
            }
        }
        if !self.objects.as_os_str().is_empty() {
            set(
                "GIT_OBJECT_DIRECTORY",
                self.scratch.path().join("objects").as_os_str(),
            );
            set("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.objects.as_os_str());
        }
        for role in ["AUTHOR", "COMMITTER"] {
            set(&format!("GIT_{role}_NAME"), "culprit".as_ref());
            set(&format!("GIT_{role}_EMAIL"), "culprit@localhost".as_ref());
        }
        for (name, value) in places {
            set(name, value);
        }
        let sandbox = self.git.sandbox.clone();
        let sandbox = sandbox.map(|it| it.allow_write(self.scratch.path()));
        let sandbox = match places {
            [] => sandbox,
            // The work tree is a folder of ours.
            _ => sandbox.map(|it| it.allow_write(folder)),
        };
        let script = "out=$1; shift; exec git \"$@\" >\"$out\"";
        let mut args: Vec<OsString> =
            vec!["-c".into(), script.into(), "git".into(), out.path().into()];
        args.extend(asked.iter().map(|word| word.as_ref().to_owned()));
        let launch = Launch {
            file: "/bin/sh".into(),
            args,
            env,
            directory: folder.to_owned(),
            limits: self.git.limits,
            sandbox,
        };
        let ended = self.attend(&launch, asked)?;
        Ok(Said {
            status: Some(ended.status),
            // What a filter puts in its place is not waited for.
            out: untrusted::read(out.path(), PRINTED).map_err(Error::at(out.path()))?,
            err: ended.err,
        })
    }

    /// Runs a command until it ends, or until the time is over and it had enough.
    fn attend<S: AsRef<OsStr>>(&self, launch: &Launch, asked: &[S]) -> Result<Attended, Error> {
        let deadline = &self.git.deadline;
        let grace = Duration::from_millis(self.grace.load(Ordering::Relaxed));
        let began = Instant::now();
        let is_over = || deadline.is_over() || deadline.is_interrupted();
        let ran = launch.errand(&Errand {
            limit: LIMIT,
            input: None,
            kept: KEPT,
            wanted: &|| began.elapsed() < grace || !is_over(),
        })?;
        let status = match ran.end {
            // What a shell says of a program that it does not find.
            Fate::Ended(Status::Exited(127)) => return Err(Error::NoGit),
            Fate::Ended(status) => status,
            Fate::Exceeded(excess) => {
                return Err(odd(asked, &format!("killed because it {excess}")));
            }
            Fate::Late | Fate::Unwanted => {
                self.grace.store(0, Ordering::Relaxed);
                return Err(match deadline.is_interrupted() {
                    true => Error::Interrupted,
                    false => Error::GitLate {
                        command: name_of(asked),
                        seconds: ran.took.as_secs(),
                    },
                });
            }
        };
        // None that ends is cut off when it takes as long once more, when little time is left.
        self.grace
            .fetch_max(millis(ran.took * LONGER), Ordering::Relaxed);
        Ok(Attended {
            status,
            err: ran.err.text(),
        })
    }
}

/// A command that has ended, with its standard error.
struct Attended {
    status: Status,
    err: String,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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

fn odd<S: AsRef<OsStr>>(asked: &[S], message: &str) -> Error {
    Error::Git {
        command: name_of(asked),
        message: message.to_owned(),
    }
}

/// The name of a command of Git, which is behind settings.
fn name_of<S: AsRef<OsStr>>(asked: &[S]) -> String {
    let mut words = asked.iter().map(|word| word.as_ref().to_string_lossy());
    let mut first = words.next();
    while first.as_deref() == Some("-c") {
        first = words.nth(1);
    }
    first.unwrap_or_default().into_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::tree::Tree;
    use super::*;

    /// A repository made by a script.
    pub(crate) struct Made {
        pub(crate) folder: TempDir,
    }

    pub(crate) fn env() -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| name == "PATH" || name == "HOME" || name == "TMPDIR")
            .collect();
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Ann"),
            ("GIT_AUTHOR_EMAIL", "ann@example.org"),
            ("GIT_COMMITTER_NAME", "Ann"),
            ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ] {
            env.push((name.into(), value.into()));
        }
        env
    }

    pub(crate) fn git() -> Git {
        Git {
            env: env(),
            sandbox: Some(Sandbox::default().allow_programs()),
            limits: Limits::of_machine(&std::env::temp_dir()),
            deadline: Deadline::never(),
        }
    }

    impl Made {
        pub(crate) fn by(script: &str) -> Made {
            let made = Made {
                folder: tempfile::tempdir().unwrap(),
            };
            made.run(&format!("set -e\ngit init -q -b main .\ncommit() {{ git add -A; git commit -qm \"$1\"; }}\n{script}"));
            made
        }

        pub(crate) fn run(&self, script: &str) -> String {
            let launch = Launch {
                file: "/bin/sh".into(),
                args: vec!["-c".into(), script.into()],
                env: env(),
                directory: self.folder.path().to_owned(),
                limits: Limits::default(),
                sandbox: None,
            };
            let ended = launch.run(Duration::from_secs(60)).unwrap();
            assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
            ended.out
        }

        pub(crate) fn repository(&self) -> Repository {
            Repository::find(self.folder.path(), &git()).unwrap()
        }
    }

    #[test]
    fn versions_are_checked_out_and_the_repository_stays_as_it_is() {
        let made = Made::by(
            "printf 'a\\r\\n' >a; printf '#!/bin/sh\\n' >run; chmod +x run; ln -s a link; mkdir d; echo x >d/x; commit one
             echo b >>a; commit two; echo dirty >>a; echo new >untracked; echo skipped >.gitignore; echo s >skipped",
        );
        let snapshot = "find . -type f | sort | xargs sha256sum; find . | sort | xargs stat -c '%n %Y %a' | sort";
        let before = made.run(snapshot);
        let repository = made.repository();
        let good = repository.resolve("HEAD~1").unwrap();
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("good");
        repository
            .check_out(&repository.tree_of(&good).unwrap(), &folder)
            .unwrap();
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"a\r\n");
        assert!(folder.join("link").is_symlink());
        assert_eq!(fs::read(folder.join("d/x")).unwrap(), b"x\n");
        let copied = out.path().join("copied");
        repository.copy_work_tree(&copied).unwrap();
        let files: Vec<_> = Tree::read(&copied).unwrap().0.into_keys().collect();
        let expect = [".gitignore", "a", "d/x", "link", "run", "untracked"];
        assert_eq!(files, expect.map(PathBuf::from));
        assert!(repository.is_dirty().unwrap());
        assert_eq!(made.run(snapshot), before);
    }

    #[test]
    fn branches_are_merged_outside_of_the_repository() {
        let made = Made::by(
            "seq 20 >a; commit base; git checkout -qb side; sed -i s/^2$/two/ a; commit side
             git checkout -q main; sed -i s/^19$/nineteen/ a; commit main; git checkout -qb clash HEAD~1; sed -i s/^19$/other/ a; commit clash",
        );
        let repository = made.repository();
        let count = "find .git/objects -type f | wc -l";
        let before = made.run(count);
        let id = |name: &str| repository.resolve(name).unwrap();
        let merged = repository
            .merged(&[&id("main"), &id("side")])
            .unwrap()
            .unwrap();
        let out = tempfile::tempdir().unwrap();
        repository
            .check_out(&merged, &out.path().join("x"))
            .unwrap();
        let text = fs::read_to_string(out.path().join("x/a")).unwrap();
        assert!(
            text.contains("two\n") && text.contains("nineteen\n"),
            "{text}"
        );
        assert_eq!(
            repository.merged(&[&id("main"), &id("clash")]).unwrap(),
            None
        );
        assert_eq!(made.run(count), before);
    }

    #[test]
    fn histories_without_a_common_commit_are_merged() {
        let made = Made::by(
            "echo a >a; commit base; git checkout -q --orphan other; git rm -qrf .; echo b >b; commit other",
        );
        let repository = made.repository();
        let id = |name: &str| repository.resolve(name).unwrap();
        let merged = repository.merged(&[&id("main"), &id("other")]).unwrap();
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("x");
        repository.check_out(&merged.unwrap(), &folder).unwrap();
        assert!(folder.join("a").exists() && folder.join("b").exists());
    }

    #[test]
    fn what_is_missing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Repository::find(folder.path(), &git()).err().unwrap();
        assert!(matches!(error, Error::NoRepository { .. }), "{error}");
        let made = Made::by(
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

    #[test]
    fn lines_from_before_the_branches_parted_are_of_no_commit_between() {
        let made = Made::by(
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
        let made = Made::by(
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

    /// A repository whose settings name programs at every place where Git starts one on the way.
    fn hostile(precious: &Path) -> Made {
        let attack = format!("rm -f {}; cat", precious.display());
        Made::by(&format!(
            "seq 9 >a; echo '* filter=evil diff=evil merge=evil' >.gitattributes; commit base
             git checkout -qb side; sed -i s/^2$/two/ a; commit side
             git checkout -q main; sed -i s/^2$/deux/ a; commit main; echo dirty >>a
             printf '#!/bin/sh\n{attack}\n' >.git/evil; chmod +x .git/evil
             mkdir -p .git/hooks; cp .git/evil .git/hooks/post-checkout; cp .git/evil .git/hooks/post-index-change
             evil=$PWD/.git/evil
             for key in filter.evil.smudge filter.evil.clean diff.evil.textconv diff.external core.fsmonitor \
                 merge.evil.driver core.sshCommand gpg.program; do git config $key $evil; done
             git config log.showSignature true"
        ))
    }

    #[test]
    fn programs_that_a_repository_names_cannot_delete_files() {
        let home = tempfile::tempdir().unwrap();
        let precious = home.path().join("precious");
        let used = |git: &Git| {
            fs::write(&precious, "kept").unwrap();
            let made = hostile(&precious);
            // What the script itself did does not count.
            fs::write(&precious, "kept").unwrap();
            let repository = Repository::find(made.folder.path(), git).unwrap();
            let id = |name: &str| repository.resolve(name).unwrap();
            let _ = repository.is_dirty();
            let _ = repository.merged(&[&id("main"), &id("side")]);
            let out = tempfile::tempdir().unwrap();
            let tree = repository.tree_of(&id("main")).unwrap();
            let _ = repository.check_out(&tree, &out.path().join("x"));
            let _ = repository.copy_work_tree(&out.path().join("y"));
            let _ = repository.blame(&id("main~1"), &id("main"), Path::new("a"));
            let _ = repository.describe(&[id("main")]);
            precious.exists()
        };
        assert!(used(&git()));
        let unconfined = Git {
            sandbox: None,
            ..git()
        };
        assert!(!used(&unconfined), "the attack is none");
    }

    /// A repository whose checkout runs a script.
    fn with_filter(script: &str) -> Made {
        Made::by(&format!(
            "echo '* filter=odd' >.gitattributes; seq 9 >a; commit one
             printf '%s' '{script}' >.git/filter.sh; git config filter.odd.smudge \"sh $PWD/.git/filter.sh\""
        ))
    }

    fn checked_out(made: &Made, git: &Git) -> Result<(), Error> {
        let repository = Repository::find(made.folder.path(), git).unwrap();
        let tree = repository.tree_of("HEAD").unwrap();
        let out = tempfile::tempdir().unwrap();
        repository.check_out(&tree, &out.path().join("x"))
    }

    #[test]
    fn a_filter_that_hangs_ends_with_the_time_and_further_commands_have_none() {
        let made = with_filter("sleep 1000");
        let hasty = Git {
            deadline: Deadline::after(Duration::from_secs(1)),
            ..git()
        };
        let began = Instant::now();
        let repository = Repository::find(made.folder.path(), &hasty).unwrap();
        let tree = repository.tree_of("HEAD").unwrap();
        let out = tempfile::tempdir().unwrap();
        let error = repository.check_out(&tree, &out.path().join("x"));
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("git checkout-index has not ended"),
            "{error}"
        );
        let first = began.elapsed();
        assert!(first >= GRACE && first < 3 * GRACE, "{first:?}");
        // The first one that is cut off may be any of the two of a checkout.
        assert!(repository.check_out(&tree, &out.path().join("y")).is_err());
        assert!(began.elapsed() < first + GRACE / 2);
    }

    #[test]
    fn what_is_left_to_ask_when_the_time_is_over_is_answered() {
        let made = Made::by("echo a >a; commit one");
        let over = Git {
            deadline: Deadline::after(Duration::ZERO),
            ..git()
        };
        checked_out(&made, &over).unwrap();
    }

    #[test]
    fn a_filter_that_fills_disk_or_memory_is_ended() {
        let small = Git {
            limits: Limits {
                memory: Some(64 << 20),
                file_size: Some(4 << 20),
                ..Limits::default()
            },
            ..git()
        };
        let fill = "while :; do i=$((i+1)); head -c 3000000 /dev/zero >fill$i; sleep 0.01; done";
        let error = checked_out(&with_filter(fill), &small).unwrap_err();
        assert!(
            error.to_string().contains("wrote more than 8 MB"),
            "{error}"
        );
        let hoard = "head -c 300000000 /dev/zero | tail -c 200000000 >/dev/null && cat";
        let made = with_filter(hoard);
        made.run("git config filter.odd.required true");
        checked_out(&made, &git()).unwrap();
        assert!(checked_out(&made, &small).is_err());
        let made = with_filter("cat");
        checked_out(&made, &small).unwrap();
    }
}
