//! A JDK with the attacking program compiled for it, and the runs of it: without a sandbox, and in one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use culprit_jvm::{Jdk, Launch, Limits, Sandbox, jvm_options};
use rustix::process::geteuid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::attempt::{Attempt, Observed, Witness};
use super::place::Prey;
use super::witness::{Common, Trial, descriptor_is_open};
use crate::process::{tool, words};

/// Enough for all attempts of a batch.
const LIMIT: Duration = Duration::from_secs(180);

/// Errors of the attacking program itself.
const BROKEN: [&str; 4] = [
    "UnsatisfiedLinkError",
    "NoClassDefFoundError",
    "ExceptionInInitializerError",
    "no attempt",
];

/// The name of the library beside the classes.
const LIBRARY: &str = "libattempts.so";

pub struct Stage {
    pub jdk: Jdk,
    pub classes: PathBuf,
    /// Everything of this JDK goes here.
    pub place: PathBuf,
    terminal: Terminal,
}

/// A terminal of the study's own.
struct Terminal {
    _master: OwnedFd,
    name: String,
}

impl Terminal {
    fn new() -> anyhow::Result<Terminal> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        Ok(Terminal {
            _master: master,
            name: name.to_string_lossy().into_owned(),
        })
    }
}

/// The observations, by way and name of the attempt, such as `jni unlink`.
pub type Observations = BTreeMap<String, Observed>;

/// The environment of a program that is started without an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confines {
    None,
    Sandbox,
}

