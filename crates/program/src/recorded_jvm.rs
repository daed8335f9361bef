//! The class path, the main class and the working folder of a recorded JVM.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use culprit_trace::Start;

use crate::manifest;

/// The working folder of a recorded JVM, if it still exists.
pub fn working_folder(start: &Start) -> Option<PathBuf> {
    let mut properties = start.properties.iter();
    let told = properties.find(|(name, _)| name == "user.dir");
    let told = told.map(|(_, path)| path.as_str());
    let folders = [told, Some(&*start.directory)].into_iter().flatten();
    folders
        .map(PathBuf::from)
        .find(|folder| folder.is_absolute() && folder.is_dir())
}

/// The class path of a recorded JVM as absolute paths, including the modules of the module path, the entries from
/// manifests of jars, and what a launcher was given: class paths of tests, and war files.
pub fn class_path(start: &Start) -> Vec<PathBuf> {
    let property = |wanted: &str| property(start, wanted);
    let mut notes = start.notes.iter();
    let noted = notes.find(|(name, _)| name == Start::CLASS_PATH);
    let mut found = Vec::new();
    for part in parts(property("java.class.path"), start) {
        add(part, noted.map(|(_, text)| text.as_str()), &mut found);
    }
    for entry in parts(property("jdk.module.path"), start) {
        for module in modules(entry) {
            add(module, None, &mut found);
        }
    }
    let command = property("sun.java.command");
    let wars = command.split_whitespace().skip(1);
    let wars = wars.filter(|word| word.ends_with(".war"));
    for path in launched(command).chain(wars) {
        let there = parts(path, start).filter(|part| part.exists());
        there.for_each(|part| add(part, None, &mut found));
    }
    found
}

/// The class that a recorded JVM started with, as Java writes it.
pub fn main_class(start: &Start) -> Option<String> {
    let mut words = property(start, "sun.java.command").split_whitespace();
    let first = words.next()?;
    if first.ends_with(".jar") || first.ends_with(".war") {
        // With `-jar` the class path is the archive.
        let archive = Path::new(&start.directory).join(property(start, "java.class.path"));
        return manifest::main_class_of(&archive);
    }
    if first.contains(SOURCE_LAUNCHER) {
        let source = Path::new(words.next()?).file_stem()?;
        return Some(source.to_string_lossy().into_owned());
    }
    let class = first.split_once('/').map_or(first, |(_, class)| class);
    Some(class.to_owned())
}

/// The command line of a recorded JVM: the main class or the archive, and the arguments of the program.
pub fn command_line(start: &Start) -> &str {
    property(start, "sun.java.command")
}

/// The package of the JDK's class that compiles a source file in memory and runs it.
const SOURCE_LAUNCHER: &str = "com.sun.tools.javac.launcher.";

fn property<'s>(start: &'s Start, wanted: &str) -> &'s str {
    let mut properties = start.properties.iter();
    let found = properties.find(|(name, _)| name == wanted);
    found.map_or("", |(_, value)| value.as_str())
}

/// The modules of an entry of a module path: the entry itself, or those in it, by name.
fn modules(entry: PathBuf) -> Vec<PathBuf> {
    let is_exploded = |folder: &Path| folder.join("module-info.class").is_file();
    if !entry.is_dir() || is_exploded(&entry) {
        return vec![entry];
    }
    let within = fs::read_dir(&entry).into_iter().flatten().flatten();
    let within = within.map(|it| it.path());
    let is_jar = |path: &Path| path.extension().is_some_and(|it| it == "jar");
    let mut found: Vec<PathBuf> = within
        .filter(|path| is_jar(path) || is_exploded(path))
        .collect();
    found.sort();
    found
}

/// The entries of a class path.
fn parts(path: &str, start: &Start) -> impl Iterator<Item = PathBuf> {
    let parts = std::env::split_paths(OsStr::new(path));
    let parts = parts.filter(|part| !part.as_os_str().is_empty());
    parts.map(|part| Path::new(&start.directory).join(part))
}

/// The class paths among the arguments of a program, such as JUnit's console launcher.
fn launched(command: &str) -> impl Iterator<Item = &str> {
    const OPTIONS: [&str; 4] = ["-cp", "-classpath", "--class-path", "--classpath"];
    let words = command.split_whitespace();
    let following = words.clone().skip(1);
    words.zip(following).filter_map(|(word, next)| {
        let joined = OPTIONS
            .iter()
            .find_map(|option| next.strip_prefix(option)?.strip_prefix('='));
        joined.or_else(|| OPTIONS.contains(&word).then_some(next))
    })
}

