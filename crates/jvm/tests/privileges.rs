//! Whoever starts a confined program, root included: it has no power but its own, no open file but
//! those meant for it, and it makes nothing that others would trip over.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use culprit_jvm::{Ended, Launch, Limits, Sandbox, Status};
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const LIMIT: Duration = Duration::from_secs(60);

fn launch(directory: &Path, program: &[&str], sandbox: Option<Sandbox>) -> Ended {
    let launch = Launch {
        file: program[0].into(),
        args: program[1..].iter().map(Into::into).collect(),
        env: vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())],
        directory: directory.to_owned(),
        limits: Limits::default(),
        sandbox,
    };
    launch.run(LIMIT).unwrap()
}

/// A command of several programs, in a folder that it may write to.
fn command(folder: &Path, script: &str, confined: bool) -> Ended {
    let sandbox = Sandbox::default().allow_write(folder).allow_programs();
    let sandbox = sandbox.allow_attributes();
    let program = ["/bin/sh", "-c", script];
    launch(folder, &program, confined.then_some(sandbox))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_confined_program_has_no_capability_and_can_get_none() {
    let folder = tempfile::tempdir().unwrap();
    let program = ["/bin/cat", "/proc/self/status"];
    let field = |ended: &Ended, name: &str| {
        let line = ended.out.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_whitespace().last());
        value.unwrap_or_default().to_owned()
    };
    let sandboxes = [Sandbox::default(), Sandbox::default().allow_loopback()];
    for sandbox in sandboxes {
        let confined = launch(folder.path(), &program, Some(sandbox));
        for name in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(field(&confined, name), "0000000000000000", "{name}");
        }
        assert_eq!(field(&confined, "NoNewPrivs:"), "1");
        assert_eq!(field(&confined, "Seccomp:"), "2");
        if is_root() {
            assert_eq!(field(&confined, "CapBnd:"), "0000000000000000");
        }
    }
    if is_root() {
        let free = launch(folder.path(), &program, None);
        assert_ne!(field(&free, "CapEff:"), "0000000000000000");
    }
}

#[test]
fn no_open_file_of_ours_reaches_a_started_program() {
    let folder = tempfile::tempdir().unwrap();
    let precious = File::create(folder.path().join("precious")).unwrap();
    fcntl_setfd(&precious, FdFlags::empty()).unwrap();
    let script = format!("echo harm >&{}", precious.as_raw_fd());
    for confined in [false, true] {
        let ended = command(folder.path(), &script, confined);
        assert_ne!(ended.status, Some(Status::Exited(0)), "{ended:?}");
    }
    assert_eq!(precious.metadata().unwrap().len(), 0);
}

#[test]
fn no_device_or_pipe_is_made_where_files_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let mut scripts = vec!["mkfifo made"];
    if is_root() {
        scripts.extend(["mknod made c 1 3", "mknod made b 7 0"]);
    }
    let made = folder.path().join("made");
    for script in scripts {
        let free = command(folder.path(), script, false);
        assert_eq!(free.status, Some(Status::Exited(0)), "{script}: {free:?}");
        fs::remove_file(&made).unwrap();
        let confined = command(folder.path(), script, true);
        assert_ne!(confined.status, Some(Status::Exited(0)), "{script}");
        assert!(fs::symlink_metadata(&made).is_err(), "{script}");
    }
}

/// A terminal of this user in which a line was typed, the program at it, and its path.
fn terminal() -> (OwnedFd, OwnedFd, String) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let path = ptsname(&keyboard, Vec::new()).unwrap();
    let path = path.into_string().unwrap();
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let screen = rustix::fs::open(&path, flags, Mode::empty()).unwrap();
    rustix::io::write(&keyboard, b"password\n").unwrap();
    (keyboard, screen, path)
}

#[test]
fn a_confined_program_reads_no_terminal_but_everything_else() {
    let folder = tempfile::tempdir().unwrap();
    let (_keyboard, _screen, path) = terminal();
    let confined = || Sandbox::default().allow_write(folder.path());
    let read = ["/usr/bin/head", "-n1", &path];
    let ended = launch(folder.path(), &read, Some(confined()));
    assert!(ended.err.contains("Permission denied"), "{ended:?}");
    assert_eq!(ended.out, "", "{ended:?}");
    // By a link of its own, and by the folder of the processes that have it open.
    let script = "ln -s TERMINAL link; for it in TERMINAL link /dev/tty /proc/PARENT/fd/*; do head -n1 $it; done; \
                  for it in TERMINAL link; do head -n1 <$it; done; head -c1 /dev/ptmx";
    let script = script
        .replace("TERMINAL", &path)
        .replace("PARENT", &std::process::id().to_string());
    let ended = command(folder.path(), &script, true);
    assert!(!ended.out.contains("password"), "{ended:?}");
    // It was there to be read all the time.
    let ended = launch(folder.path(), &read, None);
    assert_eq!(ended.out, "password\n", "{ended:?}");

    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    let file = shared.path().join("file");
    fs::write(&file, "x").unwrap();
    let file = file.display().to_string();
    for path in [
        &file,
        "/dev/zero",
        "/dev/urandom",
        "/etc/passwd",
        "/proc/self/stat",
    ] {
        let ended = launch(
            folder.path(),
            &["/usr/bin/head", "-c1", path],
            Some(confined()),
        );
        assert!(!ended.out.is_empty(), "{path}: {ended:?}");
    }
    for path in ["/dev/null", "/dev/stdin"] {
        let ended = launch(folder.path(), &["/bin/cat", path], Some(confined()));
        assert_eq!(ended.status, Some(Status::Exited(0)), "{path}: {ended:?}");
    }
    let list = ["/bin/ls", "/", "/dev", "/dev/pts"];
    let ended = launch(folder.path(), &list, Some(confined()));
    assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
    let ended = command(folder.path(), "echo x | cat /dev/stdin /dev/fd/0", true);
    assert_eq!(ended.out, "x\n", "{ended:?}");
}

/// A folder that a program may write to is readable, wherever it is.
#[test]
fn what_can_be_written_can_be_read() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = "echo text >file && mv file other && cat other";
    let ended = command(folder.path(), script, true);
    assert_eq!(ended.out, "text\n", "{ended:?}");
}

#[test]
fn a_confined_command_builds_in_its_folder_and_touches_nothing_else() {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let precious = home.path().join("precious");
    fs::write(&precious, "text").unwrap();
    let build = "printf '#!/bin/sh\necho built | sed s/b/B/\n' >tool && chmod +x tool \
                 && touch -d 2001-01-01 tool && cp -p tool copy && ./copy";
    let ended = command(folder.path(), build, true);
    assert_eq!(ended.out, "Built\n", "{ended:?}");
    for harm in [
        "echo harm >PATH",
        "rm PATH",
        "mv PATH here",
        "kill -9 PARENT",
    ] {
        let script = harm
            .replace("PATH", &precious.display().to_string())
            .replace("PARENT", &std::process::id().to_string());
        let ended = command(folder.path(), &script, true);
        assert_ne!(ended.status, Some(Status::Exited(0)), "{harm}: {ended:?}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "text", "{harm}");
    }
}