impl Stage {
    /// Compiles the program and its library.
    pub fn new(jdk: &Jdk, place: &Path) -> anyhow::Result<Stage> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("attacks");
        let classes = place.join("classes");
        fs::create_dir_all(&classes)?;
        let mut files = files_in(&sources.join("java/attacks"), "java")?;
        files.extend(files_in(&sources.join("java/app"), "java")?);
        if jdk.version.feature >= 22 {
            files.extend(files_in(&sources.join("java/since22/attacks"), "java")?);
        }
        let mut args = words(["-nowarn", "-proc:none", "-g", "-d"]);
        args.push(classes.clone().into());
        args.extend(files.into_iter().map(OsString::from));
        tool(&jdk.tool("javac"), args, place)?;
        let include = jdk.home.join("include");
        let mut args = words(["-shared", "-fPIC", "-O1", "-I"]);
        args.push(include.clone().into());
        args.push("-I".into());
        args.push(include.join("linux").into());
        args.push("-o".into());
        args.push(place.join(LIBRARY).into());
        let files = files_in(&sources.join("native"), "c")?;
        args.extend(files.into_iter().map(OsString::from));
        tool(Path::new("cc"), args, place)?;
        Ok(Stage {
            jdk: jdk.clone(),
            classes,
            place: place.to_owned(),
            terminal: Terminal::new()?,
        })
    }

    /// The observations on all attempts, in a sandbox or without one.
    pub fn observe_all(
        &self,
        attempts: &[&'static Attempt],
        confines: Confines,
    ) -> anyhow::Result<Observations> {
        let is_root = geteuid().is_root();
        let (single, many): (Vec<&'static Attempt>, Vec<&'static Attempt>) =
            attempts.iter().partition(|it| it.is_alone());
        let mut seen = self.observe(&many, "many", confines)?;
        for attempt in single {
            let found = match attempt.needs_loop() && !is_root {
                true => self.without_loop(attempt),
                false => self.observe(&[attempt], attempt.name, confines)?,
            };
            seen.extend(found);
        }
        Ok(seen)
    }

    fn without_loop(&self, attempt: &'static Attempt) -> Observations {
        let by = match self.jdk.version.feature >= 22 {
            true => "ffm",
            false => "jni",
        };
        let none = Observed {
            harm: None,
            refusal: Some("only root has loop devices".to_owned()),
        };
        Observations::from([(format!("{by} {}", attempt.name), none)])
    }

    /// Makes the attempts and looks what came of them. A JVM that an attempt ends, or becomes something
    /// else, is followed by one that goes on with the next.
    fn observe(
        &self,
        attempts: &[&'static Attempt],
        name: &str,
        confines: Confines,
    ) -> anyhow::Result<Observations> {
        let sandbox = match confines {
            Confines::None => None,
            Confines::Sandbox => Some(Sandbox::default().allow_loopback()),
        };
        let folder = self.place.join(format!("{confines:?}-{name}"));
        fs::create_dir_all(&folder)?;
        let needs_loop = attempts.iter().any(|it| it.needs_loop());
        let common = Common::new(&folder, needs_loop)?;
        let trials = Trial::all(attempts, self.jdk.version.feature, &folder)?;
        let victim = match attempts.iter().any(|it| it.name == "attach") {
            true => Some(self.sleeper()?),
            false => None,
        };
        let said = self.run(&common, &trials, victim.as_ref(), sandbox)?;
        let mut seen = BTreeMap::new();
        for trial in &trials {
            let word = said.get(&trial.key()).cloned();
            let refusal = word.unwrap_or_else(|| Some("the JVM ended".to_owned()));
            let harm = match (trial.attempt.witness, confines) {
                // Nobody who is started by Culprit's own ways inherits it. That it is open shows here.
                (Witness::Descriptor, Confines::None) => descriptor_is_open(),
                _ => common.harm(trial)?,
            };
            seen.insert(trial.key(), Observed { harm, refusal });
        }
        Ok(seen)
    }

    /// The program's report on each attempt: `None` if it was made, otherwise the reason why not.
    fn run(
        &self,
        common: &Common,
        trials: &[Trial],
        victim: Option<&Prey>,
        sandbox: Option<Sandbox>,
    ) -> anyhow::Result<BTreeMap<String, Option<String>>> {
        let mut said = BTreeMap::new();
        let mut rest: Vec<&Trial> = trials.iter().collect();
        while !rest.is_empty() {
            let plan = common.scratch.with_file_name("plan");
            fs::write(&plan, self.plan(common, &rest, victim.map(Prey::id))?)?;
            let mut args: Vec<OsString> =
                words(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
            args.extend(jvm_options(&common.scratch));
            args.extend(words(["-cp"]));
            args.push(self.classes.clone().into());
            args.push("attacks.Attempts".into());
            args.push(plan.into());
            args.push(common.scratch.clone().into());
            let launch = Launch {
                file: self.jdk.tool("java"),
                args,
                env: Vec::new(),
                directory: common.scratch.clone(),
                limits: Limits::default(),
                sandbox: sandbox.clone().map(|it| it.allow_write(&common.scratch)),
            };
            let ended = launch.run(LIMIT)?;
            let before = said.len();
            for line in ended.out.lines() {
                tell(&mut said, line);
            }
            ensure!(said.len() > before, "the program did nothing: {ended:?}");
            rest.retain(|trial| !said.contains_key(&trial.key()));
        }
        Ok(said)
    }

    pub(super) fn plan(
        &self,
        common: &Common,
        trials: &[&Trial],
        jvm: Option<u32>,
    ) -> anyhow::Result<String> {
        let mut plan = String::new();
        let device = common.loop_device.as_ref();
        let name = device.map_or("/dev/loop0", |it| &it.device);
        let mounted = device.map_or(Path::new("/"), |it| &it.mounted);
        writeln!(plan, "loop={name}\nmounted={}", mounted.display())?;
        writeln!(plan, "shm={}", common.shared.display())?;
        writeln!(plan, "java={}", self.jdk.tool("java").display())?;
        writeln!(plan, "classes={}", self.classes.display())?;
        writeln!(plan, "terminal={}", self.terminal.name)?;
        writeln!(plan, "jvm={}", jvm.unwrap_or_default())?;
        for trial in trials {
            writeln!(plan, "{} {}", trial.key(), trial.place.folder.display())?;
        }
        Ok(plan)
    }

    /// Copies the program with its library; where its classes are.
    pub(super) fn copy_to(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let classes = folder.join("classes");
        for package in ["app", "attacks"] {
            let (from, to) = (self.classes.join(package), classes.join(package));
            fs::create_dir_all(&to)?;
            for file in files_in(&from, "class")? {
                fs::copy(&file, to.join(file.file_name().unwrap_or_default()))?;
            }
        }
        fs::copy(self.place.join(LIBRARY), folder.join(LIBRARY))?;
        Ok(classes)
    }

    /// A JVM to attach to, which is up.
    #[expect(clippy::disallowed_methods, reason = "a process to be harmed")]
    pub(super) fn sleeper(&self) -> anyhow::Result<Prey> {
        let mut java = Command::new(self.jdk.tool("java"));
        java.args(["-Xmx32m", "-cp"]).arg(&self.classes);
        java.arg("attacks.Sleeper").stdout(Stdio::piped());
        let mut prey = Prey::start(&mut java)?;
        let mut byte = [0];
        let out = prey.output().context("no output")?;
        std::io::Read::read_exact(out, &mut byte)?;
        Ok(prey)
    }
}

/// Takes in a line of the program: an attempt begins, or what came of it. One that begins and of which nothing else
/// is said ended the JVM.
pub(super) fn tell(said: &mut BTreeMap<String, Option<String>>, line: &str) {
    let mut words = line.splitn(3, ' ');
    let (Some(by), Some(name), Some(came)) = (words.next(), words.next(), words.next()) else {
        return;
    };
    if !["java", "jni", "ffm"].contains(&by) {
        return;
    }
    let key = format!("{by} {name}");
    // The program could not even try: whoever waits for an outcome of this attempt gets none.
    if BROKEN.iter().any(|error| came.contains(error)) {
        said.remove(&key);
        return;
    }
    let outcome = match came {
        "begins" => Some("the JVM ended".to_owned()),
        "done" => None,
        other => Some(reason(other.trim_start_matches("refused "))),
    };
    said.insert(key, outcome);
}

/// The name of an error, or the exception in short.
fn reason(said: &str) -> String {
    let known = [
        (1, "EPERM"),
        (2, "ENOENT"),
        (5, "EIO"),
        (9, "EBADF"),
        (11, "EAGAIN"),
        (12, "ENOMEM"),
        (13, "EACCES"),
        (14, "EFAULT"),
        (16, "EBUSY"),
        (17, "EEXIST"),
        (18, "EXDEV"),
        (22, "EINVAL"),
        (25, "ENOTTY"),
        (38, "ENOSYS"),
        (94, "ESOCKTNOSUPPORT"),
        (95, "EOPNOTSUPP"),
        (97, "EAFNOSUPPORT"),
        (111, "ECONNREFUSED"),
    ];
    if let Ok(number) = said.parse::<i32>() {
        let found = known.iter().find(|(it, _)| *it == number);
        return found.map_or_else(|| format!("error {number}"), |(_, name)| (*name).to_owned());
    }
    for (text, name) in [
        ("Permission denied", "EACCES"),
        ("AccessDenied", "EACCES"),
        ("Operation not permitted", "EPERM"),
        ("cross-device", "EXDEV"),
        ("not so", "refused"),
    ] {
        if said.contains(text) {
            return name.to_owned();
        }
    }
    said.to_owned()
}

fn files_in(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Makes a folder that everyone may pass through.
pub fn open_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    Ok(fs::set_permissions(
        folder,
        PermissionsExt::from_mode(0o755),
    )?)
}
