//! A class path that any JVM can use: what the recorded program had inside an archive, or in memory alone, is written
//! to a folder.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use culprit_classfile::ClassFile;
use culprit_jvm::Jdk;
use culprit_model::observe::is_jdk_name;
use culprit_trace::{ClassInfo, Recording};

use crate::vet::is_legal;
use crate::{Error, Program, nested_archive};

/// The folder of the classes that only the recording has.
const RECORDED: &str = "recorded";

/// The longest part of the name of a class that is written to a file.
const LONGEST_PART: usize = 200;

/// A class path with the class paths inside its archives, which are unpacked to a folder.
pub fn unpacked(class_path: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in class_path {
        found.push(entry.clone());
        let inside = nested_archive::unpack(entry, &folder.join(name_of(entry)));
        found.extend(inside.map_err(|error| Error::Unpacking {
            path: entry.clone(),
            error,
        })?);
    }
    Ok(found)
}

/// A class path with the classes that only the recording has, which are written to a folder: those that were compiled
/// or generated at run time, or that a loader had from elsewhere.
pub fn with_recorded(
    mut class_path: Vec<PathBuf>,
    recording: &Recording,
    jdk: &Jdk,
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let folder = folder.join(RECORDED);
    let program = Program::open(&class_path, jdk)?;
    let with_code = |class: &&ClassInfo| !class.outline && !class.ahead;
    let mut any = false;
    // Of the classes of one name in several loaders the last is taken: programs load a class again to replace it.
    for class in recording.classes().iter().rev().filter(with_code) {
        if !can_be_file(&class.name)
            || was_on(&class_path, class)
            || program.bytes(&class.name).is_some()
        {
            continue;
        }
        let bytes = recording.class_bytes(class)?;
        if !is_class(&bytes, &class.name) {
            continue;
        }
        let file = folder.join(format!("{}.class", class.name));
        write_new(&file, &bytes).map_err(|error| Error::Unpacking {
            path: recording.path().to_owned(),
            error,
        })?;
        any = true;
    }
    class_path.extend(any.then_some(folder));
    Ok(class_path)
}

/// A class path with the observed classes of one loader in front, where the class path has others of their names or none.
/// `None` if it has the same ones.
pub fn with_loader(
    program: &Program,
    recording: &Recording,
    loader: u32,
    folder: &Path,
) -> Result<Option<Vec<PathBuf>>, Error> {
    let folder = folder.join(format!("loader-{loader}"));
    let is_of_loader = |class: &&ClassInfo| {
        let has_code = class.observed && !class.outline && !class.ahead;
        class.loader == loader && has_code && can_be_file(&class.name)
    };
    let mut any = false;
    for class in recording.classes().iter().filter(is_of_loader) {
        let bytes = recording.class_bytes(class)?;
        if program.bytes(&class.name).as_ref() == Some(&bytes) || !is_class(&bytes, &class.name) {
            continue;
        }
        let file = folder.join(format!("{}.class", class.name));
        write(&file, &bytes).map_err(|error| Error::Unpacking {
            path: recording.path().to_owned(),
            error,
        })?;
        any = true;
    }
    let rest = program.class_path().map(Path::to_owned);
    Ok(any.then(|| std::iter::once(folder).chain(rest).collect()))
}

/// Whether a class came from an entry of a class path. If that is gone, so is the program.
fn was_on(class_path: &[PathBuf], class: &ClassInfo) -> bool {
    let origin = class.origin.as_deref();
    let origin = origin.and_then(|url| url.strip_prefix("file:"));
    origin.is_some_and(|path| class_path.iter().any(|entry| entry == Path::new(path)))
}

/// Whether the class of a name can be in a folder of classes.
fn can_be_file(name: &str) -> bool {
    let is_short = |part: &str| part.len() <= LONGEST_PART;
    is_legal(name) && !is_jdk_name(name) && name.split('/').all(is_short)
}

/// Whether bytes are the class file of a class.
fn is_class(bytes: &[u8], name: &str) -> bool {
    let class = ClassFile::parse(bytes);
    class.is_ok_and(|class| class.name().is_ok_and(|found| found == name))
}

/// Writes the file of a class.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
    fs::write(file, bytes)
}

/// Writes a file unless it exists.
fn write_new(file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
    match File::options().write(true).create_new(true).open(file) {
        Ok(mut file) => file.write_all(bytes),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A name for the folder of an archive, different for each archive.
fn name_of(archive: &Path) -> String {
    let mut hash = DefaultHasher::new();
    archive.hash(&mut hash);
    let stem = archive.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{:08x}", hash.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_written() {
        for (name, expected) in [
            ("Single", true),
            ("demo/shop/Cart$Line", true),
            ("../Single", false),
            ("/etc/Single", false),
            ("demo//Cart", false),
            ("java/lang/Object", false),
            ("demo/Cart\n", false),
        ] {
            assert_eq!(can_be_file(name), expected, "{name}");
        }
        assert!(!can_be_file(&"x".repeat(300)));
    }

    #[test]
    fn archives_of_one_name_have_folders_of_their_own() {
        let (one, other) = (Path::new("/a/app.jar"), Path::new("/b/app.jar"));
        assert_ne!(name_of(one), name_of(other));
        assert_eq!(name_of(one), name_of(one));
        assert!(name_of(one).starts_with("app-"));
    }
}
