//! `--java-test`: a test of JUnit that reads the input, in place of a command.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use culprit_isolate::input::Material;
use culprit_isolate::{JavaTest, Reads};
use culprit_jvm::{Jdk, JdkLocations, Limits, Sandbox};

use culprit_model::clean;

use crate::exit::{ExitCode, Expected};
use crate::isolate::typed::Typed;

/// Entries of a folder of the class path that are looked at, at most.
const LOOKED_AT: usize = 200_000;

/// What `--java-test` takes.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "JUnit test")]
pub(super) struct Java {
    /// Run this test of JUnit 3, 4 or 5 on each candidate, in place of --test; it must read the
    /// input from the class path or from a file
    #[arg(long, value_name = "CLASS#METHOD", group = "oracle", value_parser = name, conflicts_with = "stdin")]
    java_test: Option<Name>,
    /// The class path of the test, as for java; also -cp [default: $CLASSPATH]
    #[arg(long, value_name = "PATH", requires = "java_test")]
    class_path: Option<OsString>,
    /// The resource that the test reads [default: the one with the name and content of FAILING]
    #[arg(long, value_name = "NAME", requires = "java_test")]
    resource: Option<PathBuf>,
    /// Start a new JVM for each candidate
    #[arg(long, requires = "java_test")]
    fresh_jvm: bool,
}

/// A test.
#[derive(Clone, Debug)]
struct Name {
    class: String,
    method: String,
}

fn name(text: &str) -> Result<Name, String> {
    match text.split_once('#') {
        Some((class, method)) if !class.is_empty() && !method.is_empty() => Ok(Name {
            class: class.to_owned(),
            method: method.trim_end_matches("()").to_owned(),
        }),
        _ => Err("write CLASS#METHOD, such as com.acme.ParserTest#reads".to_owned()),
    }
}

/// A test that can be run, and how it gets its input.
pub(super) struct Prepared {
    pub(super) test: JavaTest,
    pub(super) said: String,
}

impl Java {
    /// Whether it is wanted, and each time in a new JVM.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh_jvm
    }

    /// As reports call it.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.java_test.as_ref()?;
        Some(format!("{}#{}", name.class, name.method))
    }

    /// Adds it as it would be typed.
    pub(super) fn type_into(&self, typed: &mut Typed) {
        if let Some(name) = self.name() {
            typed.option("--java-test", name);
            typed.option("--class-path", self.path());
        }
        if let Some(resource) = &self.resource {
            typed.option("--resource", resource);
        }
        typed.flags(&[(self.fresh_jvm, "--fresh-jvm")]);
    }

    fn path(&self) -> OsString {
        let own = self.class_path.clone();
        own.or_else(|| std::env::var_os("CLASSPATH"))
            .unwrap_or_default()
    }

    /// Finds the JVM, the class path and the resource. `None` if no such test is wanted.
    pub(super) fn prepare(
        &self,
        failing: &Path,
        input: &Material,
        started: &Path,
        sandbox: Option<Sandbox>,
    ) -> Result<Option<Prepared>, Expected> {
        let Some(name) = &self.java_test else {
            return Ok(None);
        };
        if input.is_folder {
            let message = format!("{} is a folder", failing.display());
            return Err(Expected::new(ExitCode::Usage, message)
                .hint("--java-test takes one file, the one that the test reads"));
        }
        let class_path = entries(&self.path(), started)?;
        let bytes = input.items.first().map_or(&[][..], |item| item.bytes());
        let (reads, said) = match &self.resource {
            Some(resource) => {
                let name = resource.strip_prefix("/").unwrap_or(resource);
                (Reads::Resource(name.to_owned()), String::new())
            }
            None => find(failing, bytes, &class_path, started)?,
        };
        let jdk = Jdk::find(&JdkLocations::of_process()).map_err(|error| {
            Expected::new(ExitCode::Target, error.to_string()).hint(error.next_step())
        })?;
        Ok(Some(Prepared {
            test: JavaTest {
                java: jdk.tool("java"),
                class_path,
                class: name.class.clone(),
                method: name.method.clone(),
                reads,
                limits: match sandbox {
                    Some(_) => Limits::of_machine(&std::env::temp_dir()),
                    None => Limits::NONE,
                },
                sandbox,
            },
            said,
        }))
    }
}

