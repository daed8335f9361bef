//! The program's roots: folders of classes on the class path and on the module path, the archive named by `-jar` or
//! with the main class, and the sources that are compiled in memory. What they contain is the program's own code;
//! every other archive is a library.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use culprit_jvmti::Jvmti;
use culprit_model::Owner;
use culprit_model::owner::is_of_language;

/// A class path may lead anywhere, even to `/`: after so many folders it is no tree of packages.
const MOST_FOLDERS: usize = 20_000;
/// Deeper folders than this are not a tree of packages.
const DEEPEST: usize = 40;
/// Where Spring Boot jars and war files keep the program's own classes.
const OWN_CLASSES: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];
/// The extensions of archives.
const ARCHIVES: [&str; 5] = ["jar", "war", "ear", "zip", "jmod"];
/// The extensions of sources that some launcher compiles in memory.
const SOURCES: [&str; 11] = [
    "java", "groovy", "gvy", "gy", "gsh", "clj", "cljc", "kts", "scala", "sc", "bsh",
];
/// The most bytes that are read of the list of an archive's entries.
const MOST_ENTRIES: usize = 64 << 20;

/// How the program was started.
#[derive(Default)]
pub(crate) struct Launch {
    /// The property `java.class.path`.
    pub(crate) class_path: String,
    /// The property `jdk.module.path`.
    pub(crate) module_path: String,
    /// The property `sun.java.command`: the main class or the archive, and the arguments.
    pub(crate) command: String,
    /// The options of the JVM, on its command line and in the environment.
    pub(crate) options: Vec<String>,
}

impl Launch {
    pub(crate) fn of(jvmti: Jvmti) -> Launch {
        let property = |name: &str| jvmti.system_property(name).unwrap_or_default();
        Launch {
            class_path: property("java.class.path"),
            module_path: property("jdk.module.path"),
            command: property("sun.java.command"),
            options: options(),
        }
    }

    /// The archives of agents that are written in Java.
    fn java_agents(&self) -> HashSet<PathBuf> {
        let agents = self.options.iter();
        let agents = agents.filter_map(|option| option.strip_prefix("-javaagent:"));
        let archives = agents.map(|agent| agent.split_once('=').map_or(agent, |(path, _)| path));
        archives
            .filter_map(|archive| Path::new(archive).canonicalize().ok())
            .collect()
    }

    /// The archive or class that the JVM was started with; of a class in a module without the module.
    fn main(&self) -> &str {
        let first = self.command.split(' ').next().unwrap_or_default();
        match is_archive(first) {
            true => first,
            false => first.split_once('/').map_or(first, |(_, class)| class),
        }
    }
}

/// The options of this JVM.
fn options() -> Vec<String> {
    let command = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = command.split(|byte| *byte == 0);
    let mut options: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    for variable in ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"] {
        let text = std::env::var(variable).unwrap_or_default();
        options.extend(text.split_whitespace().map(str::to_owned));
    }
    options
}

/// The origin of a class that is being loaded.
pub(crate) struct Origin {
    /// The URL of its code source.
    pub(crate) url: Option<String>,
    /// The name of its source file.
    pub(crate) source: Option<String>,
}

#[derive(Default)]
pub(crate) struct Roots {
    classes: HashSet<String>,
    main_archive: Option<PathBuf>,
    /// Folders walked so far.
    walked: usize,
    /// Folders that are roots, or turned out to be while the program ran.
    folders: HashSet<PathBuf>,
    /// Names of source files that the program was started with.
    sources: HashSet<String>,
    /// The archives of agents that are written in Java.
    java_agents: HashSet<PathBuf>,
    /// The JVM is that of a build tool.
    is_tool: bool,
}

impl Roots {
    pub(crate) fn find(launch: &Launch) -> Roots {
        let main = launch.main();
        let mut roots = Roots {
            is_tool: Owner::of_java(main).is_tool(),
            java_agents: launch.java_agents(),
            ..Roots::default()
        };
        let class_path = paths(&launch.class_path).into_iter();
        let entries = class_path.chain(modules(&launch.module_path));
        let (folders, archives): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        for folder in folders {
            roots.add_root(&folder);
        }
        let arguments = launch.command.split(' ').skip(1);
        let sources = arguments.filter(|word| has_extension(word, &SOURCES));
        let names = sources.filter_map(|word| Path::new(word).file_name()?.to_str());
        roots.sources = names.map(str::to_owned).collect();
        let by_name = |archive: &&PathBuf| archive.ends_with(main);
        let class = main.replace('.', "/");
        if is_archive(main) {
            let found = archives.iter().find(by_name);
            found.into_iter().for_each(|it| roots.add_archive(it));
        } else if !is_launcher(&class) && !roots.has(&class) {
            let entry = format!("{class}.class");
            let has_main = |archive: &&PathBuf| {
                let entries = entries_of(archive).unwrap_or_default();
                entries.contains(&entry)
            };
            let found = archives.iter().find(has_main);
            found.into_iter().for_each(|it| roots.add_archive(it));
        }
        roots
    }

