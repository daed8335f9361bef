//! `culprit record` as a user runs it, on commands that need no JVM.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        Stage { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    #[expect(clippy::disallowed_methods, reason = "the command under test")]
    fn culprit(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_culprit"));
        command
            .args(words)
            .current_dir(self.path())
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("NO_COLOR", "1")
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.culprit(words).output().unwrap()
    }

    /// Status, stdout and stderr of `culprit record OPTIONS -- sh -c SCRIPT`.
    fn record(&self, options: &[&str], script: &str) -> (Option<i32>, String, String) {
        let words = [&["record"], options, &["--", "sh", "-c", script]].concat();
        told(&self.run(&words))
    }
}

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_command_without_a_jvm_ends_with_3_and_says_so() {
    let stage = Stage::new();
    let (code, out, err) = told(&stage.run(&["record", "--", "true"]));
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("started no JVM"), "{err}");
}

#[test]
fn a_failing_command_keeps_its_status() {
    let stage = Stage::new();
    let (code, _, err) = stage.record(&[], "exit 42");
    assert_eq!(code, Some(42));
    assert!(err.contains("nothing was recorded"), "{err}");
}

#[test]
fn death_by_signal_reads_as_in_a_shell() {
    let stage = Stage::new();
    assert_eq!(stage.record(&["-q"], "kill -9 $$").0, Some(137));
    assert_eq!(stage.record(&["-q"], "kill -TERM $$").0, Some(143));
}

#[test]
fn the_streams_are_the_commands_own() {
    let stage = Stage::new();
    let script = "read line; echo \"got $line\"; echo oops >&2; exit 5";
    let mut command = stage.culprit(&["record", "-q", "--", "sh", "-c", script]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"typed\n").unwrap();
    let (code, out, err) = told(&child.wait_with_output().unwrap());
    assert_eq!((code, out.as_str()), (Some(5), "got typed\n"));
    assert!(err.starts_with("oops\n"), "{err}");
}

#[test]
fn the_agent_travels_in_the_environment_and_its_options_name_the_folder() {
    let stage = Stage::new();
    let options = ["--observe", "com.acme.**", "-o", "run here"];
    let (_, out, _) = stage.record(&options, "echo \"$JAVA_TOOL_OPTIONS\"");
    let agent = out.trim().strip_prefix("-agentpath:").unwrap();
    let (library, options) = agent.split_once('=').unwrap();
    assert!(Path::new(library).is_file(), "{library}");
    assert!(library.starts_with(&format!("{}/cache/culprit/agent-", stage.path().display())));
    assert!(
        options.ends_with("/run%20here,observe=com.acme.**"),
        "{options}"
    );
}

#[test]
fn a_java_command_takes_the_agent_as_an_argument() {
    let stage = Stage::new();
    // Committed, because a file that a parallel test could still hold open cannot be started.
    let java = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/java");
    let (_, out, _) = told(&stage.run(&["record", "--", java, "-cp", "x", "Main"]));
    assert!(out.starts_with("-agentpath:/"), "{out}");
    assert!(out.ends_with(" -cp x Main []\n"), "{out}");
}

#[test]
fn a_jvm_that_takes_no_agent_is_not_started() {
    let stage = Stage::new();
    let java = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/java");
    let (code, out, err) = told(&stage.run(&["record", "--", java, "-Xshare:dump"]));
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("accepts no agent (-Xshare:dump)"), "{err}");
}

#[test]
fn the_facts_of_the_run_are_kept() {
    let stage = Stage::new();
    stage.record(&["-q", "-o", "r"], "exit 6");
    let facts = fs::read_to_string(stage.path().join("r/run.txt")).unwrap();
    assert!(facts.contains("\ncommand: sh -c 'exit 6'\n"), "{facts}");
    assert!(facts.contains("\nstatus: 6\n"), "{facts}");
}

#[test]
fn a_missing_program_is_told_before_anything_is_written() {
    let stage = Stage::new();
    for (program, expect) in [
        ("no-such-program", "no program `no-such-program` on PATH"),
        ("./no-such-program", "no program at ./no-such-program"),
    ] {
        let (code, _, err) = told(&stage.run(&["record", "--", program]));
        assert_eq!(code, Some(3));
        assert!(err.contains(expect), "{err}");
        assert!(err.contains("check the spelling"), "{err}");
    }
    assert_eq!(fs::read_dir(stage.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_used_stops_the_run_before_it_starts() {
    let stage = Stage::new();
    fs::write(stage.path().join("file"), "").unwrap();
    for folder in ["file", "file/below", "/proc/culprit", "."] {
        let (code, _, err) = stage.record(&["-o", folder], "touch started");
        assert_eq!(code, Some(2), "{folder}: {err}");
        assert!(err.contains(" with -o"), "{err}");
        assert!(!stage.path().join("started").exists());
    }
}

#[test]
fn a_command_that_removes_the_folder_keeps_its_status() {
    let stage = Stage::new();
    let (code, _, err) = stage.record(&["-o", "r"], "rm -r r; exit 8");
    assert_eq!(code, Some(8), "{err}");
    assert!(err.contains("cannot record into r: No such file"), "{err}");
    assert!(!err.contains("defect"), "{err}");
}

#[test]
fn bad_options_are_usage_errors() {
    let stage = Stage::new();
    for options in [
        &["--observe", "com..acme"][..],
        &["--redact", "("],
        &["--max-bytes", "lots"],
        &["--json"],
    ] {
        let (code, _, err) = stage.record(options, "touch started");
        assert_eq!(code, Some(2), "{options:?}: {err}");
        assert!(!stage.path().join("started").exists());
    }
}