/// The places of a class path, as absolute paths; `lib/*` stands for the archives in a folder.
fn entries(path: &OsString, started: &Path) -> Result<Vec<PathBuf>, Expected> {
    let mut all = Vec::new();
    for entry in std::env::split_paths(path).filter(|entry| !entry.as_os_str().is_empty()) {
        let entry = started.join(entry);
        if entry.file_name() == Some("*".as_ref()) {
            let folder = entry.parent().unwrap_or(started);
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            let files = files.map(|file| file.path());
            let mut jars: Vec<PathBuf> = files
                .filter(|file| {
                    file.extension()
                        .is_some_and(|it| it.eq_ignore_ascii_case("jar"))
                })
                .collect();
            jars.sort();
            all.extend(jars);
        } else {
            all.push(entry);
        }
    }
    if all.iter().any(|entry| entry.exists()) {
        return Ok(all);
    }
    let message = match all.is_empty() {
        true => "there is no class path".to_owned(),
        false => "no entry of the class path exists".to_owned(),
    };
    Err(Expected::new(ExitCode::Usage, message)
        .hint("give it as java takes it: -cp target/classes:target/test-classes:lib/*"))
}

/// Where the test reads the input: the first place of the class path that has it, else the file itself.
fn find(
    failing: &Path,
    bytes: &[u8],
    class_path: &[PathBuf],
    started: &Path,
) -> Result<(Reads, String), Expected> {
    let name = failing.file_name().unwrap_or_default();
    let mut others: Vec<(PathBuf, PathBuf)> = Vec::new();
    for place in class_path {
        for (resource, is_same) in with_name(place, name.as_ref(), bytes) {
            if is_same {
                let said = format!(
                    "the test reads it as the resource {} of {}",
                    clean::path(&resource),
                    clean::path(place)
                );
                return Ok((Reads::Resource(resource), said));
            }
            others.push((place.clone(), resource));
        }
    }
    if let Some((place, resource)) = others.first() {
        let message = format!(
            "{} of {} is not the same as {}",
            clean::path(&resource),
            clean::path(place),
            failing.display()
        );
        return Err(Expected::new(ExitCode::Usage, message).hint(format!(
            "build again, or state that the test reads it: --resource {}",
            clean::path(&resource)
        )));
    }
    let whole = started.join(failing);
    let (whole, here) = (whole.canonicalize(), started.canonicalize());
    if let (Ok(whole), Ok(here)) = (whole, here)
        && let Ok(relative) = whole.strip_prefix(&here)
    {
        let said = format!(
            "the class path does not have it; the test reads it as the file {}",
            clean::path(relative)
        );
        return Ok((Reads::File(relative.to_owned()), said));
    }
    let message = format!(
        "no entry of the class path has {}",
        Path::new(name).display()
    );
    Err(Expected::new(ExitCode::Usage, message)
        .hint("name the resource that the test reads (--resource NAME)"))
}

/// Resources of a file name in one place of a class path, and whether they have these bytes.
fn with_name(place: &Path, name: &Path, bytes: &[u8]) -> Vec<(PathBuf, bool)> {
    match place.is_dir() {
        true => in_folder(place, name, bytes),
        false => in_archive(place, name, bytes).unwrap_or_default(),
    }
}

fn in_folder(top: &Path, name: &Path, bytes: &[u8]) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    let mut left = LOOKED_AT;
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            left = left.saturating_sub(1);
            let path = entry.path();
            if entry.file_type().is_ok_and(|it| it.is_dir()) && left > 0 {
                folders.push(path);
            } else if path.file_name() == Some(name.as_os_str()) {
                let same_length = path
                    .metadata()
                    .is_ok_and(|it| it.len() == bytes.len() as u64);
                let is_same = same_length && fs::read(&path).is_ok_and(|own| own == bytes);
                let below = path.strip_prefix(top).unwrap_or(&path);
                found.push((below.to_owned(), is_same));
            }
        }
    }
    found.sort();
    found
}