    /// Whether the program is all there is: no root is known, and no build tool runs it.
    pub(crate) fn are_unknown(&self) -> bool {
        self.classes.is_empty() && !self.is_tool
    }

    /// True if the JVM has agents that are written in Java.
    pub(crate) fn have_java_agents(&self) -> bool {
        !self.java_agents.is_empty()
    }

    /// True if a code source is the archive of such an agent. What an agent does is no part of the program, nor of what
    /// the program uses.
    pub(crate) fn is_java_agent(&self, url: &str) -> bool {
        let path = url.strip_prefix("file:").map(Path::new);
        path.is_some_and(|path| self.java_agents.contains(path))
    }

    /// Whether a root holds the class.
    pub(crate) fn has(&self, class: &str) -> bool {
        self.classes.contains(class)
    }

    /// Whether a class of some origin is the program's own. Build tools start JVMs with one jar that names the real
    /// class path, so a folder may be news: it becomes a root.
    pub(crate) fn is_program(&mut self, class: &str, origin: &Origin) -> bool {
        let Some(url) = &origin.url else {
            let source = origin.source.as_deref();
            return source.is_some_and(|source| self.is_own_source(class, source));
        };
        let Some(path) = url.strip_prefix("file:") else {
            return false;
        };
        if path.ends_with('/') {
            self.add_root(Path::new(path));
            return true;
        }
        let main = self.main_archive.as_deref();
        has_extension(path, &SOURCES) || main.is_some_and(|archive| Path::new(path) == archive)
    }

    /// Whether a class was compiled in memory from a source of the program: one that the program was started with, or
    /// one in a folder of the class path. Libraries generate classes too, and compile sources that they contain.
    fn is_own_source(&self, class: &str, source: &str) -> bool {
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let is_there = |folder: &PathBuf| folder.join(package).join(source).is_file();
        has_extension(source, &SOURCES)
            && !source.contains('/')
            && (self.sources.contains(source) || self.folders.iter().any(is_there))
    }

    fn add_root(&mut self, folder: &Path) {
        if self.folders.insert(folder.to_owned()) {
            self.add_folder(folder, &mut String::new(), 0);
        }
    }

    fn add_folder(&mut self, folder: &Path, package: &mut String, depth: usize) {
        self.walked += 1;
        if self.walked > MOST_FOLDERS {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let length = package.len();
            if let Some(class) = name.strip_suffix(".class") {
                package.push_str(class);
                self.classes.insert(package.clone());
            } else if depth < DEEPEST
                && !name.contains('.')
                && entry.file_type().is_ok_and(|t| t.is_dir())
            {
                package.push_str(name);
                package.push('/');
                self.add_folder(&entry.path(), package, depth + 1);
            }
            package.truncate(length);
        }
    }

    fn add_archive(&mut self, archive: &Path) {
        self.main_archive = archive.canonicalize().ok();
        for name in entries_of(archive).unwrap_or_default() {
            if let Some(class) = name.strip_suffix(".class") {
                let own = OWN_CLASSES
                    .iter()
                    .find_map(|folder| class.strip_prefix(folder));
                self.classes.insert(own.unwrap_or(class).to_owned());
            }
        }
    }
}

/// Whether the class of a code source can be read again once the program has ended: from an archive, or from a folder
/// that is not a temporary one.
pub(crate) fn is_lasting(url: Option<&str>) -> bool {
    let is_temporary = |path: &str| Path::new(path).starts_with(std::env::temp_dir());
    match url {
        Some(url) if url.starts_with("jar:") => true,
        Some(url) => url.strip_prefix("file:").is_some_and(|path| {
            has_extension(path, &ARCHIVES) || path.ends_with('/') && !is_temporary(path)
        }),
        None => false,
    }
}

/// True for the code source of classes in a folder or in an archive that is a file by itself.
pub(crate) fn is_file(url: Option<&str>) -> bool {
    url.is_some_and(|url| url.starts_with("file:"))
}

/// Whether a main class starts programs of others.
fn is_launcher(class: &str) -> bool {
    Owner::of(class) != Owner::Other || is_of_language(class)
}

fn is_archive(name: &str) -> bool {
    has_extension(name, &ARCHIVES)
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    extension.is_some_and(|found| extensions.contains(&found))
}

/// The entries of a class path; an empty one is the working folder.
fn paths(text: &str) -> Vec<PathBuf> {
    let parts = text.split(':').map(|e| if e.is_empty() { "." } else { e });
    parts.map(PathBuf::from).collect()
}

/// The modules on a module path: an entry is one, or a folder of some.
fn modules(text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in text.split(':').filter(|entry| !entry.is_empty()) {
        let entry = PathBuf::from(entry);
        if !entry.is_dir() || entry.join("module-info.class").is_file() {
            found.push(entry);
            continue;
        }
        let within = fs::read_dir(&entry).into_iter().flatten().flatten();
        let within = within.map(|it| it.path());
        let is_module = |path: &PathBuf| path.is_dir() || path.extension() == Some("jar".as_ref());
        found.extend(within.filter(is_module).take(MOST_FOLDERS));
    }
    found
}

