//! A program made ready to run on one JDK: its jars fetched, the tests of ours compiled, the names
//! of tests and classes listed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use culprit_classfile::ClassFile;
use culprit_jvm::Jdk;

use super::program::{Program, Tests};
use super::study::Study;
use crate::process::{Outcome, Run, remove, tool, words};

/// The folders in which published tests look for their files, relative to the folder they run in.
const RESOURCES: &str = "src/test/resources";

/// A program, ready to run.
#[derive(Debug)]
pub(crate) struct Ready<'s> {
    pub(crate) study: &'s Study,
    pub(crate) program: &'s Program,
    /// Everything that is made for this program on this JDK.
    pub(crate) folder: PathBuf,
    pub(crate) java: PathBuf,
    /// All arguments of `java` but the last, which names a test.
    pub(crate) args: Vec<OsString>,
    pub(crate) tests: Vec<String>,
    /// The classes of the library that have code, in the order of their names.
    pub(crate) classes: Vec<String>,
    /// Changes with everything that a result depends on.
    pub(crate) key: String,
    /// The published tests, unpacked.
    resources: Option<PathBuf>,
}

impl<'s> Ready<'s> {
    pub(crate) fn new(
        study: &'s Study,
        program: &'s Program,
        jdk: &Jdk,
    ) -> anyhow::Result<Ready<'s>> {
        let folder = study
            .place
            .join(format!("jdk-{}", jdk.version))
            .join(program.name);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let folder = folder.canonicalize()?;
        let mut jars = study.maven.class_path(&program.class_path()?)?;
        let library = named(&jars, &program.jar()?.file_name())?.clone();
        let unpack = |jar: &Path, name: &str| unpacked(jdk, jar, &folder.join(name));
        let classes = with_code(&unpack(&library, "library")?)?;
        let driver = folder.join("driver");
        let mut jvm = words(program.jvm);
        let (source, main, list, resources) = match program.tests {
            Tests::Ours { folder, .. } => (folder, "Main", None, None),
            Tests::Published => {
                let library = program.library()?;
                let tests = named(&jars, &library.tests()?.file_name())?.clone();
                let resources = unpack(&tests, "tests")?;
                // Tests want their classes and files in a folder, as in their own build.
                for jar in jars.iter_mut().filter(|jar| **jar == tests) {
                    jar.clone_from(&resources);
                }
                jvm.extend(words(library.jvm));
                jvm.push("-Djava.io.tmpdir=tmp".into());
                ("junit", "ClassRunner", Some(tests), Some(resources))
            }
        };
        let class_path = std::env::join_paths(std::iter::once(&driver).chain(&jars))?;
        let sources = sources(&study.java.join(source))?;
        compile(jdk, &sources, &class_path, &driver)?;
        let mut args = jvm;
        args.extend([OsString::from("-cp"), class_path, main.into()]);
        let mut ready = Ready {
            study,
            program,
            java: jdk.tool("java"),
            args,
            tests: Vec::new(),
            classes,
            key: key(&study.culprit, &sources, program, jdk)?,
            resources,
            folder,
        };
        ready.tests = ready.listed(list)?;
        ensure!(!ready.tests.is_empty(), "{} has no tests", program.name);
        Ok(ready)
    }

    /// The names of the tests, without those that are left out.
    fn listed(&self, jar: Option<PathBuf>) -> anyhow::Result<Vec<String>> {
        let out = self.folder.join("tests.txt");
        let mut args = self.args.clone();
        args.extend(jar.map(OsString::from));
        let run = Run {
            program: self.java.clone(),
            args,
            folder: self.folder.clone(),
            env: Vec::new(),
            stdout: out.clone(),
            stderr: self.folder.join("tests.err"),
            limit: self.program.limit,
        };
        let ended = run.run()?;
        let ended_well = matches!(ended, Outcome::Ended { status, .. } if status.is_success());
        ensure!(
            ended_well,
            "cannot list the tests of {}; see {}",
            self.program.name,
            run.stderr.display()
        );
        let left_out = match self.program.tests {
            Tests::Ours { .. } => &[],
            Tests::Published => self.program.library()?.leave_out,
        };
        let text = fs::read_to_string(out)?;
        Ok(text
            .lines()
            .filter(|name| left_out.iter().all(|(class, _)| class != name))
            .map(str::to_owned)
            .collect())
    }

    /// Makes a fresh folder for a test to run in, with what it looks for.
    pub(crate) fn fresh(&self, work: &Path) -> anyhow::Result<()> {
        remove(work)?;
        fs::create_dir_all(work)?;
        if let Some(resources) = &self.resources {
            let place = work.join(RESOURCES);
            fs::create_dir_all(work.join("tmp"))?;
            fs::create_dir_all(work.join("target"))?;
            fs::create_dir_all(place.parent().unwrap_or(work))?;
            std::os::unix::fs::symlink(resources, place)?;
        }
        Ok(())
    }
}

fn named<'j>(jars: &'j [PathBuf], name: &str) -> anyhow::Result<&'j PathBuf> {
    let found = jars
        .iter()
        .find(|jar| jar.file_name() == Some(OsStr::new(name)));
    found.with_context(|| format!("no {name} on the class path"))
}

/// Unpacks a jar, unless that was done before.
fn unpacked(jdk: &Jdk, jar: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    if !folder.is_dir() {
        // Under another name first: what is there is whole.
        let fresh = folder.with_extension("new");
        remove(&fresh)?;
        fs::create_dir_all(&fresh)?;
        let mut args = words(["--extract", "--file"]);
        args.push(jar.into());
        tool(&jdk.tool("jar"), args, &fresh)?;
        fs::rename(&fresh, folder)?;
    }
    Ok(folder.to_owned())
}

fn sources(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("java")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn compile(jdk: &Jdk, sources: &[PathBuf], class_path: &OsStr, to: &Path) -> anyhow::Result<()> {
    remove(to)?;
    let mut args = words(["--release", "11", "-d"]);
    args.extend([to.into(), "-cp".into(), class_path.to_owned()]);
    args.extend(sources.iter().map(OsString::from));
    tool(&jdk.tool("javac"), args, to.parent().unwrap_or(to))
}

/// The classes under a folder that have code, by their names with dots.
fn with_code(root: &Path) -> anyhow::Result<Vec<String>> {
    let (mut names, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                // Other versions of the same classes, and no classes at all.
                if path.file_name() != Some(OsStr::new("META-INF")) {
                    folders.push(path);
                }
            } else if path.extension() == Some(OsStr::new("class")) {
                let class = ClassFile::parse(&fs::read(&path)?)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let has_code = class
                    .methods
                    .iter()
                    .any(|method| method.attribute(&class.pool, "Code").is_some());
                if has_code {
                    names.push(class.name()?.replace('/', "."));
                }
            }
        }
    }
    names.sort();
    Ok(names)
}

fn key(
    culprit: &Path,
    sources: &[PathBuf],
    program: &Program,
    jdk: &Jdk,
) -> anyhow::Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in std::iter::once(culprit).chain(sources.iter().map(PathBuf::as_path)) {
        fs::read(file)
            .with_context(|| format!("cannot read {}", file.display()))?
            .hash(&mut hasher);
    }
    // The first sets are the same, however many there are.
    let mut program = *program;
    program.extent.random = 0;
    format!("{program:?} {jdk:?}").hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}
