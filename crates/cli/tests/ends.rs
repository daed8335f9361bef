//! Everything that Culprit waits for ends in time, with a signal, and with Culprit itself; and nothing of it is
//! left. The program is `fixtures/debug/waits`, which waits for ever in the sandbox, or in the check of its test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use culprit_jvm::{Jdk, JdkLocations};
use rustix::process::{Pid, Signal, kill_process};

/// Enough for anything on a busy machine, and less than a candidate that waits for ever would take.
const LONG: Duration = Duration::from_secs(100);

/// How the names of folders begin that hold files on the way.
const SCRATCH: &str = "culprit-tmp-";

#[expect(clippy::disallowed_methods, reason = "the commands under test")]
fn command(program: impl AsRef<Path>) -> Command {
    Command::new(program.as_ref())
}

/// A folder with the program, and one for temporary files.
struct Place {
    home: tempfile::TempDir,
    jdk: Jdk,
}

impl Place {
    fn new() -> Place {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("tmp")).unwrap();
        let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
        Place { home, jdk }
    }

    /// The same with the program compiled.
    fn with_program() -> Place {
        static CLASSES: OnceLock<tempfile::TempDir> = OnceLock::new();
        let place = Place::new();
        let classes = CLASSES.get_or_init(|| {
            let classes = tempfile::tempdir().unwrap();
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug/waits");
            let mut javac = command(place.jdk.tool("javac"));
            javac.args(["-g", "-proc:none", "-d"]).arg(classes.path());
            javac.args(["lib/gate/Gate.java", "app/desk/Main.java"].map(|it| sources.join(it)));
            assert!(javac.status().unwrap().success());
            classes
        });
        std::os::unix::fs::symlink(classes.path(), place.at("classes")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn culprit(&self, words: &[&str]) -> Command {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"));
        culprit
            .args(words)
            .current_dir(self.home.path())
            .env("TMPDIR", self.at("tmp"))
            .env("XDG_CACHE_HOME", self.at("cache"))
            .env("JAVA_HOME", &self.jdk.home)
            .env("NO_COLOR", "1")
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        culprit
    }

    /// `culprit ... -- java desk.Main ...`
    fn on_program(&self, words: &[&str], args: &[&str]) -> Command {
        let mut culprit = self.culprit(words);
        let java = self.jdk.tool("java");
        let program = ["-cp".into(), self.at("classes"), "desk.Main".into()];
        culprit.arg("--").arg(java).args(program).args(args);
        culprit
    }

    fn mark(&self) -> String {
        self.at("mark").display().to_string()
    }

    /// Processes, but for Culprit, with such a word behind the folder for temporary files in their command.
    fn processes(&self, word: &str) -> Vec<String> {
        let wanted = format!("{}/{SCRATCH}", self.at("tmp").display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let read = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let text = String::from_utf8_lossy(&read).replace('\0', " ");
            let mut places = text.match_indices(&wanted);
            if places.any(|(at, _)| text[at..].split(' ').next().unwrap().contains(word)) {
                found.push(text);
            }
        }
        found
    }

    /// Folders for temporary files.
    fn scratches(&self) -> usize {
        let entries = fs::read_dir(self.at("tmp")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(SCRATCH)).count()
    }
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LONG, "not seen: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn time_that_is_up_ends_debug_and_minimize_when_all_candidates_hang() {
    let place = Place::with_program();
    let debug = ["debug", "--max-time", "3s", "-o", "out"];
    let began = Instant::now();
    let output = place.on_program(&debug, &[&place.mark()]).output().unwrap();
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(
        err(&output).contains("before --max-time was over"),
        "{}",
        err(&output)
    );

    let record = [
        "record",
        "--quiet",
        "--contents",
        "--observe",
        "gate.**",
        "-o",
        "run",
    ];
    let output = place
        .on_program(&record, &[&place.mark()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let began = Instant::now();
    let minimize = ["minimize", "--max-time", "3s", "-o", "min", "run"];
    let output = place.culprit(&minimize).output().unwrap();
    assert!(began.elapsed() < LONG / 2, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(
        err(&output).contains("before --max-time was over"),
        "{}",
        err(&output)
    );
    assert_eq!(place.scratches(), 0);
}

#[test]
fn a_check_that_hangs_ends_with_the_time() {
    let place = Place::with_program();
    let debug = ["debug", "--max-time", "3s", "-o", "out"];
    let began = Instant::now();
    let output = place.on_program(&debug, &[]).output().unwrap();
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));
}

/// `args` of the program lead to a phase in which a process has such a word in its command.
#[track_caller]
fn check_phase(args: impl Fn(&Place) -> Vec<String>, word: &str) {
    let place = Place::with_program();
    let args = args(&place);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let debug = |out: &str| {
        let mut debug = place.on_program(&["debug", "--max-time", "1h", "-o", out], &args);
        debug
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut ended = debug("ended");
    wait_until(word, || !place.processes(word).is_empty());
    signal(&ended, Signal::TERM);
    assert_eq!(ended.wait().unwrap().code(), Some(130));
    assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));

    let mut killed = debug("killed");
    wait_until(word, || !place.processes(word).is_empty());
    signal(&killed, Signal::KILL);
    killed.wait().unwrap();
    wait_until("the end of all processes", || {
        place.processes("").is_empty()
    });
    assert!(place.scratches() > 0);
    // Whatever is started next.
    let _ = place.culprit(&["show", "nothing"]).output().unwrap();
    assert_eq!(place.scratches(), 0);
}

#[test]
fn candidates_end_with_culprit_and_leave_nothing() {
    check_phase(|place| vec![place.mark()], "worker-");
}

#[test]
fn the_check_ends_with_culprit_and_leaves_nothing() {
    check_phase(|_| Vec::new(), "/check/");
}

#[test]
fn a_command_that_isolate_runs_ends_with_culprit() {
    let place = Place::new();
    fs::write(place.at("a.txt"), "one\nbad\n").unwrap();
    let test = "tail -f {}";
    let isolate = [
        "isolate",
        "input",
        "--simplify",
        "--timeout",
        "1h",
        "--test",
        test,
        "a.txt",
    ];
    let mut isolate = place.culprit(&isolate);
    let mut killed = isolate
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the command", || !place.processes("").is_empty());
    signal(&killed, Signal::KILL);
    killed.wait().unwrap();
    wait_until("the end of the command", || place.processes("").is_empty());
    let _ = place.culprit(&["show", "nothing"]).output().unwrap();
    assert_eq!(place.scratches(), 0);
}

/// `culprit isolate` with a script as the test.
fn isolate_with(place: &Place, script: &str) -> Command {
    fs::write(place.at("a.txt"), "one\nbad\n").unwrap();
    fs::write(place.at("test.sh"), script).unwrap();
    let test = format!("sh {}", place.at("test.sh").display());
    let words = ["isolate", "input", "--simplify", "--timeout", "1h"];
    let mut culprit = place.culprit(&[&words[..], &["--test", &test, "a.txt"]].concat());
    culprit.stderr(Stdio::null()).stdout(Stdio::null());
    culprit
}

/// Fields of the line that the kernel has about a process: its state, its parent, its group, its session.
fn about(pid: &str) -> Option<[String; 4]> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<String> = rest.split_whitespace().take(4).map(str::to_owned).collect();
    fields.try_into().ok()
}

