//! A process seals itself and tries what it may not do any more. It is this test's own program,
//! started once more: a seal is for good.
#![cfg(target_os = "linux")]

use std::io;
use std::os::fd::AsRawFd;
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

/// A system call of numbers only.
#[expect(unsafe_code, reason = "no safe library has all of these calls")]
fn call(number: i64, arguments: [i64; 3]) -> io::Result<i64> {
    let [a, b, c] = arguments;
    // SAFETY: where the calls below take addresses they get null, at which the kernel neither reads
    // nor writes.
    let result = unsafe { libc::syscall(number, a, b, c) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Passes if the kernel looks at the call at all, and finds fault with its arguments.
fn reaches_kernel(number: i64, arguments: [i64; 3]) -> io::Result<()> {
    match call(number, arguments) {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => Err(error),
        _ => Ok(()),
    }
}

fn share_memory() -> io::Result<()> {
    let mode = i64::from(libc::IPC_CREAT | 0o600);
    let id = call(libc::SYS_shmget, [libc::IPC_PRIVATE.into(), 4096, mode])?;
    call(libc::SYS_shmctl, [id, libc::IPC_RMID.into(), 0]).map(drop)
}

fn make_semaphore() -> io::Result<()> {
    let mode = i64::from(libc::IPC_CREAT | 0o600);
    let id = call(libc::SYS_semget, [libc::IPC_PRIVATE.into(), 1, mode])?;
    call(libc::SYS_semctl, [id, 0, libc::IPC_RMID.into()]).map(drop)
}

fn open_queue() -> io::Result<()> {
    reaches_kernel(libc::SYS_mq_open, [0, 0, 0])
}

fn adjust_clock() -> io::Result<()> {
    reaches_kernel(libc::SYS_adjtimex, [0, 0, 0])
}

fn move_pages_of_parent() -> io::Result<()> {
    let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
    reaches_kernel(
        libc::SYS_move_pages,
        [parent.as_raw_nonzero().get().into(), 0, 0],
    )
}

/// Which changes nothing: it has the priority that it has.
fn set_priority(of: i64) -> io::Result<()> {
    // The kernel answers with 20 minus the priority.
    let now = 20 - call(libc::SYS_getpriority, [0, of, 0])?;
    call(libc::SYS_setpriority, [0, of, now]).map(drop)
}

fn set_priority_of_parent() -> io::Result<()> {
    let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
    set_priority(parent.as_raw_nonzero().get().into())
}

fn set_own_priority() -> io::Result<()> {
    set_priority(0)
}

/// Requests on a file that is open for reading: it has no such attributes, or the address is bad.
fn change_flags_of_file() -> io::Result<()> {
    let file = std::fs::File::open(std::env::current_exe()?)?;
    for request in [0x4008_6602, 0x401c_5820] {
        reaches_kernel(libc::SYS_ioctl, [file.as_raw_fd().into(), request, 0])?;
    }
    Ok(())
}

fn type_into_terminal() -> io::Result<()> {
    for request in [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCSCTTY] {
        reaches_kernel(libc::SYS_ioctl, [0, i64::try_from(request).unwrap(), 0])?;
    }
    Ok(())
}

fn ask_for_length() -> io::Result<()> {
    let (here, _there) = std::os::unix::net::UnixStream::pair()?;
    Ok(rustix::io::ioctl_fionread(&here).map(drop)?)
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
        "share_memory" => share_memory,
        "make_semaphore" => make_semaphore,
        "open_queue" => open_queue,
        "adjust_clock" => adjust_clock,
        "move_pages_of_parent" => move_pages_of_parent,
        "set_priority_of_parent" => set_priority_of_parent,
        "set_own_priority" => set_own_priority,
        "change_flags_of_file" => change_flags_of_file,
        "type_into_terminal" => type_into_terminal,
        "ask_for_length" => ask_for_length,
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

#[test]
fn a_launched_process_leaves_the_system_and_other_processes_alone() {
    for (attempt, denied) in [
        ("share_memory", true),
        ("make_semaphore", true),
        ("open_queue", true),
        ("adjust_clock", true),
        ("move_pages_of_parent", true),
        ("set_priority_of_parent", true),
        ("set_own_priority", false),
        ("change_flags_of_file", true),
        ("type_into_terminal", true),
        ("ask_for_length", false),
    ] {
        check("none", attempt, false);
        check("launch", attempt, denied);
    }
}
