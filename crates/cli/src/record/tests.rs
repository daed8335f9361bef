//! From typed arguments to a plan, and from what a run left behind to a report.

use std::fs;

use clap::Parser;

use super::*;

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    args: Args,
}

fn parse(words: &[&str]) -> Result<Args, clap::Error> {
    let typed = Typed::try_parse_from([&["record"], words].concat())?;
    Ok(typed.args)
}

fn plan(words: &[&str]) -> Plan {
    let typed = parse(&[words, &["--", "java", "Main"]].concat());
    typed.unwrap_or_else(|error| panic!("{error}")).plan()
}

/// The options of a plan whose folder is still to be made.
fn text(plan: &Plan) -> String {
    let (out, mode) = (String::new(), plan.mode.clone());
    AgentOptions { out, mode }.to_string()
}

#[test]
fn without_options_the_programs_own_code_is_observed_whole() {
    let plan = plan(&[]);
    assert_eq!(plan.mode, Mode::default());
    assert_eq!(plan.command, ["java", "Main"]);
    assert_eq!((plan.output, plan.say), (None, Say::Everything));
}

#[test]
fn every_option_reaches_the_agent() {
    let words = "--observe com.acme.** --observe app --observe a.B$C --exclude com.acme.X* \
                 --last 10k --keep failing --sample 1/100 --max-events 2M --max-bytes 64M \
                 --max-rate 5000 --arrays accesses --redact [0-9]{16} --redact key=.* --contents";
    let words: Vec<&str> = words.split_whitespace().collect();
    let expect = "out=,observe=com.acme.**,observe=a.B$C,observe=app,exclude=com.acme.X*,\
                  arrays=accesses,last=10000,keep=failing,contents=yes,sample=100,\
                  max-events=2000000,max-bytes=67108864,max-rate=5000,\
                  redact=%5b0-9%5d%7b16%7d,redact=key%3d.*";
    assert_eq!(text(&plan(&words)), expect);
}

#[test]
fn suggesting_needs_no_options_of_recording() {
    let words = [
        "--suggest",
        "--observe",
        "a.*",
        "--redact",
        "x",
        "--last",
        "9",
    ];
    let expect = "out=,mode=suggest,observe=a.*,redact=x";
    assert_eq!(text(&plan(&words)), expect);
}

#[test]
fn options_after_the_dashes_belong_to_the_command() {
    let args = parse(&["-q", "-o", "r", "--", "java", "-q", "--", "--last", "x"]).unwrap();
    let plan = args.plan();
    assert_eq!(plan.command, ["java", "-q", "--", "--last", "x"]);
    assert_eq!(plan.say, Say::Warnings);
    assert_eq!(plan.output, Some("r".into()));
}

#[test]
fn bad_arguments_are_refused_with_what_would_do() {
    for (words, expect) in [
        (&["--observe", "com..acme"][..], "is not a class pattern"),
        (&["--exclude", "a b"], "is not a class pattern"),
        (&["--redact", "["], "invalid value '['"),
        (&["--sample", "10"], "such as 1/100"),
        (&["--max-bytes", "64X"], "such as 800K, 64M or 2G"),
        (&["--last", "0"], "a number above 0"),
        (&["--keep", "passing"], "possible values: all, failing"),
        (&["--arrays", "none"], "possible values: contents, accesses"),
    ] {
        let error = parse(&[words, &["--", "java"]].concat()).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{words:?}");
        assert!(error.to_string().contains(expect), "{words:?}: {error}");
    }
    assert_eq!(parse(&["-q"]).unwrap_err().exit_code(), 2);
}

struct Left {
    dir: tempfile::TempDir,
    folder: RunFolder,
}

impl Left {
    fn new(files: &[(&str, &str)]) -> Left {
        let dir = tempfile::tempdir().unwrap();
        let today = jiff::civil::date(2026, 3, 9);
        let folder = RunFolder::create(Some("r".as_ref()), dir.path(), today).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Left { dir, folder }
    }

    /// The code for a command that ended well or with 9, and what is reported.
    fn report(&self, words: &[&str]) -> ([u8; 2], String) {
        let aftermath = Aftermath::find(self.folder.path(), &plan(words).mode).unwrap();
        let mut console = Console::kept();
        aftermath
            .report(&self.folder, Say::Everything, &mut console)
            .unwrap();
        let codes = [0, 9].map(|n| code(Status::Exited(n), &aftermath).status());
        let (out, err) = console.kept_text();
        assert_eq!(out, "", "stdout is the command's");
        for line in err.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        (
            codes,
            err.replace(&self.dir.path().display().to_string(), "DIR"),
        )
    }
}

