//! What there is on a machine, as far as Culprit needs it. Nothing is judged here.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{
    Abilities, Jdk, JdkError, JdkLocations, Launch, Limits, Sandbox, Scratch, Status, jvm_options,
    resolve,
};
use culprit_model::AgentOptions;
use culprit_model::options::Mode;
use culprit_trace::RunFolder;
use rustix::fs::{Access, FsWord, StatVfsMountFlags, access, statfs, statvfs};

use crate::agent;

/// The root of the groups that limit memory.
const GROUPS: &str = "/sys/fs/cgroup";

/// Where Linux says its version.
const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// The number by which the kernel calls a file system in memory.
const TMPFS: FsWord = 0x0102_1994;

/// How long a JVM may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs that commands may be about.
const TOOLS: [&str; 3] = ["git", "mvn", "gradle"];

/// All facts.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Name and version.
    pub(super) kernel: String,
    pub(super) landlock: u32,
    pub(super) abilities: Abilities,
    pub(super) groups: Groups,
    /// The file of the agent, or why there is none.
    pub(super) agent: Result<PathBuf, String>,
    /// Why the JDK that `JAVA_HOME` names, or the only one, cannot be used; and what to do.
    pub(super) unusable: Option<(String, String)>,
    pub(super) jdks: Vec<JdkFacts>,
    pub(super) temporary: Temporary,
    /// Each with its path.
    pub(super) tools: Vec<(&'static str, Option<PathBuf>)>,
}

/// Control groups of the second version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Groups {
    /// There are none.
    Absent,
    /// They do not limit memory.
    NoMemory,
    /// We cannot make any.
    ReadOnly,
    Usable,
}

/// A JDK.
#[derive(Clone, Debug)]
pub(super) struct JdkFacts {
    pub(super) version: String,
    pub(super) home: PathBuf,
    pub(super) has_compiler: bool,
    /// Whether its own classes can be read.
    pub(super) has_classes: bool,
    /// Whether it starts with the agent, or why it does not.
    pub(super) loads_agent: Result<(), String>,
}

/// The folder for temporary files.
#[derive(Clone, Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    /// Bytes, or why it cannot be used.
    pub(super) free: Result<u64, String>,
    pub(super) is_in_memory: bool,
    pub(super) is_without_programs: bool,
}

impl Facts {
    pub(super) fn of_this_machine() -> Facts {
        let release = fs::read_to_string(RELEASE).unwrap_or_default();
        let around = JdkLocations::of_process();
        let agent = agent::unpack(&agent::folders_of_process());
        let agent = agent.map_err(|error| error.message);
        let abilities = Sandbox::probe();
        let jdks = Jdk::all(&around).into_iter();
        let path = around.path.as_deref();
        Facts {
            kernel: format!("{OS} {} {ARCH}", release.trim()),
            landlock: Sandbox::landlock(),
            abilities,
            groups: groups(Path::new(GROUPS)),
            unusable: Jdk::find(&around).err().map(|error: JdkError| {
                let next = error.next_step().to_owned();
                (error.to_string(), next)
            }),
            jdks: jdks
                .map(|jdk| JdkFacts::of(&jdk, &agent, abilities))
                .collect(),
            agent,
            temporary: Temporary::of(&std::env::temp_dir()),
            tools: TOOLS
                .map(|tool| (tool, resolve(tool.as_ref(), path).ok()))
                .to_vec(),
        }
    }
}

fn groups(root: &Path) -> Groups {
    let Ok(own) = fs::read_to_string("/proc/self/cgroup") else {
        return Groups::Absent;
    };
    let Some(own) = own.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Groups::Absent;
    };
    let own = root.join(own);
    match fs::read_to_string(own.join("cgroup.controllers")) {
        Err(_) => Groups::Absent,
        Ok(text) if !text.split_whitespace().any(|word| word == "memory") => Groups::NoMemory,
        Ok(_) => match access(&own, Access::WRITE_OK) {
            Ok(()) => Groups::Usable,
            Err(_) => Groups::ReadOnly,
        },
    }
}

impl Temporary {
    fn of(path: &Path) -> Temporary {
        let writable = Scratch::in_folder(path, "doctor").map(drop);
        let about = statvfs(path);
        let free = match (writable, &about) {
            (Err(error), _) => Err(error.to_string()),
            (_, Err(error)) => Err(error.to_string()),
            (Ok(()), Ok(about)) => Ok(about.f_bavail.saturating_mul(about.f_frsize)),
        };
        let is_without_programs = about
            .as_ref()
            .is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::NOEXEC));
        Temporary {
            path: path.to_owned(),
            free,
            is_in_memory: statfs(path).is_ok_and(|about| about.f_type == TMPFS),
            is_without_programs,
        }
    }
}

impl JdkFacts {
    fn of(jdk: &Jdk, agent: &Result<PathBuf, String>, abilities: Abilities) -> JdkFacts {
        let loads_agent = match agent {
            Ok(agent) => try_out(jdk, agent, abilities),
            Err(_) => Err("there is no agent".to_owned()),
        };
        JdkFacts {
            version: jdk.version.to_string(),
            home: jdk.home.clone(),
            has_compiler: jdk.tool("javac").is_file(),
            has_classes: fs::File::open(jdk.home.join("lib/modules")).is_ok(),
            loads_agent,
        }
    }
}

/// Starts a JVM with the agent, in the sandbox if there is one; the agent leaves a recording.
fn try_out(jdk: &Jdk, agent: &Path, abilities: Abilities) -> Result<(), String> {
    let scratch = Scratch::new("doctor").map_err(|error| error.to_string())?;
    let out = scratch.path().join("run");
    fs::create_dir(&out).map_err(|error| error.to_string())?;
    let options = AgentOptions {
        out: out.display().to_string(),
        mode: Mode::Witness,
    };
    let mut args = jvm_options(scratch.path());
    let mut library = std::ffi::OsString::from("-agentpath:");
    library.push(agent);
    library.push(format!("={options}"));
    args.extend([library, "-version".into()]);
    let has_sandbox = abilities.files && abilities.calls;
    let launch = Launch {
        file: jdk.tool("java"),
        args,
        env: Vec::new(),
        directory: scratch.path().to_owned(),
        limits: Limits::default(),
        sandbox: has_sandbox.then(|| Sandbox::default().allow_write(scratch.path())),
    };
    let ended = launch.run(PATIENCE).map_err(|error| error.to_string())?;
    let last = || ended.err.lines().last().unwrap_or_default().to_owned();
    match ended.status {
        None => Err("it does not end".to_owned()),
        Some(Status::Exited(0)) if RunFolder::open(&out).is_ok() => Ok(()),
        Some(Status::Exited(0)) => Err(said(&out).unwrap_or_else(last)),
        Some(_) => Err(last()),
    }
}

/// What an agent that gave up has written.
fn said(folder: &Path) -> Option<String> {
    let mut entries = fs::read_dir(folder).ok()?.flatten();
    let log = entries.find(|entry| entry.path().extension().is_some_and(|it| it == "log"))?;
    let text = fs::read_to_string(log.path()).ok()?;
    Some(text.trim().to_owned())
}
