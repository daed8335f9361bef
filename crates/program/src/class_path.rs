//! A class path: jars and folders, searched in order, as a JVM does.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use culprit_jvm::untrusted;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::Error;
use crate::manifest::attribute;

/// The oldest Java for which a jar can have classes of their own.
const FIRST_VERSION: u32 = 9;

/// Bytes of a class file that are read: no JVM takes larger ones.
const LARGEST: u64 = 64 << 20;

/// A class path that can be looked into.
#[derive(Debug)]
pub struct ClassPath {
    entries: Vec<ClassPathEntry>,
    /// The feature version of Java, which decides among the classes of a multi-release jar.
    feature: u32,
}

#[derive(Debug)]
enum ClassPathEntry {
    Folder(PathBuf),
    Jar(Mutex<Jar>),
}

#[derive(Debug)]
struct Jar {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// It may have classes for newer versions of Java beside the others.
    has_versions: bool,
}

impl ClassPath {
    /// Opens every entry of a class path, for a feature version of Java.
    pub fn open(text: &OsStr, feature: u32) -> Result<ClassPath, Error> {
        let mut entries = Vec::new();
        for part in std::env::split_paths(text).filter(|part| !part.as_os_str().is_empty()) {
            match part.file_name() == Some(OsStr::new("*")) {
                true => {
                    let folder = part.parent().unwrap_or(Path::new("."));
                    for jar in jars(folder)? {
                        entries.push(ClassPathEntry::open(&jar)?);
                    }
                }
                false => entries.push(ClassPathEntry::open(&part)?),
            }
        }
        Ok(ClassPath { entries, feature })
    }

    /// The class file of a class, by its internal name.
    pub fn class(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        for entry in &self.entries {
            let found = match entry {
                ClassPathEntry::Folder(folder) => read(&folder.join(format!("{name}.class")))?,
                ClassPathEntry::Jar(jar) => locked(jar).class(name, self.feature)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Internal names of all classes.
    pub fn names(&self) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        for entry in &self.entries {
            match entry {
                ClassPathEntry::Folder(folder) => walk(folder, folder, &mut names)?,
                ClassPathEntry::Jar(jar) => names.extend(locked(jar).names()),
            }
        }
        names.retain(|name| !name.ends_with("module-info") && !name.ends_with("package-info"));
        Ok(names)
    }
}

impl ClassPathEntry {
    fn open(path: &Path) -> Result<ClassPathEntry, Error> {
        if path.is_dir() {
            return Ok(ClassPathEntry::Folder(path.to_owned()));
        }
        let file = untrusted::open_target(path).map_err(|error| unreadable(path, error))?;
        let archive = ZipArchive::new(BufReader::new(file));
        let archive = archive.map_err(|error| unreadable_jar(path, error))?;
        let mut jar = Jar {
            path: path.to_owned(),
            archive,
            has_versions: false,
        };
        let manifest = jar.entry("META-INF/MANIFEST.MF")?.unwrap_or_default();
        let versions = attribute(&manifest, "multi-release");
        jar.has_versions = versions.is_some_and(|it| it.trim_end().eq_ignore_ascii_case("true"));
        Ok(ClassPathEntry::Jar(Mutex::new(jar)))
    }
}

impl Jar {
    fn class(&mut self, name: &str, feature: u32) -> Result<Option<Vec<u8>>, Error> {
        if self.has_versions {
            for version in (FIRST_VERSION..=feature).rev() {
                let name = format!("META-INF/versions/{version}/{name}.class");
                if let Some(bytes) = self.entry(&name)? {
                    return Ok(Some(bytes));
                }
            }
        }
        self.entry(&format!("{name}.class"))
    }

    fn entry(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let entry = match self.archive.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(unreadable_jar(&self.path, error)),
        };
        let mut bytes = Vec::new();
        let read = entry.take(LARGEST).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&self.path, error))?;
        Ok(Some(bytes))
    }

    fn names(&self) -> Vec<String> {
        // A name that is no text is no name of a class.
        let files = self.archive.file_names().flatten();
        let plain = files.filter(|file| !is_of_archive(file));
        plain
            .filter_map(|file| Some(file.strip_suffix(".class")?.to_owned()))
            .collect()
    }
}

/// Whether a file of a jar is not on the class path under its own name: other versions of classes, and what a loader
/// of the jar itself has elsewhere.
fn is_of_archive(file: &str) -> bool {
    let folder = file.split_once('/').map(|(folder, _)| folder);
    folder.is_some_and(|folder| folder.ends_with("-INF"))
}

fn jars(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut jars = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("jar"))
        {
            jars.push(path);
        }
    }
    jars.sort();
    Ok(jars)
}

fn walk(root: &Path, folder: &Path, names: &mut BTreeSet<String>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.is_dir() {
            walk(root, &path, names)?;
        } else if path.extension().is_some_and(|it| it == "class") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            names.insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, Error> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        untrusted::open_target(file)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, error)),
    }
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::ClassPath {
        path: path.to_owned(),
        error,
    }
}

fn locked(jar: &Mutex<Jar>) -> MutexGuard<'_, Jar> {
    jar.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unreadable_jar(path: &Path, error: ZipError) -> Error {
    unreadable(path, error.into())
}
