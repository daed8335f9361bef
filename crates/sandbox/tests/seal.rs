//! A process seals itself and tries what it may not do any more. It is this test's own program,
//! started once more: a seal is for good.
#![cfg(target_os = "linux")]

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use culprit_sandbox::{Filter, Network, seal};
use rustix::process::{Signal, getpid, getppid, kill_process, test_kill_process};

/// Which attempt the started process makes.
const ATTEMPT: &str = "CULPRIT_TEST_ATTEMPT";

/// The errors of each attempt, from a thread that was there before and from a new one.
fn attempts(enter: impl FnOnce(), attempt: fn() -> io::Result<()>) -> [io::Result<()>; 2] {
    let (go, wait) = mpsc::channel::<()>();
    let old = thread::spawn(move || {
        let _ = wait.recv();
        attempt()
    });
    enter();
    drop(go);
    let new = thread::spawn(attempt);
    [old.join().unwrap(), new.join().unwrap()]
}

#[expect(clippy::disallowed_methods, reason = "the command under test")]
fn start_program() -> io::Result<()> {
    Command::new("/bin/true").status().map(drop)
}

fn signal_parent() -> io::Result<()> {
    let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
    Ok(test_kill_process(parent)?)
}

fn signal_self() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::WINCH)?)
}

fn open_socket() -> io::Result<()> {
    std::net::UdpSocket::bind("127.0.0.1:0").map(drop)
}

fn change_mode() -> io::Result<()> {
    let file = std::env::current_exe()?;
    std::fs::set_permissions(&file, std::fs::metadata(&file)?.permissions())
}

fn talk_to_a_thread() -> io::Result<()> {
    let (mut here, mut there) = std::os::unix::net::UnixStream::pair()?;
    let writer = thread::spawn(move || io::Write::write_all(&mut there, b"x"));
    io::Read::read_exact(&mut here, &mut [0])?;
    writer.join().unwrap()
}

/// Runs in the started process only.
#[test]
fn inside() {
    let Ok(name) = std::env::var(ATTEMPT) else {
        return;
    };
    let (filter, name) = name.split_once(' ').unwrap();
    let enter = || match filter {
        "seal" => seal().unwrap(),
        "launch" => Filter::for_launch(Network::Nothing)
            .unwrap()
            .enter_with_all_threads()
            .unwrap(),
        _ => {}
    };
    let attempt = match name {
        "start_program" => start_program,
        "signal_parent" => signal_parent,
        "signal_self" => signal_self,
        "open_socket" => open_socket,
        "change_mode" => change_mode,
        "talk_to_a_thread" => talk_to_a_thread,
        _ => panic!("no attempt {name}"),
    };
    let denied = |result: &io::Result<()>| match result {
        Ok(()) => false,
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => true,
        Err(error) => panic!("{error}"),
    };
    let results = attempts(enter, attempt);
    let results: Vec<bool> = results.iter().map(denied).collect();
    assert_eq!(results[0], results[1], "all threads are alike");
    std::process::exit(if results[0] { 13 } else { 0 });
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the process under test")]
fn check(filter: &str, attempt: &str, denied: bool) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "inside", "--nocapture"])
        .env(ATTEMPT, format!("{filter} {attempt}"))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let expect = if denied { 13 } else { 0 };
    assert_eq!(status.code(), Some(expect), "{filter} {attempt}");
}

#[test]
fn a_sealed_process_has_its_threads_and_itself_but_nobody_else() {
    assert!(Filter::is_available());
    for (attempt, denied) in [
        ("start_program", true),
        ("signal_parent", true),
        ("signal_self", false),
        ("talk_to_a_thread", false),
        ("open_socket", false),
    ] {
        check("none", attempt, false);
        check("seal", attempt, denied);
    }
}

#[test]
fn a_launched_process_has_no_network_and_changes_no_modes_but_may_execute() {
    for (attempt, denied) in [
        ("open_socket", true),
        ("change_mode", true),
        ("start_program", false),
        ("talk_to_a_thread", false),
    ] {
        check("none", attempt, false);
        check("launch", attempt, denied);
    }
}
