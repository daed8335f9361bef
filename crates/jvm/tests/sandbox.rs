//! Programs in real JVMs try to get out of the sandbox: `fixtures/sandbox`. What is refused
//! inside must work outside, or it proves nothing.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use culprit_jvm::{Ended, Jdk, JdkLocations, Launch, Limits, Sandbox, Status, jvm_options};
use tempfile::TempDir;

/// Enough for any of our programs on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// A JDK with the programs compiled for it.
struct Stage {
    jdk: Jdk,
    classes: TempDir,
}

/// Every JDK once per feature version.
fn stages() -> &'static [Stage] {
    static STAGES: OnceLock<Vec<Stage>> = OnceLock::new();
    STAGES.get_or_init(|| {
        let mut stages: Vec<Stage> = Vec::new();
        for jdk in Jdk::all(&JdkLocations::of_process()) {
            let feature = jdk.version.feature;
            let known = stages.iter().any(|s| s.jdk.version.feature == feature);
            if !known && jdk.tool("javac").is_file() {
                stages.push(Stage::compile(jdk));
            }
        }
        assert!(!stages.is_empty(), "no JDK: install one, or set JAVA_HOME");
        stages
    })
}

impl Stage {
    /// True if its Java is too old for an attempt.
    fn lacks(&self, attempt: &str) -> bool {
        let since = match attempt {
            "unix" => 16,
            "share-memory" => 22,
            _ => 0,
        };
        self.jdk.version.feature < since
    }

    fn compile(jdk: Jdk) -> Stage {
        let classes = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sandbox");
        let sources = fs::read_dir(sources)
            .unwrap()
            .map(|file| file.unwrap().path());
        let javac = Launch {
            file: jdk.tool("javac"),
            args: [OsString::from("-d"), classes.path().into()]
                .into_iter()
                .chain(sources.map(OsString::from))
                .collect(),
            env: Vec::new(),
            directory: classes.path().to_owned(),
            limits: Limits::default(),
            sandbox: None,
        };
        let ended = javac.run(LIMIT).unwrap();
        assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
        Stage { jdk, classes }
    }

    /// A program that works in a folder.
    fn java(&self, directory: &Path, options: &[&str], program: &[String]) -> Launch {
        let options = options.iter().map(|&option| OsString::from(option));
        let class_path = [OsString::from("-cp"), self.classes.path().into()];
        Launch {
            file: self.jdk.tool("java"),
            args: ["-Xmx64m", "-XX:+UseSerialGC"]
                .map(OsString::from)
                .into_iter()
                .chain(jvm_options(directory))
                .chain(options)
                .chain(class_path)
                .chain(program.iter().map(OsString::from))
                .collect(),
            env: Vec::new(),
            directory: directory.to_owned(),
            limits: Limits::default(),
            sandbox: None,
        }
    }
}

/// Things outside the sandbox that a program may be after.
struct World {
    tcp: TcpListener,
    udp: UdpSocket,
    _unix: UnixListener,
    /// Plays the home of the user, and has files to harm.
    home: TempDir,
    /// The only folder that a confined program may write to.
    scratch: TempDir,
    /// A process to harm.
    victim: Child,
}

impl World {
    fn new() -> World {
        let home = tempfile::tempdir().unwrap();
        for name in ["append", "empty", "delete", "move", "link", "times", "mode"] {
            fs::write(home.path().join(name), "precious").unwrap();
        }
        World {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            _unix: UnixListener::bind(home.path().join("socket")).unwrap(),
            home,
            scratch: tempfile::tempdir().unwrap(),
            victim: sleeper(),
        }
    }