fn is_alive(pid: &str) -> bool {
    about(pid).is_some_and(|[state, ..]| state != "Z")
}

/// The watchdog of a running Culprit.
fn watchdog(culprit: &Child) -> Option<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.find(|pid| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let parent = about(pid).map(|[_, parent, ..]| parent);
        name.trim() == "culprit-watch" && parent == Some(culprit.id().to_string())
    })
}

#[test]
fn what_a_command_of_isolate_started_ends_with_culprit() {
    let place = Place::new();
    let pids = place.at("pids");
    // In its session, in another one, without its environment, in another group, with a child of its own.
    let script = format!(
        "note() {{ echo $1 >>{0}; }}
         sleep 1001 & note $!
         setsid sh -c 'echo $$ >>{0}; sleep 1002 & echo $! >>{0}; sleep 1003' &
         env -i sleep 1004 & note $!
         set -m; sleep 1005 & note $!
         env -i sh -c 'sleep 1006 & echo $! >>{0}; exec sleep 1007' & note $!
         wait",
        pids.display()
    );
    let read = || fs::read_to_string(&pids).unwrap_or_default();
    let mut killed = isolate_with(&place, &script).spawn().unwrap();
    wait_until("all processes", || read().lines().count() == 7);
    let started: Vec<String> = read().lines().map(str::to_owned).collect();
    assert!(started.iter().all(|pid| is_alive(pid)));
    // Somebody else, whom nobody may touch.
    let mut other = command("setsid");
    let mut other = other.args(["sleep", "1008"]).spawn().unwrap();
    signal(&killed, Signal::KILL);
    killed.wait().unwrap();
    wait_until("the end of all processes", || {
        !started.iter().any(|pid| is_alive(pid))
    });
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_watchdog_has_nothing_of_culprit_and_ends_with_it() {
    let place = Place::new();
    let begun = place.at("begun");
    let script = format!("touch {}; exec sleep 1000", begun.display());
    let mut isolate = isolate_with(&place, &script).spawn().unwrap();
    wait_until("the command", || begun.exists());
    let pid = watchdog(&isolate).unwrap();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let mut open: Vec<PathBuf> = open.map(|it| fs::read_link(it.path()).unwrap()).collect();
    let pipe = open
        .iter()
        .position(|it| it.display().to_string().starts_with("pipe:"));
    open.remove(pipe.unwrap());
    assert_eq!(open, ["/dev/null"; 3].map(PathBuf::from));
    assert_eq!(
        fs::read_link(format!("/proc/{pid}/cwd")).unwrap(),
        Path::new("/")
    );
    let [_, _, group, session] = about(&pid).unwrap();
    assert_eq!((&group, &session), (&pid, &pid));
    // A shell sends signals to all of them.
    let watchdog = Pid::from_raw(pid.parse().unwrap()).unwrap();
    for word in [Signal::INT, Signal::HUP, Signal::TERM] {
        kill_process(watchdog, word).unwrap();
    }
    signal(&isolate, Signal::TERM);
    assert_eq!(isolate.wait().unwrap().code(), Some(130));
    wait_until("the end of the watchdog", || !is_alive(&pid));
    assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));
}