/// Adds an entry, followed by those from its manifest, which a recording may have noted.
fn add(entry: PathBuf, noted: Option<&str>, found: &mut Vec<PathBuf>) {
    let entry = entry.canonicalize().unwrap_or(entry);
    if found.contains(&entry) {
        return;
    }
    let named = match noted {
        Some(noted) => Some(noted.to_owned()),
        None => manifest::class_path_of(&entry),
    };
    found.push(entry.clone());
    for other in named
        .iter()
        .flat_map(|text| manifest::resolve(&entry, text))
    {
        // A manifest may list files that do not exist.
        if other.exists() {
            add(other, None, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_the_program_as_long_as_it_is_there() {
        let check = |told: &str, started: &str, expected: Option<&str>| {
            let start = Start {
                directory: started.to_owned(),
                properties: vec![("user.dir".to_owned(), told.to_owned())],
                ..Start::default()
            };
            assert_eq!(working_folder(&start), expected.map(PathBuf::from));
        };
        check("/usr", "/", Some("/usr"));
        check("/no/such/folder", "/", Some("/"));
        check("src", "/no/such/folder", None);
    }

    fn started(class_path: &str, note: Option<&str>, folder: &Path) -> Start {
        let note = note.map(|text| (Start::CLASS_PATH.to_owned(), text.to_owned()));
        Start {
            directory: folder.display().to_string(),
            properties: vec![("java.class.path".to_owned(), class_path.to_owned())],
            notes: note.into_iter().collect(),
            ..Start::default()
        }
    }

    #[test]
    fn what_manifests_name_is_on_the_class_path() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::create_dir(home.join(name)).unwrap();
        }
        let jar = |name: &str, text: &str| {
            let mut jar = zip::ZipWriter::new(std::fs::File::create(home.join(name)).unwrap());
            let options = zip::write::SimpleFileOptions::default();
            jar.start_file("META-INF/MANIFEST.MF", options).unwrap();
            let manifest = format!("Manifest-Version: 1.0\nClass-Path: {text}\n");
            std::io::Write::write_all(&mut jar, manifest.as_bytes()).unwrap();
            jar.finish().unwrap();
        };
        jar("inner.jar", "c/ outer.jar gone.jar");
        jar(
            "outer.jar",
            &format!("file:{}/b/ inner.jar", home.display()),
        );
        let check = |class_path: &str, note: Option<&str>, expected: &str| {
            let found = class_path_names(&started(class_path, note, &home), &home);
            assert_eq!(found, expected);
        };
        check("a:outer.jar:b", None, "a outer.jar b inner.jar c");
        check("a:gone.jar", None, "a gone.jar");
        // The jar of a build tool is gone with it.
        check(
            "gone.jar",
            Some("a/ inner.jar"),
            "gone.jar a inner.jar c outer.jar b",
        );
    }

    #[test]
    fn what_a_launcher_was_given_is_on_the_class_path() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::create_dir(home.join(name)).unwrap();
        }
        let check = |command: &str, expected: &str| {
            let mut start = started("a", None, &home);
            let command = ("sun.java.command".to_owned(), command.to_owned());
            start.properties.push(command);
            assert_eq!(class_path_names(&start, &home), expected);
        };
        check("console.jar execute -cp b:c:a:gone -c T", "a b c");
        check("console.jar --class-path=c --classpath b", "a c b");
        check("Main -cp", "a");
        check("-cp", "a");
    }

    #[test]
    fn modules_are_on_the_class_path() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in ["mods/my.calc", "mods/notes", "one"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [
            "mods/my.calc/module-info.class",
            "mods/lib.jar",
            "one/module-info.class",
        ] {
            fs::write(home.join(file), "").unwrap();
        }
        let mut start = started("", None, &home);
        let path = ("jdk.module.path".to_owned(), "mods:one".to_owned());
        start.properties.push(path);
        let found = class_path_names(&start, &home);
        assert_eq!(found, "mods/lib.jar mods/my.calc one");
    }

    #[test]
    fn the_main_class_is_that_of_the_program() {
        let check = |command: &str, expected: Option<&str>| {
            let command = ("sun.java.command".to_owned(), command.to_owned());
            let start = Start {
                properties: vec![command],
                ..Start::default()
            };
            assert_eq!(main_class(&start).as_deref(), expected, "{start:?}");
        };
        check("shop.Main a b", Some("shop.Main"));
        check("my.calc/calc.Main 1/2", Some("calc.Main"));
        let launcher = "jdk.compiler/com.sun.tools.javac.launcher.Main";
        check(&format!("{launcher} src/Single.java x"), Some("Single"));
        check("", None);
    }

    fn class_path_names(start: &Start, home: &Path) -> String {
        let found = class_path(start);
        let names = found.iter().map(|path| path.strip_prefix(home).unwrap());
        let names = names.map(|name| name.display().to_string());
        names.collect::<Vec<_>>().join(" ")
    }
}