fn in_archive(
    place: &Path,
    name: &Path,
    bytes: &[u8],
) -> Result<Vec<(PathBuf, bool)>, zip::result::ZipError> {
    let mut archive = zip::ZipArchive::new(File::open(place)?)?;
    let names = archive.file_names().flatten();
    let names: Vec<String> = names.map(|name| name.into_owned()).collect();
    let mut found = Vec::new();
    for entry in names {
        let path = Path::new(&entry);
        if path.file_name() != Some(name.as_os_str()) {
            continue;
        }
        let mut file = archive.by_name(&entry)?;
        let mut own = Vec::new();
        if file.size() == bytes.len() as u64 {
            file.read_to_end(&mut own)?;
        }
        found.push((path.to_owned(), own == bytes));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_a_class_and_a_method() {
        let name = name("com.acme.ParserTest#reads()").unwrap();
        assert_eq!(
            (&*name.class, &*name.method),
            ("com.acme.ParserTest", "reads")
        );
        for text in ["com.acme.ParserTest", "#reads", "Test#", ""] {
            assert!(super::name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_class_path_is_read_as_java_does() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("lib")).unwrap();
        for name in ["lib/b.jar", "lib/a.JAR", "lib/c.txt"] {
            fs::write(at(name), "").unwrap();
        }
        let all = entries(&"lib/*::classes".into(), home.path()).unwrap();
        assert_eq!(all, [at("lib/a.JAR"), at("lib/b.jar"), at("classes")]);
        let why = entries(&"nowhere".into(), home.path()).unwrap_err();
        assert!(
            why.to_string().contains("no entry of the class path"),
            "{why}"
        );
        assert!(entries(&OsString::new(), home.path()).is_err());
    }

    #[test]
    fn a_resource_is_found_by_its_name_and_bytes() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for folder in ["src/data", "classes/data", "classes/old", "elsewhere"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("src/data/in.json"), "[1]").unwrap();
        fs::write(at("classes/data/in.json"), "[1]").unwrap();
        fs::write(at("classes/old/in.json"), "[2]").unwrap();
        let path = [at("none.jar"), at("classes")];
        let look = |file: &str, bytes: &[u8], path: &[PathBuf]| {
            find(Path::new(file), bytes, path, home.path())
        };
        let (reads, said) = look("src/data/in.json", b"[1]", &path).unwrap();
        assert_eq!(reads, Reads::Resource("data/in.json".into()));
        assert!(said.contains("the resource data/in.json"), "{said}");
        let why = look("src/data/in.json", b"[3]", &path).unwrap_err();
        assert!(why.to_string().contains("is not the same as"), "{why}");
        let (reads, _) = look("src/data/in.json", b"[1]", &path[..1]).unwrap();
        assert_eq!(reads, Reads::File("src/data/in.json".into()));
        let outside = tempfile::tempdir().unwrap();
        let away = outside.path().join("in.json");
        fs::write(&away, "[1]").unwrap();
        let why = look(away.to_str().unwrap(), b"[1]", &path[..1]).unwrap_err();
        assert!(
            why.to_string().contains("no entry of the class path has"),
            "{why}"
        );
    }

    #[test]
    fn a_resource_may_be_in_an_archive() {
        use std::io::Write as _;
        let home = tempfile::tempdir().unwrap();
        let jar = home.path().join("a.jar");
        let mut zip = zip::ZipWriter::new(File::create(&jar).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("x/in.txt", options).unwrap();
        zip.write_all(b"abc").unwrap();
        zip.finish().unwrap();
        let found = with_name(&jar, Path::new("in.txt"), b"abc");
        assert_eq!(found, [(PathBuf::from("x/in.txt"), true)]);
        assert!(!with_name(&jar, Path::new("in.txt"), b"abd")[0].1);
    }
}
