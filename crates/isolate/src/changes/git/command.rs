//! One command of Git: its environment, its sandbox, its time and its output.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use culprit_jvm::{Launch, RunEnd, Status, WatchedRun, untrusted};

use super::Repository;
use crate::changes::Error;
use crate::changes::git_output::{first_line, text};

/// No command of Git takes longer.
const LIMIT: Duration = Duration::from_secs(1800);

/// The time that each command of Git has, also when the time is over: what was found is to be completed.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// A command has so many times as long as the longest before it.
const LONGER: u32 = 3;

/// Bytes that are read of what a command prints.
const PRINTED: u64 = 1 << 30;

/// Bytes of its standard error that are kept.
const KEPT: usize = 1 << 20;

/// The status and output of a command.
pub(super) struct GitOutput {
    pub(super) status: Option<Status>,
    pub(super) out: Vec<u8>,
    pub(super) err: String,
}

impl Repository {
    pub(super) fn line(&self, folder: &Path, asked: &[&str]) -> Result<String, Error> {
        let said = self.run(folder, asked, &[])?;
        match said.status {
            Some(Status::Exited(0)) => Ok(text(&said.out)),
            _ => Err(odd(asked, &first_line(&said.err))),
        }
    }

    pub(crate) fn answer<S: AsRef<OsStr>>(&self, asked: &[S]) -> Result<Vec<u8>, Error> {
        let said = self.ask(asked)?;
        match said.status {
            Some(Status::Exited(0)) => Ok(said.out),
            _ => Err(odd(asked, &first_line(&said.err))),
        }
    }

    pub(super) fn ask<S: AsRef<OsStr>>(&self, asked: &[S]) -> Result<GitOutput, Error> {
        self.run(self.work_tree.as_deref().unwrap_or(&self.data), asked, &[])
    }

    /// Runs Git. What it prints goes through a file: there may be much of it.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        asked: &[S],
        places: &[(&str, &OsStr)],
    ) -> Result<GitOutput, Error> {
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
        Ok(GitOutput {
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
        let ran = launch.run_watched(&WatchedRun {
            limit: LIMIT,
            input: None,
            kept: KEPT,
            wanted: &|| began.elapsed() < grace || !is_over(),
        })?;
        let status = match ran.end {
            // What a shell says of a program that it does not find.
            RunEnd::Ended(Status::Exited(127)) => return Err(Error::NoGit),
            RunEnd::Ended(status) => status,
            RunEnd::Exceeded(excess) => {
                return Err(odd(asked, &format!("killed because it {excess}")));
            }
            RunEnd::Late | RunEnd::Unwanted => {
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

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn odd<S: AsRef<OsStr>>(asked: &[S], message: &str) -> Error {
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
mod tests {
    use std::fs;

    use culprit_jvm::{Deadline, Limits};

    use super::super::fixture::{ScriptedRepository, git};
    use super::super::{Git, Repository};
    use super::*;

    /// A repository whose settings name programs at every place where Git starts one on the way.
    fn hostile(precious: &Path) -> ScriptedRepository {
        let attack = format!("rm -f {}; cat", precious.display());
        ScriptedRepository::by(&format!(
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
    fn with_filter(script: &str) -> ScriptedRepository {
        ScriptedRepository::by(&format!(
            "echo '* filter=odd' >.gitattributes; seq 9 >a; commit one
             printf '%s' '{script}' >.git/filter.sh; git config filter.odd.smudge \"sh $PWD/.git/filter.sh\""
        ))
    }

    fn checked_out(made: &ScriptedRepository, git: &Git) -> Result<(), Error> {
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
        let made = ScriptedRepository::by("echo a >a; commit one");
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
