//! Attempts that need a stage of their own: made-up programs, file names, repositories, jars and moments.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use culprit_jvm::Status;

use super::attempt::{Aim, Verdict};
use super::session::{Order, Seen, Session};
use super::stage::Stage;
use crate::process::{tool, words};

/// An attempt that is a function.
pub struct Trick {
    pub name: &'static str,
    pub aim: Aim,
    pub what: &'static str,
    pub by: &'static str,
    pub play: fn(&Stage, &Path, &Path) -> anyhow::Result<Verdict>,
}

const fn trick(
    name: &'static str,
    aim: Aim,
    what: &'static str,
    by: &'static str,
    play: fn(&Stage, &Path, &Path) -> anyhow::Result<Verdict>,
) -> Trick {
    Trick {
        name,
        aim,
        what,
        by,
        play,
    }
}

pub const TRICKS: &[Trick] = &[
    trick(
        "guard-dropped",
        Aim::Files,
        "a test without the call that chose another folder deletes files",
        "test",
        guard_dropped,
    ),
    trick(
        "text-shortened",
        Aim::Files,
        "a path shortened to a letter is in the current folder",
        "test",
        text_shortened,
    ),
    trick(
        "escapes",
        Aim::Printed,
        "terminal escapes in a message",
        "program",
        escapes,
    ),
    trick(
        "escapes-in-names",
        Aim::Printed,
        "terminal escapes in the name of a file",
        "file name",
        escapes_in_names,
    ),
    trick(
        "shell",
        Aim::Printed,
        "commands of the shell in arguments",
        "file name",
        shell,
    ),
    trick(
        "linked-output",
        Aim::Files,
        "an output folder that is a link to a full one",
        "file name",
        linked_output,
    ),
    trick(
        "kill-worker",
        Aim::Culprit,
        "`kill -9` of culprit while a candidate runs",
        "moment",
        kill_in_worker,
    ),
    trick(
        "kill-check",
        Aim::Culprit,
        "`kill -9` of culprit while a test is checked",
        "moment",
        kill_in_check,
    ),
    trick(
        "jar-names",
        Aim::Repositories,
        "names in a jar that lead out of it",
        "jar",
        jar_names,
    ),
    trick(
        "cut-recordings",
        Aim::Recordings,
        "recordings cut short or with flipped bits, 60 of them",
        "recording",
        damaged_recordings,
    ),
    trick(
        "hooks",
        Aim::Repositories,
        "hooks, filters and helpers of a repository",
        "repository",
        hooks,
    ),
];

fn verdict(harm: Option<String>, seen: &Seen) -> Verdict {
    match (harm, seen.status) {
        (Some(harm), _) => Verdict::Succeeded(harm),
        (None, None) => Verdict::Succeeded("no end".to_owned()),
        (None, Some(Status::Exited(70))) => Verdict::Succeeded("a defect of culprit".to_owned()),
        (None, Some(status)) => Verdict::Refused(format!("status {status}")),
    }
}

/// Compiles a program of one file, whose path names its package.
fn program(stage: &Stage, folder: &Path, name: &str, source: &str) -> anyhow::Result<PathBuf> {
    let file = folder.join("src").join(name);
    fs::create_dir_all(file.parent().context("a file in no folder")?)?;
    fs::write(&file, source)?;
    let classes = folder.join("classes");
    fs::create_dir_all(&classes)?;
    let mut args = words(["-g", "-d"]);
    args.extend([classes.clone().into(), OsString::from(file)]);
    tool(&stage.jdk.tool("javac"), args, folder)?;
    Ok(classes)
}

fn session(culprit: &Path, folder: &Path, args: Vec<OsString>) -> Session {
    Session {
        culprit: culprit.to_owned(),
        args,
        folder: folder.to_owned(),
        env: Vec::new(),
        limit: Duration::from_secs(120),
    }
}

fn debug(stage: &Stage, classes: &Path, main: &str, more: &[&str]) -> Vec<OsString> {
    let mut args = words(["debug", "--max-time", "20s", "-o", "results", "--"]);
    args.push(stage.jdk.tool("java").into());
    args.push("-cp".into());
    args.push(classes.into());
    args.push(main.into());
    args.extend(words(more));
    args
}

