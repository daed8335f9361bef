//! A process seals itself and tries what it may not do any more. It is this test's own program,
//! started once more: a seal is for good.
#![cfg(target_os = "linux")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use culprit_sandbox::{Filter, Permissions, seal};
use rustix::process::{Signal, getpid, getppid, kill_process, test_kill_process};

/// Which attempt the started process makes.
const ATTEMPT: &str = "CULPRIT_TEST_ATTEMPT";

/// The permissions of a user's command.
const COMMAND: Permissions = Permissions {
    network: culprit_sandbox::Network::Nothing,
    programs: true,
    attributes: true,
    shared_memory: false,
};

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

/// Ends this process with status 0 where that is not denied.
#[expect(clippy::disallowed_methods, reason = "the command under test")]
fn become_program() -> io::Result<()> {
    Err(std::os::unix::process::CommandExt::exec(&mut Command::new(
        "/bin/true",
    )))
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

/// Each call that changes the mode, the times or the owner of a file, on a new file whose set-user-id bit is lost
/// with any owner. All of them must return success. `EACCES` stands for files that are as they were.
#[expect(unsafe_code, reason = "no safe library has all of these calls")]
fn change_attributes() -> io::Result<()> {
    // Two times, of a second and its parts each.
    let day = [86_400_i64, 0, 86_400, 0];
    let (at, here) = (day.as_ptr() as i64, i64::from(libc::AT_FDCWD));
    let us = i64::from(rustix::process::geteuid().as_raw());
    let of_path = |path: i64, open: i64| {
        let mut calls = vec![
            (libc::SYS_fchmod, [open, 0o606, 0, 0, 0]),
            (libc::SYS_fchmodat, [here, path, 0o606, 0, 0]),
            (libc::SYS_utimensat, [here, path, at, 0, 0]),
            (libc::SYS_fchown, [open, us, -1, 0, 0]),
            (libc::SYS_fchownat, [here, path, us, -1, 0]),
        ];
        #[cfg(target_arch = "x86_64")]
        calls.extend([
            (libc::SYS_chmod, [path, 0o606, 0, 0, 0]),
            (libc::SYS_utime, [path, at, 0, 0, 0]),
            (libc::SYS_utimes, [path, at, 0, 0, 0]),
            (libc::SYS_futimesat, [here, path, at, 0, 0]),
            (libc::SYS_chown, [path, us, -1, 0, 0]),
            (libc::SYS_lchown, [path, us, -1, 0, 0]),
        ]);
        calls
    };
    let mut changed = Vec::new();
    for number in 0..of_path(0, 0).len() {
        let thread = thread::current().id();
        let name = format!("culprit-{}-{thread:?}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut new = File::options();
        let file = new.write(true).create_new(true).mode(0o4700).open(&path)?;
        let seen = || file.metadata().map(|it| (it.mode(), it.mtime()));
        let before = seen()?;
        let name = CString::new(path.as_os_str().as_bytes())?;
        let (call, [a, b, c, d, e]) =
            of_path(name.as_ptr() as i64, file.as_raw_fd().into())[number];
        // SAFETY: the addresses are those of a text that ends with zero and of two times, which live on.
        let result = unsafe { libc::syscall(call, a, b, c, d, e) };
        assert_eq!(result, 0, "{call}: {}", io::Error::last_os_error());
        changed.push(seen()? != before);
        std::fs::remove_file(&path)?;
    }
    match changed.iter().all(|it| *it == changed[0]) {
        true if changed[0] => Ok(()),
        true => Err(io::Error::from_raw_os_error(libc::EACCES)),
        false => panic!("{changed:?}"),
    }
}

/// Of no file: only the mode matters.
fn set_id_of_file() -> io::Result<()> {
    reaches_kernel(libc::SYS_fchmod, [-1, 0o4777])
}

fn set_own_identity() -> io::Result<()> {
    call(libc::SYS_setresuid, [-1, -1, -1]).map(drop)
}

fn talk_to_a_thread() -> io::Result<()> {
    let (mut here, mut there) = std::os::unix::net::UnixStream::pair()?;
    let writer = thread::spawn(move || io::Write::write_all(&mut there, b"x"));
    io::Read::read_exact(&mut here, &mut [0])?;
    writer.join().unwrap()
}

/// A system call of numbers only.
#[expect(unsafe_code, reason = "no safe library has all of these calls")]
fn call<const N: usize>(number: i64, given: [i64; N]) -> io::Result<i64> {
    let mut arguments = [0; 6];
    arguments[..N].copy_from_slice(&given);
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: where the calls below take addresses they get null or one beyond all memory, at which the
    // kernel neither reads nor writes.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Passes if the kernel looks at the call at all, and finds fault with its arguments.
fn reaches_kernel<const N: usize>(number: i64, arguments: [i64; N]) -> io::Result<()> {
    match call(number, arguments) {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => Err(error),
        _ => Ok(()),
    }
}

fn pair_of_datagrams() -> io::Result<()> {
    std::os::unix::net::UnixDatagram::pair().map(drop)
}

/// Of no socket, so it goes nowhere: only the address matters.
fn send_to_address() -> io::Result<()> {
    reaches_kernel(libc::SYS_sendto, [-1, 0, 0, 0, -1, 16])
}

fn send_with_message() -> io::Result<()> {
    reaches_kernel(libc::SYS_sendmsg, [-1, 0, 0])
}

fn own_signals_of_descriptor() -> io::Result<()> {
    let (here, _there) = std::os::unix::net::UnixStream::pair()?;
    let command = libc::F_SETOWN.into();
    reaches_kernel(libc::SYS_fcntl, [here.as_raw_fd().into(), command, 0])
}

fn outlive_parent() -> io::Result<()> {
    call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG.into(), 0, 0]).map(drop)
}

fn map(flags: i32) -> io::Result<()> {
    let all = libc::PROT_READ | libc::PROT_WRITE;
    let flags = flags | libc::MAP_ANONYMOUS;
    call(libc::SYS_mmap, [0, 4096, all.into(), flags.into(), -1, 0]).map(drop)
}

fn share_pages() -> io::Result<()> {
    map(libc::MAP_SHARED)
}

fn private_pages() -> io::Result<()> {
    map(libc::MAP_PRIVATE)
}

fn file_of_memory() -> io::Result<()> {
    reaches_kernel(libc::SYS_memfd_create, [0, 0])
}

/// Every call that is on no list, with arguments that are good for nothing. Passes unless all are
/// denied, or not there at all.
fn anything_else() -> io::Result<()> {
    let allowed = Filter::allowed(Permissions::default()).unwrap();
    // The kernel asks no filter about its probes, and kills whoever calls them from elsewhere.
    let probes = 335..=336;
    let ignored = Filter::ignored(Permissions::default());
    let harmful = (0..600).filter(|number| {
        !allowed.contains(number) && !ignored.contains(number) && !probes.contains(number)
    });
    for number in harmful {
        let known = [libc::EACCES, libc::ENOSYS];
        match call(number, [-1; 6]).map_err(|error| error.raw_os_error()) {
            Err(Some(error)) if known.contains(&error) => {}
            _ => return Ok(()),
        }
    }
    Err(io::Error::from_raw_os_error(libc::EACCES))
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

fn launch(permissions: Permissions) {
    let filter = Filter::for_launch(permissions).unwrap();
    filter.enter_with_all_threads().unwrap();
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
        "launch" => launch(Permissions::default()),
        "command" => launch(COMMAND),
        _ => {}
    };
    let attempt = match name {
        "start_program" => start_program,
        "set_id_of_file" => set_id_of_file,
        "set_own_identity" => set_own_identity,
        "become_program" => become_program,
        "pair_of_datagrams" => pair_of_datagrams,
        "send_to_address" => send_to_address,
        "send_with_message" => send_with_message,
        "own_signals_of_descriptor" => own_signals_of_descriptor,
        "outlive_parent" => outlive_parent,
        "share_pages" => share_pages,
        "file_of_memory" => file_of_memory,
        "private_pages" => private_pages,
        "anything_else" => anything_else,
        "signal_parent" => signal_parent,
        "signal_self" => signal_self,
        "open_socket" => open_socket,
        "change_mode" => change_mode,
        "change_attributes" => change_attributes,
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
fn a_launched_process_has_no_network_but_may_execute() {
    for (attempt, denied) in [
        ("open_socket", true),
        ("start_program", true),
        ("become_program", false),
        ("talk_to_a_thread", false),
    ] {
        check("none", attempt, false);
        check("launch", attempt, denied);
    }
}

#[test]
fn changes_of_modes_times_and_owners_succeed_and_have_no_effect() {
    check("none", "change_attributes", false);
    check("launch", "change_mode", false);
    check("launch", "change_attributes", true);
    check("command", "change_mode", false);
}

#[test]
fn no_call_gets_through_that_is_on_no_list() {
    check("launch", "anything_else", true);
    // What was not tried is not so much that nothing was.
    let allowed = |permissions| Filter::allowed(permissions).unwrap();
    let (jvm, command) = (allowed(Permissions::default()), allowed(COMMAND));
    assert!(jvm.len() > 150 && jvm.iter().all(|call| command.contains(call)));
}

#[test]
fn a_launched_process_reaches_nobody_by_the_pairs_and_descriptors_it_may_have() {
    for (attempt, denied) in [
        ("pair_of_datagrams", true),
        ("send_to_address", true),
        ("send_with_message", true),
        ("own_signals_of_descriptor", true),
        ("outlive_parent", true),
    ] {
        check("none", attempt, false);
        check("launch", attempt, denied);
    }
}

#[test]
fn memory_that_no_limit_counts_is_denied() {
    for (attempt, denied) in [
        ("share_pages", true),
        ("file_of_memory", true),
        ("private_pages", false),
    ] {
        check("none", attempt, false);
        check("launch", attempt, denied);
        check("command", attempt, false);
    }
}

#[test]
fn a_command_may_start_programs_but_has_no_network_either() {
    for (attempt, denied) in [
        ("start_program", false),
        ("change_mode", false),
        ("set_id_of_file", true),
        ("set_own_identity", false),
        ("talk_to_a_thread", false),
        ("open_socket", true),
        ("pair_of_datagrams", true),
        ("share_memory", true),
        ("change_flags_of_file", true),
        ("type_into_terminal", true),
        ("set_priority_of_parent", true),
    ] {
        check("command", attempt, denied);
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