#[test]
fn without_any_jvm_a_run_that_went_well_is_a_failure_of_ours() {
    let (codes, text) = Left::new(&[("other.txt", "")]).report(&[]);
    assert_eq!(codes, [3, 9]);
    assert_eq!(
        text,
        "culprit: warning: nothing was recorded\n  \
         the command started no JVM, or handed its work to one that ran already\n  \
         (a Gradle or Maven daemon: add --no-daemon), or cleared JAVA_TOOL_OPTIONS\n"
    );
}

#[test]
fn a_jvm_that_is_too_old_is_explained_by_its_agent() {
    let left = Left::new(&[(
        "jvm-7.log",
        "Java 8 is too old; 11 is the oldest that works\n",
    )]);
    let (codes, text) = left.report(&[]);
    assert_eq!(codes, [3, 9]);
    assert_eq!(
        text,
        "culprit: warning: the agent of jvm-7 says:\n  \
         Java 8 is too old; 11 is the oldest that works\n\
         culprit: warning: nothing was recorded\n  \
         run the command with a JDK 11 or newer, and see the lines above\n"
    );
}

#[test]
fn a_pattern_that_matched_nothing_gets_the_nearest_names_and_the_commands_status() {
    let classes = "java/lang/Object\ncom/acme/Order\ncom/acme/Orders\n";
    let left = Left::new(&[("jvm-7.culprit", ""), ("jvm-7.classes", classes)]);
    let (codes, text) = left.report(&["--observe", "com.acme.Ordr"]);
    assert_eq!(codes, [0, 9]);
    let warning = text.split_once("culprit: warning: ").unwrap().1;
    assert_eq!(
        warning,
        "no loaded class matches com.acme.Ordr\n  \
         the nearest that would match:\n    \
         --observe com.acme.Order\n    \
         --observe com.acme.Orders\n  \
         the names of all 3 loaded classes are in r/jvm-*.classes\n"
    );
    let (_, text) = left.report(&[]);
    assert!(text.contains("all code came from libraries"), "{text}");
    assert!(text.contains("--observe 'com.acme.*'"), "{text}");
}

#[test]
fn the_jvm_of_a_build_tool_may_have_nothing_to_observe() {
    let left = Left::new(&[
        ("jvm-7.culprit", ""),
        ("jvm-7.classes", "org/apache/maven/Main\n"),
        ("jvm-8.culprit", ""),
    ]);
    let (codes, text) = left.report(&["--observe", "com.acme.**"]);
    assert_eq!(codes, [0, 9]);
    assert!(!text.contains("warning"), "{text}");
    assert!(text.contains("culprit: 2 recordings in r\n"), "{text}");
    assert!(text.ends_with("  next: culprit show r\n"), "{text}");
}

#[test]
fn a_recording_is_summed_up_in_a_line() {
    let left = Left::new(&[]);
    let golden = include_bytes!("../../../../golden/v1.culprit");
    fs::write(left.folder.path().join("jvm-10.culprit"), golden).unwrap();
    let cut = &golden[..golden.len() - 5];
    fs::write(left.folder.path().join("jvm-9.culprit"), cut).unwrap();
    let (codes, text) = left.report(&[]);
    assert_eq!(codes, [0, 9]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "culprit: 2 recordings in r");
    assert!(lines[1].starts_with("  jvm-9: "), "{text}");
    assert!(lines[1].ends_with(", ends early"), "{text}");
    assert_eq!(lines[2], "    of com.acme.*");
    assert!(lines[3].starts_with("  jvm-10: "), "{text}");
    assert!(lines[3].contains(" events, "), "{text}");
    assert_eq!(lines[5], "  next: culprit show r");
}

#[test]
fn discarded_recordings_are_counted_and_their_marks_removed() {
    let left = Left::new(&[("jvm-7.discarded", ""), ("jvm-8.discarded", "")]);
    let (codes, text) = left.report(&["--keep", "failing"]);
    assert_eq!(codes, [0, 9]);
    assert_eq!(
        text,
        "culprit: 0 recordings in r, 2 discarded because nothing failed\n"
    );
    assert_eq!(fs::read_dir(left.folder.path()).unwrap().count(), 1);
}