/// The names in the central directory of an archive.
fn entries_of(archive: &Path) -> Option<Vec<String>> {
    /// The end of the directory, and the longest comment after it.
    const LONGEST_END: u64 = 22 + 0xffff;
    let file = File::open(archive).ok()?;
    let length = file.metadata().ok()?.len();
    let length_of_tail = length.min(LONGEST_END);
    let mut tail = vec![0; length_of_tail as usize];
    file.read_exact_at(&mut tail, length - length_of_tail)
        .ok()?;
    let end = (0..tail.len().checked_sub(21)?)
        .rev()
        .find(|&i| tail[i..].starts_with(b"PK\x05\x06"))?;
    let count = number(&tail, end + 10, 2)?;
    let size = number(&tail, end + 12, 4)?;
    let start = number(&tail, end + 16, 4)?;
    if size > MOST_ENTRIES {
        return None;
    }
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, start as u64).ok()?;
    let mut at = 0;
    let mut names = Vec::new();
    for _ in 0..count {
        if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
            break;
        }
        let word = |offset: usize| number(&bytes, at + offset, 2);
        let (name, extra, comment) = (word(28)?, word(30)?, word(32)?);
        names.push(String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned());
        at += 46 + name + extra + comment;
    }
    Some(names)
}

/// A number of some bytes, the lowest first.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    let number = bytes.iter().rev();
    Some(number.fold(0, |all, byte| all << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: Option<&str>, source: Option<&str>) -> Origin {
        Origin {
            url: url.map(str::to_owned),
            source: source.map(str::to_owned),
        }
    }

    #[test]
    fn the_main_class_of_a_module_is_named_without_it() {
        let main = |command: &str| {
            let launch = Launch {
                command: command.to_owned(),
                ..Launch::default()
            };
            launch.main().to_owned()
        };
        assert_eq!(main("my.calc/calc.Main 1 2"), "calc.Main");
        assert_eq!(main("calc.Main a/b"), "calc.Main");
        assert_eq!(main("lib/app.jar x"), "lib/app.jar");
        assert_eq!(main(""), "");
    }

    #[test]
    fn agents_written_in_java_are_named_by_options() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let agent = home.join("agent.jar");
        fs::write(&agent, "").unwrap();
        let roots = Roots::find(&Launch {
            options: vec![
                "-ea".to_owned(),
                format!("-javaagent:{}=x=y", agent.display()),
            ],
            ..Launch::default()
        });
        assert!(roots.have_java_agents());
        assert!(roots.is_java_agent(&format!("file:{}", agent.display())));
        assert!(!roots.is_java_agent("file:/app.jar"));
        assert!(!Roots::find(&Launch::default()).have_java_agents());
    }

    #[test]
    fn classes_compiled_in_memory_are_told_by_their_sources() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("my")).unwrap();
        fs::write(home.path().join("my/core.clj"), "").unwrap();
        let mut roots = Roots::find(&Launch {
            class_path: home.path().display().to_string(),
            command: "clojure.main scripts/inv.clj x.txt".to_owned(),
            ..Launch::default()
        });
        let mut check = |class: &str, url: Option<&str>, source: Option<&str>, expect: bool| {
            let found = roots.is_program(class, &origin(url, source));
            assert_eq!(found, expect, "{class} {url:?} {source:?}");
        };
        check("user$total", None, Some("inv.clj"), true);
        check("my/core$run", None, Some("core.clj"), true);
        check("clojure/set$union", None, Some("set.clj"), false);
        check("user$eval", None, Some("NO_SOURCE_FILE"), false);
        check("a/Cart$$Enhancer", None, Some("<generated>"), false);
        check("a/Cart$Mock", None, None, false);
        check("Single", Some("file:/s/Single.java"), None, true);
        check("inv", Some("file:/s/inv.groovy"), Some("inv.groovy"), true);
        check("lib/A", Some("file:/s/lib.jar"), Some("A.java"), false);
    }

    #[test]
    fn only_archives_and_folders_outlast_the_program() {
        let check =
            |url: Option<&str>, expect: bool| assert_eq!(is_lasting(url), expect, "{url:?}");
        check(Some("file:/a/b.jar"), true);
        check(Some("file:/a/classes/"), true);
        check(Some("jar:file:/a/b.jar!/BOOT-INF/classes!/"), true);
        check(Some("jar:nested:/a/b.jar/!BOOT-INF/classes/!/"), true);
        check(Some("file:/a/Single.java"), false);
        let unpacked = format!("file:{}/jetty/", std::env::temp_dir().display());
        check(Some(&unpacked), false);
        check(Some("memory:///Single"), false);
        check(None, false);
    }
}
