//! Archives with a class path of their own inside: the jars of Spring Boot, and war files. Their loaders read classes
//! from a folder of the archive and from jars in another; no other JVM can. So both are unpacked.
//!
//! An archive may come from anywhere. Only regular files are written, below the given folder, and only so many bytes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use culprit_jvm::untrusted;
use zip::ZipArchive;

/// The folders of an archive that contain classes.
const CLASSES: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];

/// The folders of an archive that contain jars.
const JARS: [&str; 3] = ["BOOT-INF/lib/", "WEB-INF/lib/", "WEB-INF/lib-provided/"];

/// The most bytes that are unpacked of one archive.
const MOST_BYTES: u64 = 1 << 30;

/// The most files that are unpacked of one archive.
const MOST_FILES: usize = 100_000;

/// An entry of an archive that is part of the class path inside.
#[derive(PartialEq, Eq, Debug)]
enum Part {
    /// A file in the folder of classes, by its path there.
    Class(PathBuf),
    /// A jar, by its name.
    Jar(PathBuf),
}

/// The class path inside an archive, unpacked to a folder of this name; empty if the archive has none. A folder that
/// exists was unpacked before.
pub(crate) fn unpack(archive: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    if archive.is_dir() || !has_parts(archive) {
        return Ok(Vec::new());
    }
    if !folder.exists() {
        let begun = folder.with_extension("part");
        fs::create_dir_all(&begun)?;
        write_parts(archive, &begun)?;
        fs::rename(&begun, folder)?;
    }
    class_path(folder)
}

/// Whether an archive has a class path inside.
fn has_parts(archive: &Path) -> bool {
    let opened = untrusted::open_target(archive).map(BufReader::new);
    let opened = opened.ok().and_then(|file| ZipArchive::new(file).ok());
    let has_part = |archive: ZipArchive<_>| {
        let mut names = archive.file_names().flatten();
        names.any(|name| part(&name).is_some())
    };
    opened.is_some_and(has_part)
}

/// The folder of classes and the jars, by name, as loaders of such archives have them.
fn class_path(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut jars = Vec::new();
    let lib = folder.join("lib");
    if lib.is_dir() {
        for entry in fs::read_dir(lib)? {
            jars.push(entry?.path());
        }
    }
    jars.sort();
    let classes = folder.join("classes");
    let classes = classes.is_dir().then_some(classes);
    Ok(classes.into_iter().chain(jars).collect())
}

fn write_parts(archive: &Path, folder: &Path) -> io::Result<()> {
    let file = BufReader::new(untrusted::open_target(archive)?);
    let mut archive = ZipArchive::new(file)?;
    let mut left = MOST_BYTES;
    let mut files = 0;
    for index in 0..archive.len() {
        // A name that is no text is no name of a class.
        let name = archive.name_for_index(index).and_then(Result::ok);
        let path = match name.and_then(|name| part(&name)) {
            Some(Part::Class(path)) => folder.join("classes").join(path),
            Some(Part::Jar(name)) => folder.join("lib").join(name),
            None => continue,
        };
        files += 1;
        if files > MOST_FILES || left == 0 {
            return Err(io::Error::other("the archive contains too much"));
        }
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let to = File::options().write(true).create_new(true).open(&path);
        let mut to = match to {
            // Names may be repeated; loaders take the first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            to => to?,
        };
        let entry = archive.by_index(index)?;
        left -= io::copy(&mut entry.take(left), &mut to)?;
    }
    Ok(())
}

/// The part of the class path inside that an entry of an archive is.
fn part(name: &str) -> Option<Part> {
    if let Some(path) = CLASSES.iter().find_map(|folder| name.strip_prefix(folder)) {
        return plain(path).map(Part::Class);
    }
    let jar = JARS.iter().find_map(|folder| name.strip_prefix(folder))?;
    let jar = plain(jar).filter(|jar| jar.components().count() == 1)?;
    let is_jar = jar.extension().map(OsStr::to_ascii_lowercase) == Some("jar".into());
    is_jar.then_some(Part::Jar(jar))
}

/// The path of a file that leads nowhere but down.
fn plain(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let is_down = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_file = !name.is_empty() && !name.ends_with('/');
    (is_file && path.components().all(is_down)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(path: &Path, entries: &[(&str, &str)]) {
        let mut archive = ZipWriter::new(File::create(path).unwrap());
        for (name, text) in entries {
            let options = SimpleFileOptions::default();
            archive.start_file(*name, options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    }

    fn names(paths: &[PathBuf], folder: &Path) -> String {
        let names = paths.iter().map(|path| path.strip_prefix(folder).unwrap());
        let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
        names.join(" ")
    }

    #[test]
    fn classes_and_jars_inside_are_a_class_path() {
        let home = tempfile::tempdir().unwrap();
        let jar = home.path().join("app.jar");
        archive(
            &jar,
            &[
                ("org/loader/Launcher.class", "x"),
                ("BOOT-INF/classes/demo/Main.class", "main"),
                ("BOOT-INF/lib/b.jar", "b"),
                ("BOOT-INF/lib/a.JAR", "a"),
                ("BOOT-INF/lib/deep/c.jar", "c"),
                ("BOOT-INF/classpath.idx", "-"),
            ],
        );
        let folder = home.path().join("app");
        let found = unpack(&jar, &folder).unwrap();
        assert_eq!(names(&found, &folder), "classes lib/a.JAR lib/b.jar");
        let main = fs::read_to_string(folder.join("classes/demo/Main.class")).unwrap();
        assert_eq!(main, "main");
        // Nothing is unpacked twice.
        fs::remove_file(folder.join("lib/a.JAR")).unwrap();
        let found = unpack(&jar, &folder).unwrap();
        assert_eq!(names(&found, &folder), "classes lib/b.jar");
    }

    #[test]
    fn other_archives_have_nothing_inside() {
        let home = tempfile::tempdir().unwrap();
        let jar = home.path().join("plain.jar");
        archive(&jar, &[("demo/Main.class", "x"), ("lib/a.jar", "x")]);
        let folder = home.path().join("plain");
        assert_eq!(unpack(&jar, &folder).unwrap(), [] as [PathBuf; 0]);
        assert_eq!(unpack(home.path(), &folder).unwrap(), [] as [PathBuf; 0]);
        assert!(!folder.exists());
    }

    #[test]
    fn no_entry_leads_out_of_the_folder() {
        for name in [
            "BOOT-INF/classes/../../../etc/passwd",
            "BOOT-INF/classes//etc/passwd",
            "BOOT-INF/lib/../../a.jar",
            "WEB-INF/lib//a.jar",
            "WEB-INF/classes/",
            "WEB-INF/classes/a/",
            "WEB-INF/classes/a/../../../b",
        ] {
            assert_eq!(part(name), None, "{name}");
        }
        let inside = part("WEB-INF/classes/a/B.class");
        assert_eq!(inside, Some(Part::Class("a/B.class".into())));
    }
}
