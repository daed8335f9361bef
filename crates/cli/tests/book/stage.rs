//! The folders that examples run in, and the commands.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use culprit_jvm::{Jdk, JdkLocations};

/// The folder that pages show in place of the one below the temporary files.
const SHOWN: &str = "/home/you";

/// The longest time for a command, in seconds.
const LIMIT: &str = "300";

/// Folders below a temporary one, prepared once for each script and copied for each page.
pub(crate) struct Stage {
    fixtures: PathBuf,
    home: tempfile::TempDir,
    jdk: Jdk,
    prepared: Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>,
}

impl Stage {
    pub(crate) fn new(fixtures: &Path) -> Stage {
        let jdks = Jdk::all(&JdkLocations::of_process()).into_iter();
        let jdk = jdks
            .filter(|jdk| jdk.tool("javac").is_file())
            .min_by_key(|jdk| jdk.version.feature)
            .expect("no JDK: install one, or set JAVA_HOME");
        Stage {
            fixtures: fixtures.canonicalize().unwrap(),
            home: tempfile::tempdir().unwrap(),
            jdk,
            prepared: Mutex::default(),
        }
    }

    /// The folder of a page for a script, prepared at first use.
    pub(crate) fn folder(&self, page: &Path, script: &str) -> PathBuf {
        let page = page.file_stem().unwrap();
        let folder = self.home.path().join(page).join(script);
        if !folder.exists() {
            let from = self.prepared(script);
            std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
            let copied = command("cp").arg("-a").args([&from, &folder]).status();
            assert!(copied.unwrap().success(), "cannot copy {}", from.display());
        }
        folder
    }

    fn prepared(&self, script: &str) -> PathBuf {
        let mut all = self.prepared.lock().unwrap();
        let cell = Arc::clone(all.entry(script.to_owned()).or_default());
        drop(all);
        let prepare = || {
            let folder = self.home.path().join("prepared").join(script);
            std::fs::create_dir_all(&folder).unwrap();
            let path = self.fixtures.join("book").join(format!("{script}.sh"));
            let mut command = self.shell(&folder);
            let output = command.arg("-eu").arg(path).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{script}.sh: {said}");
            folder
        };
        cell.get_or_init(prepare).clone()
    }

    /// The lines that a command prints to either stream.
    pub(crate) fn run(&self, words: &str, folder: &Path) -> Vec<String> {
        let mut command = self.shell(folder);
        let output = command
            .args(["-c", &format!("exec 2>&1\n{words}")])
            .output();
        let text = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let text = text.replace(folder.to_str().unwrap(), &format!("{SHOWN}/{name}"));
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    /// A shell in a folder, with the command under test and one JDK.
    fn shell(&self, folder: &Path) -> Command {
        let culprit = Path::new(env!("CARGO_BIN_EXE_culprit")).parent().unwrap();
        let tools = [culprit.to_owned(), self.jdk.home.join("bin")];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(tools.into_iter().chain(std::env::split_paths(&path)));
        let mut command = command("timeout");
        command
            .args([LIMIT, "sh"])
            .current_dir(folder)
            .env("PATH", path.unwrap_or_else(|_| OsString::new()))
            .env("JAVA_HOME", &self.jdk.home)
            .env("FIXTURES", &self.fixtures)
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .envs([("NO_COLOR", "1"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")])
            .envs([("COLUMNS", "120"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("CLASSPATH")
            .stdin(Stdio::null());
        command
    }
}

#[expect(clippy::disallowed_methods, reason = "the commands of the examples")]
fn command(program: &str) -> Command {
    Command::new(program)
}