const CLEANER: &str = r#"package tool;
import java.io.File;
public class Cleaner {
    private File folder = new File("FOLDER/precious");
    private int count;
    public void setFolder(String name) { folder = new File(name); }
    public void note(String text) { count += text.length(); }
    public int clean(int by) {
        File[] files = folder.listFiles();
        if (files != null) for (File file : files) file.delete();
        return 7 / by;
    }
    public static class Main {
        public static void main(String[] arguments) {
            Cleaner cleaner = new Cleaner();
            cleaner.note("begin");
            cleaner.setFolder("FOLDER/work");
            cleaner.note("clean");
            cleaner.clean(0);
        }
    }
}
"#;

fn guard_dropped(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let precious = folder.join("precious");
    fs::create_dir_all(&precious)?;
    fs::create_dir_all(folder.join("work"))?;
    fs::write(precious.join("thesis"), "years")?;
    let source = CLEANER.replace("FOLDER", &folder.display().to_string());
    let classes = program(stage, folder, "tool/Cleaner.java", &source)?;
    let args = debug(stage, &classes, "tool.Cleaner$Main", &[]);
    let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let gone = !precious.join("thesis").exists();
    Ok(verdict(
        gone.then(|| "the file was deleted".to_owned()),
        &seen,
    ))
}

const SHORTENED: &str = r#"package tool;
import java.nio.file.Files;
import java.nio.file.Paths;
public class Wipe {
    public int wipe(String name, int by) throws java.io.IOException {
        Files.deleteIfExists(Paths.get(name).toAbsolutePath().resolveSibling("keep"));
        return 7 / by;
    }
    public static class Main {
        public static void main(String[] arguments) throws Exception {
            new Wipe().wipe("FOLDER/work/build/output/2026-11-16/temporary", 0);
        }
    }
}
"#;

fn text_shortened(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("keep"), "years")?;
    let source = SHORTENED.replace("FOLDER", &folder.display().to_string());
    let classes = program(stage, folder, "tool/Wipe.java", &source)?;
    let args = debug(stage, &classes, "tool.Wipe$Main", &[]);
    let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let gone = !folder.join("keep").exists();
    Ok(verdict(
        gone.then(|| "the file was deleted".to_owned()),
        &seen,
    ))
}

const ESCAPES: &str = r#"package tool;
public class Loud {
    public int shout(int by) {
        if (by == 0) throw new IllegalStateException("\u001b]0;OWNED\u0007 \u009b31m \u202e */ <script> line\nline");
        return by;
    }
    public static class Main {
        public static void main(String[] arguments) { new Loud().shout(0); }
    }
}
"#;

/// The first character of a text that a terminal obeys, or that reorders what is shown.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|it| {
        (it.is_control() && !['\n', '\r', '\t'].contains(it))
            || ('\u{202a}'..='\u{202e}').contains(it)
            || ('\u{2066}'..='\u{2069}').contains(it)
    })
}