#[test]
fn without_a_watchdog_everything_works() {
    let place = Place::new();
    let script = "test $(cat $1 | wc -c) -lt 4";
    let started = place.at("started");
    let script = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.01; done; {script}",
        started.display(),
        place.at("go").display()
    );
    let mut isolate = isolate_with(&place, &script).spawn().unwrap();
    wait_until("the command", || started.exists());
    let pid = watchdog(&isolate).unwrap();
    kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    fs::write(place.at("go"), "").unwrap();
    assert_eq!(isolate.wait().unwrap().code(), Some(0));
}

#[test]
fn time_that_is_up_ends_isolate_when_its_command_hangs() {
    let place = Place::new();
    fs::write(place.at("a.txt"), "one\nbad\n").unwrap();
    let isolate = |test: &str| {
        let words = [
            "isolate",
            "input",
            "--simplify",
            "--max-time",
            "3s",
            "--timeout",
            "1h",
        ];
        let began = Instant::now();
        let mut culprit = place.culprit(&[&words[..], &["--test", test, "a.txt"]].concat());
        let output = culprit.output().unwrap();
        assert!(began.elapsed() < LONG / 2, "{:?}", began.elapsed());
        assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));
        output
    };
    let output = isolate("tail -f {}");
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
    let output = isolate("test $(wc -c <{}) -lt 8 && tail -f {}");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
}

#[test]
fn a_filter_of_a_repository_that_hangs_ends_with_the_time() {
    let place = Place::new();
    let script = "git init -q -b main . && echo '*.txt filter=odd' >.gitattributes && echo a >a.txt \
                  && git add -A && git commit -qm one && echo b >a.txt && git commit -qam two \
                  && echo 'sleep 1000; cat' >.git/hang && git config filter.odd.smudge \"sh $PWD/.git/hang\"";
    let mut shell = command("sh");
    shell.args(["-c", script]).current_dir(place.home.path());
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "Ann");
        shell.env(format!("GIT_{role}_EMAIL"), "ann@example.org");
    }
    assert!(shell.status().unwrap().success());
    let isolate = "isolate changes --max-time 10s --good HEAD~1 --bad HEAD --test true -o out";
    let words: Vec<&str> = isolate.split(' ').collect();
    let began = Instant::now();
    let output = place.culprit(&words).output().unwrap();
    assert!(began.elapsed() < LONG / 3, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
    for part in [
        "git checkout-index has not ended after 1",
        "filter",
        "--max-time",
    ] {
        assert!(err(&output).contains(part), "{}", err(&output));
    }
    assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));

    // Whoever does not want to wait need not.
    let words: Vec<&str> = words
        .into_iter()
        .filter(|it| !["--max-time", "10s"].contains(it))
        .collect();
    let mut isolate = place.culprit(&words);
    let mut isolate = isolate
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let filter = place.at(".git/hang").display().to_string();
    let hangs = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = entries.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
        lines.any(|line| String::from_utf8_lossy(&line).contains(&filter))
    };
    wait_until("the filter", hangs);
    signal(&isolate, Signal::INT);
    assert_eq!(isolate.wait().unwrap().code(), Some(130));
    assert!(!hangs());
    assert_eq!((place.scratches(), place.processes("")), (0, Vec::new()));
}

#[test]
fn a_command_that_is_recorded_goes_on_without_culprit() {
    let place = Place::new();
    let script = "touch begun; while [ ! -e go ]; do sleep 0.01; done; touch done";
    let mut record = place.culprit(&["record", "--quiet", "-o", "run", "--", "sh", "-c", script]);
    let mut killed = record
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the command", || place.at("begun").exists());
    signal(&killed, Signal::KILL);
    killed.wait().unwrap();
    fs::write(place.at("go"), "").unwrap();
    wait_until("the end of the command", || place.at("done").exists());
}

#[test]
#[expect(clippy::print_stderr, reason = "what is not tested is said")]
fn a_full_disk_is_told_as_that_and_leaves_nothing() {
    let place = Place::new();
    let (tmp, input) = (place.at("tmp"), place.at("a.txt"));
    let mut mount = command("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=256k", "none"])
        .arg(&tmp);
    if !mount.output().is_ok_and(|done| done.status.success()) {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    }
    fs::write(&input, "line\n".repeat(200_000)).unwrap();
    let isolate = [
        "isolate",
        "input",
        "--simplify",
        "--test",
        "! grep -q line {}",
        "a.txt",
    ];
    let output = place.culprit(&isolate).output();
    let left = place.scratches();
    assert!(command("umount").arg(&tmp).status().unwrap().success());
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("make room"), "{}", err(&output));
    assert_eq!(left, 0);
    assert!(!place.at("culprit-isolate").exists());
}