    fn in_home(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// Operations that must fail.
    fn harmful(&self) -> Vec<(&'static str, String)> {
        let pid = std::process::id();
        let tmp = std::env::temp_dir().join(format!("culprit-sandbox-{pid}"));
        vec![
            ("connect", self.tcp.local_addr().unwrap().port().to_string()),
            ("listen", "0".to_owned()),
            (
                "datagram",
                self.udp.local_addr().unwrap().port().to_string(),
            ),
            ("unix", self.in_home("socket")),
            ("create-in-home", self.in_home("new")),
            ("create-in-tmp", tmp.display().to_string()),
            ("append", self.in_home("append")),
            ("empty", self.in_home("empty")),
            ("folder", self.in_home("folder")),
            ("delete", self.in_home("delete")),
            ("move-here", self.in_home("move")),
            ("link-here", self.in_home("link")),
            ("execute", "/bin/true".to_owned()),
            ("destroy", self.victim.id().to_string()),
            ("share-memory", "4096".to_owned()),
        ]
    }

    /// Operations that must succeed without effect, on files outside and inside of the writable folder.
    fn ignored(&self) -> Vec<(&'static str, String)> {
        let own = self.scratch.path().join("own");
        fs::write(&own, "text").unwrap();
        vec![
            ("times", self.in_home("times")),
            ("mode", self.in_home("mode")),
            ("times", own.display().to_string()),
            ("mode", own.display().to_string()),
        ]
    }

    /// Operations that must succeed.
    fn harmless(&self) -> Vec<(&'static str, String)> {
        vec![
            ("read", "/etc/passwd".to_owned()),
            ("read", self.in_home("append")),
            ("list", "/".to_owned()),
            ("write-and-read-here", "folder".to_owned()),
            ("temporary", String::new()),
            ("write-null", String::new()),
            ("thread", String::new()),
        ]
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// A process whose end is nobody's concern. It is reaped when it was killed, so that whoever
/// waits for its end sees it.
#[expect(clippy::disallowed_methods, reason = "a process to be harmed")]
fn sleeper() -> Child {
    Command::new("/bin/sleep").arg("1000").spawn().unwrap()
}

/// The outcome of each attempt, as the program prints it.
fn outcomes(ended: &Ended) -> Vec<(&str, &str)> {
    assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
    ended
        .out
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect()
}

fn program(attempts: &[(&str, String)]) -> Vec<String> {
    let words = attempts
        .iter()
        .map(|(name, about)| format!("{name}={about}"));
    std::iter::once("Attempts".to_owned())
        .chain(words)
        .collect()
}

/// Runs attempts with the folder of the world as the current one.
fn attempt(
    stage: &Stage,
    world: &World,
    sandbox: Option<Sandbox>,
    what: &[(&str, String)],
) -> Ended {
    let mut launch = stage.java(world.scratch.path(), &[], &program(what));
    launch.sandbox = sandbox;
    launch.run(LIMIT).unwrap()
}

fn confined(world: &World) -> Option<Sandbox> {
    Some(Sandbox::default().allow_write(world.scratch.path()))
}

/// True if this kernel has a sandbox to test. Where it has gaps the tests are skipped, except in
/// CI.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must see it")]
fn can_confine() -> bool {
    let Some(gap) = Sandbox::probe().gap() else {
        return true;
    };
    assert!(std::env::var_os("CI").is_none(), "{gap}");
    eprintln!("SKIPPED: {gap}");
    false
}

#[test]
fn outside_the_sandbox_everything_works() {
    for stage in stages() {
        let mut world = World::new();
        let mut attempts = world.harmful();
        attempts.extend(world.harmless());
        let ignored = world.ignored();
        let before = attributes(&ignored);
        let reaper = std::thread::spawn({
            let mut victim = std::mem::replace(&mut world.victim, sleeper());
            move || victim.wait()
        });
        let changed = attempt(stage, &world, None, &ignored);
        assert!(
            outcomes(&changed)
                .iter()
                .all(|(_, outcome)| *outcome == "done")
        );
        for (before, after) in before.iter().zip(attributes(&ignored)) {
            assert_ne!(*before, after);
        }
        let ended = attempt(stage, &world, None, &attempts);
        for (name, outcome) in outcomes(&ended) {
            let too_old = stage.lacks(name);
            assert!(outcome == "done" || too_old, "{name}: {outcome}");
        }
        assert_eq!(outcomes(&ended).len(), attempts.len());
        reaper.join().unwrap().unwrap();
    }
}

#[test]
fn inside_the_sandbox_the_kernel_refuses_what_does_harm_and_only_that() {
    if !can_confine() {
        return;
    }
    for stage in stages() {
        let mut world = World::new();
        let before = contents(world.home.path());
        let attempts = world.harmful();
        let ended = attempt(stage, &world, confined(&world), &attempts);
        for (name, outcome) in outcomes(&ended) {
            let by_kernel = [
                "Permission denied",
                "Operation not permitted",
                // Moving or linking out of where one may not take from.
                "Invalid cross-device link",
                "AccessDenied",
            ];
            let refused = by_kernel.iter().any(|reason| outcome.contains(reason));
            // Java says only that the process was not destroyed, the C library only -1.
            let is_untold = ["destroy", "share-memory"].contains(&name);
            let refused = refused || (is_untold && outcome.contains("not so"));
            let too_old = stage.lacks(name);
            assert!(refused || too_old, "{name}: {outcome}");
        }
        assert_eq!(outcomes(&ended).len(), attempts.len());
        assert_eq!(contents(world.home.path()), before);
        assert_eq!(world.victim.try_wait().unwrap(), None, "it is still there");

        let ended = attempt(stage, &world, confined(&world), &world.harmless());
        for (name, outcome) in outcomes(&ended) {
            assert_eq!(outcome, "done", "{name}");
        }
        assert_eq!(outcomes(&ended).len(), world.harmless().len());
    }
}

/// Modes and times of the files that attempts are about.
fn attributes(attempts: &[(&str, String)]) -> Vec<(u32, i64)> {
    let of = |path: &String| fs::metadata(path).map(|about| (about.mode(), about.mtime()));
    attempts.iter().map(|(_, path)| of(path).unwrap()).collect()
}

#[test]
fn modes_and_times_that_a_program_sets_are_ignored() {
    if !can_confine() {
        return;
    }
    for stage in stages() {
        let world = World::new();
        let attempts = world.ignored();
        let before = attributes(&attempts);
        let ended = attempt(stage, &world, confined(&world), &attempts);
        let done = attempts.iter().map(|(name, _)| (*name, "done"));
        assert_eq!(outcomes(&ended), done.collect::<Vec<_>>());
        assert_eq!(attributes(&attempts), before);
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let files = fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().path())
        .map(|file| (file.clone(), fs::read(file).ok()))
        .collect()
}

#[test]
fn the_folder_a_program_works_in_is_not_writable_by_itself() {
    if !can_confine() {
        return;
    }
    let stage = &stages()[0];
    let world = World::new();
    let mut launch = stage.java(
        world.home.path(),
        &[],
        &program(&[("create-in-directory", "new".to_owned())]),
    );
    launch.sandbox = confined(&world);
    let ended = launch.run(LIMIT).unwrap();
    let outcomes = outcomes(&ended);
    assert!(outcomes[0].1.contains("AccessDenied"), "{outcomes:?}");
}

/// Java has several ways to start a program; by default it asks a helper of its own to.
#[test]
fn no_way_of_starting_a_program_works() {
    if !can_confine() {
        return;
    }
    let stage = &stages()[0];
    let world = World::new();
    for way in ["FORK", "POSIX_SPAWN"] {
        let option = format!("-Djdk.lang.Process.launchMechanism={way}");
        let attempts = program(&[("execute", "/bin/true".to_owned())]);
        let mut launch = stage.java(world.scratch.path(), &[&option], &attempts);
        assert_eq!(outcomes(&launch.run(LIMIT).unwrap()), [("execute", "done")]);
        launch.sandbox = confined(&world);
        let ended = launch.run(LIMIT).unwrap();
        let outcomes = outcomes(&ended);
        assert!(outcomes[0].1.contains("Permission denied"), "{outcomes:?}");
    }
}

#[test]
fn further_folders_and_single_files_can_be_opened_for_writing() {
    if !can_confine() {
        return;
    }
    let stage = &stages()[0];
    let world = World::new();
    let further = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::default()
        .allow_write(world.scratch.path())
        .allow_write(further.path())
        .allow_write(world.home.path().join("append"));
    let attempts = [
        ("create", further.path().join("x").display().to_string()),
        ("append", world.in_home("append")),
        ("delete", world.in_home("append")),
    ];
    let ended = attempt(stage, &world, Some(sandbox), &attempts);
    let outcomes = outcomes(&ended);
    assert_eq!(outcomes[0], ("create", "done"));
    assert_eq!(outcomes[1], ("append", "done"));
    assert!(outcomes[2].1.contains("AccessDenied"), "{outcomes:?}");
}

#[test]
fn a_debugger_can_come_in_at_its_port_and_nothing_goes_out() {
    if !can_confine() {
        return;
    }
    let port = free_port();
    let other = free_port();
    for stage in stages() {
        let world = World::new();
        let jdwp = format!(
            "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:{port}"
        );
        let mut launch = stage.java(world.scratch.path(), &[&jdwp], &["Waiting".to_owned()]);
        launch.sandbox = confined(&world).map(|sandbox| sandbox.allow_listen(port));
        let enough = world.scratch.path().join("enough");
        let debugger = std::thread::spawn(move || {
            let answered = shake_hands(port);
            fs::write(enough, "").unwrap();
            answered
        });
        let ended = launch.run(LIMIT).unwrap();
        assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
        assert!(debugger.join().unwrap(), "no debugger came in: {ended:?}");

        let attempts = [
            ("listen", port.to_string()),
            ("listen", other.to_string()),
            (
                "connect",
                world.tcp.local_addr().unwrap().port().to_string(),
            ),
            (
                "datagram",
                world.udp.local_addr().unwrap().port().to_string(),
            ),
        ];
        let sandbox = confined(&world).map(|sandbox| sandbox.allow_listen(port));
        let ended = attempt(stage, &world, sandbox, &attempts);
        let outcomes = outcomes(&ended);
        assert_eq!(outcomes[0], ("listen", "done"));
        for (name, outcome) in &outcomes[1..] {
            assert!(outcome.contains("Permission denied"), "{name}: {outcome}");
        }
    }
}

#[test]
fn a_program_has_a_network_of_its_own_and_nobody_else_is_on_it() {
    if !can_confine() || !Sandbox::probe().loopback {
        return;
    }
    for stage in stages() {
        let world = World::new();
        let port = world.tcp.local_addr().unwrap().port();
        world.tcp.set_nonblocking(true).unwrap();
        let program = ["Echo".to_owned(), port.to_string()];
        let mut java = stage.java(world.scratch.path(), &[], &program);
        // Without a sandbox it is the network of everybody.
        let ended = java.run(LIMIT).unwrap();
        assert!(ended.out.contains("other true"), "{ended:?}");
        world.tcp.accept().unwrap();
        java.sandbox = confined(&world).map(Sandbox::allow_loopback);
        let ended = java.run(LIMIT).unwrap();
        assert_eq!(
            ended.out, "tcp 7\nudp 8\nother false\nfar false\n",
            "{ended:?}"
        );
        assert!(world.tcp.accept().is_err(), "something arrived");
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// True if a JVM at the port answers as debuggers expect.
fn shake_hands(port: u16) -> bool {
    let greeting = b"JDWP-Handshake";
    let started = Instant::now();
    while started.elapsed() < LIMIT {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            stream.write_all(greeting).unwrap();
            let mut answer = [0; 14];
            return stream.read_exact(&mut answer).is_ok() && answer == *greeting;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn memory_is_limited_outside_the_heap_too() {
    for stage in stages() {
        let folder = tempfile::tempdir().unwrap();
        let program = ["Memory".to_owned(), "600".to_owned()];
        let options = ["-XX:MaxDirectMemorySize=2g"];
        let mut launch = stage.java(folder.path(), &options, &program);
        let ended = launch.run(LIMIT).unwrap();
        assert_eq!(ended.out, "took 600\n", "{ended:?}");
        launch.limits.memory = Some(500 << 20);
        let ended = launch.run(LIMIT).unwrap();
        assert_ne!(ended.status, Some(Status::Exited(0)), "{ended:?}");
        launch.args.pop();
        launch.args.push("100".into());
        let ended = launch.run(LIMIT).unwrap();
        assert_eq!(ended.out, "took 100\n", "{ended:?}");
    }
}

#[test]
fn a_place_that_is_not_there_is_an_error_before_anything_starts() {
    if !can_confine() {
        return;
    }
    let stage = &stages()[0];
    let folder = tempfile::tempdir().unwrap();
    let mut launch = stage.java(folder.path(), &[], &["Waiting".to_owned()]);
    launch.sandbox = Some(Sandbox::default().allow_write("/no/such/folder"));
    let error = launch.run(LIMIT).unwrap_err().to_string();
    assert!(error.contains("/no/such/folder"), "{error}");
    launch.sandbox = Some(Sandbox::default());
    launch.file = PathBuf::from("/etc/passwd");
    let error = launch.run(LIMIT).unwrap_err().to_string();
    assert!(error.contains("not a program"), "{error}");
}

#[test]
fn a_started_program_has_a_session_of_its_own_and_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch {
        file: "/bin/cat".into(),
        args: vec!["/proc/self/stat".into()],
        env: Vec::new(),
        directory: folder.path().to_owned(),
        limits: Limits::default(),
        sandbox: None,
    };
    let ended = launch.run(LIMIT).unwrap();
    let (pid, rest) = ended.out.split_once(" (cat) ").unwrap();
    // State, parent, group, session, terminal.
    let fields: Vec<&str> = rest.split(' ').collect();
    assert_eq!(fields[2..5], [pid, pid, "0"], "{ended:?}");
}