fn obeyed_anywhere(seen: &Seen, folder: &Path) -> anyhow::Result<Option<String>> {
    if let Some(it) = obeyed(&seen.printed) {
        return Ok(Some(format!("printed {}", it.escape_unicode())));
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // What the program printed is kept as it is, and recordings are no text.
            let is_text = !["output.txt", "recordings", "journal"].contains(&&*name);
            match path.is_dir() {
                true if is_text => folders.push(path.clone()),
                false if is_text => {
                    let text = String::from_utf8(fs::read(&path)?).unwrap_or_default();
                    if let Some(it) = obeyed(&text) {
                        return Ok(Some(format!("{} in {name}", it.escape_unicode())));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

fn escapes(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let classes = program(stage, folder, "tool/Loud.java", ESCAPES)?;
    let args = debug(stage, &classes, "tool.Loud$Main", &[]);
    let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let harm = obeyed_anywhere(&seen, &folder.join("results"))?;
    Ok(verdict(harm, &seen))
}

fn escapes_in_names(_: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    fs::create_dir_all(folder)?;
    let name = folder.join("\u{1b}]0;OWNED\u{7}\u{9b}31m\nline.culprit");
    fs::write(&name, "no recording")?;
    let mut harm = None;
    let mut last = None;
    for command in ["show", "replay", "minimize"] {
        let mut args = words([command]);
        args.push(name.clone().into());
        let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
        let printed = obeyed(&seen.printed);
        harm =
            harm.or_else(|| printed.map(|it| format!("{command} printed {}", it.escape_unicode())));
        last = Some(seen);
    }
    Ok(verdict(harm, &last.context("nothing ran")?))
}

/// The script that repeats a command must not run what is in its arguments.
fn shell(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let source = ESCAPES.replace(
        "new Loud().shout(0)",
        "new Loud().shout(arguments.length - 3)",
    );
    let classes = program(stage, folder, "tool/Loud.java", &source)?;
    let hostile = [
        "$(touch injected)",
        "`touch injected`'; touch injected; '",
        "a\ntouch injected\n",
    ];
    let args = debug(stage, &classes, "tool.Loud$Main", &hostile);
    let mut session = session(culprit, folder, args);
    let seen = session.watch(|| Ok(Order::GoOn))?;
    let script = folder.join("results/repeat.sh");
    if script.exists() {
        session.culprit = "/bin/sh".into();
        session.args = vec![script.into()];
        session.watch(|| Ok(Order::GoOn))?;
    }
    let injected = folder.join("injected").exists() || folder.join("results/injected").exists();
    Ok(verdict(
        injected.then(|| "the argument was run".to_owned()),
        &seen,
    ))
}

fn linked_output(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let precious = folder.join("precious");
    fs::create_dir_all(precious.join("tests"))?;
    fs::write(precious.join("report.md"), "years")?;
    std::os::unix::fs::symlink(&precious, folder.join("results"))?;
    let classes = program(stage, folder, "tool/Loud.java", ESCAPES)?;
    let args = debug(stage, &classes, "tool.Loud$Main", &[]);
    let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let changed = fs::read_to_string(precious.join("report.md"))? != "years";
    Ok(verdict(
        changed.then(|| "the file was replaced".to_owned()),
        &seen,
    ))
}

/// Kills culprit when the program spins in a JVM of a kind, and looks who is left.
fn kill(
    stage: &Stage,
    culprit: &Path,
    folder: &Path,
    mode: &str,
    is_it: fn(&str) -> bool,
) -> anyhow::Result<Verdict> {
    let mut session = stage.session(culprit, folder, mode)?;
    session.args.splice(1..1, words(["--max-time", "60s"]));
    let scratch = session.scratch().display().to_string();
    let mut killed = false;
    let seen = session.watch(|| {
        let all = fs::read_dir("/proc")?.flatten();
        let found = all
            .filter_map(|it| fs::read_to_string(it.path().join("cmdline")).ok())
            .any(|line| line.contains(&scratch) && !line.contains("javac") && is_it(&line));
        killed |= found;
        Ok(if found { Order::Kill } else { Order::GoOn })
    })?;
    if !killed {
        return Ok(Verdict::Impossible("the moment never came".to_owned()));
    }
    let process = seen.left.iter().find(|it| it.starts_with("process"));
    if let Some(process) = process {
        return Ok(Verdict::Succeeded(format!("left {process}")));
    }
    // The next start cleans what is left in the temporary folder.
    let next = stage.session(culprit, &folder.join("next"), "nothing")?;
    let next = Session {
        args: words(["show", "no-such-file"]),
        env: vec![("TMPDIR".into(), scratch.clone().into())],
        ..next
    };
    next.watch(|| Ok(Order::GoOn))?;
    Ok(Verdict::Refused("all its processes ended".to_owned()))
}

fn kill_in_worker(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    kill(stage, culprit, folder, "spin", |line| {
        line.contains("-agentpath:")
    })
}

fn kill_in_check(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    kill(stage, culprit, folder, "check-spin", |line| {
        !line.contains("-agentpath:") && line.contains("-ea")
    })
}

/// A jar whose entries are named so that a careless program writes them elsewhere.
fn jar_names(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    fs::create_dir_all(folder.join("in"))?;
    let classes = program(stage, folder, "tool/Loud.java", ESCAPES)?;
    let jar = folder.join("in/evil.jar");
    // Of the same length, so that names can be replaced in the file.
    fs::write(folder.join("XXXYYYYYY"), "evil")?;
    let mut args = words(["--create", "--no-compress", "--file"]);
    args.push(jar.clone().into());
    args.push("-C".into());
    args.push(classes.into());
    args.extend(words(["."]));
    args.push("-C".into());
    args.push(folder.into());
    args.extend(words(["XXXYYYYYY"]));
    tool(&stage.jdk.tool("jar"), args, folder)?;
    let bytes = fs::read(&jar)?;
    let evil = replaced(&bytes, b"XXXYYYYYY", b"../escape");
    fs::write(&jar, evil)?;
    let mut args = words(["instrument", "--observe", "tool.**", "-o"]);
    args.push(folder.join("out.jar").into());
    args.push(jar.into());
    let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let escaped = folder.join("escape").exists() || folder.with_file_name("escape").exists();
    Ok(verdict(
        escaped.then(|| "a file was written elsewhere".to_owned()),
        &seen,
    ))
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if &bytes[at..at + from.len()] == from {
            out[at..at + from.len()].copy_from_slice(to);
        }
    }
    out
}

fn damaged_recordings(stage: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let classes = program(stage, folder, "tool/Loud.java", ESCAPES)?;
    let mut args = words(["record", "-o", "recording", "--observe", "tool.**", "--"]);
    args.push(stage.jdk.tool("java").into());
    args.push("-cp".into());
    args.push(classes.into());
    args.push("tool.Loud$Main".into());
    let first = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
    let recorded = fs::read_dir(folder.join("recording"))
        .with_context(|| first.printed.clone())?
        .flatten()
        .map(|it| it.path())
        .find(|it| it.extension().is_some_and(|it| it == "culprit"));
    let whole = fs::read(recorded.context("no recording")?)?;
    let victim = folder.join("damaged.culprit");
    let mut last = first;
    for n in 0..60 {
        let mut bytes = whole.clone();
        let at = (n + 1) * whole.len() / 62;
        match n % 2 {
            0 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << (n % 8),
        }
        fs::write(&victim, bytes)?;
        let command = ["show", "show --events", "replay", "show --json", "minimize"][n % 5];
        let mut args = words(command.split(' '));
        args.push(victim.clone().into());
        let seen = session(culprit, folder, args).watch(|| Ok(Order::GoOn))?;
        let known = matches!(seen.status, Some(Status::Exited(0..=4)));
        if !known || seen.memory > 1 << 30 {
            return Ok(Verdict::Succeeded(format!(
                "{command} of damage {n}: {:?}, {} MB",
                seen.status,
                seen.memory >> 20
            )));
        }
        last = seen;
    }
    Ok(verdict(None, &last))
}

/// A repository that runs commands whenever git looks at its files.
fn hooks(_: &Stage, culprit: &Path, folder: &Path) -> anyhow::Result<Verdict> {
    let repository = folder.join("repository");
    fs::create_dir_all(&repository)?;
    let mark = folder.join("ran");
    let git = |line: &[&str]| {
        let mut args = words(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        args.extend(words(line));
        tool(Path::new("git"), args, &repository)
    };
    git(&["init", "-q", "-b", "main"])?;
    fs::write(
        repository.join(".gitattributes"),
        "* filter=evil diff=evil merge=evil\n",
    )?;
    for (version, text) in [("good", "one\ntwo\n"), ("bad", "one\nBAD\ntwo\n")] {
        fs::write(repository.join("file"), text)?;
        git(&["add", "-A"])?;
        git(&["commit", "-q", "-m", version])?;
        git(&["tag", version])?;
    }
    let script = folder.join("evil");
    fs::write(
        &script,
        format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", mark.display()),
    )?;
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let evil = script.display().to_string();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "filter.evil.smudge",
        "filter.evil.clean",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "merge.evil.driver",
        "core.gitProxy",
        "gpg.program",
    ] {
        git(&["config", key, &evil])?;
    }
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "post-commit",
        "pre-commit",
        "post-merge",
    ] {
        fs::copy(&script, repository.join(".git/hooks").join(hook))?;
    }
    fs::write(folder.join("test.sh"), "#!/bin/sh\n! grep -q BAD file\n")?;
    std::fs::set_permissions(
        folder.join("test.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )?;
    let mut args = words([
        "isolate", "changes", "--good", "good", "--bad", "bad", "--test",
    ]);
    args.push(folder.join("test.sh").into());
    let mut session = session(culprit, folder, args);
    session.folder = repository.clone();
    let _ = fs::remove_file(&mark);
    let seen = session.watch(|| Ok(Order::GoOn))?;
    let ran = fs::read_to_string(&mark).ok();
    let harm = ran.map(|it| format!("ran {}", it.lines().next().unwrap_or_default()));
    Ok(verdict(harm, &seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_found() {
        assert_eq!(obeyed("a\tb\n"), None);
        assert_eq!(obeyed("a\u{9b}1m"), Some('\u{9b}'));
        assert_eq!(obeyed("a\u{202e}b"), Some('\u{202e}'));
    }
}
