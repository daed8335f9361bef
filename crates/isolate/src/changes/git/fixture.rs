//! Repositories for tests, made by shell scripts.

use std::ffi::OsString;
use std::time::Duration;

use culprit_jvm::{Deadline, Launch, Limits, Sandbox, Status};
use tempfile::TempDir;

use super::{Git, Repository};

/// A repository made by a script.
pub(crate) struct ScriptedRepository {
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

impl ScriptedRepository {
    pub(crate) fn by(script: &str) -> ScriptedRepository {
        let made = ScriptedRepository {
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
