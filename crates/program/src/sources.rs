//! The source files of a program, as far as they are where build tools have them: beside the folders of classes, and
//! in the `-sources` archives beside jars.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use culprit_jvm::untrusted;
use zip::ZipArchive;

/// The most bytes that are read of a source file.
const LONGEST: u64 = 4 << 20;

/// How many folders above the classes a project may begin: `target/classes` has two, `build/classes/java/main` four.
const HIGHEST: usize = 4;

/// The folders of a project that may have sources.
const WITHIN_PROJECT: [&str; 11] = [
    "src/main/java",
    "src/test/java",
    "src/main/kotlin",
    "src/test/kotlin",
    "src/main/scala",
    "src/main/groovy",
    "src/java",
    "src/test",
    "src",
    "test",
    "",
];

/// The endings of source files: the name of one comes from a class file, and could be that of any file.
const ENDINGS: [&str; 6] = ["java", "kt", "scala", "groovy", "clj", "kts"];

/// Where sources are looked for.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    folders: Vec<PathBuf>,
    archives: Vec<PathBuf>,
}

impl Sources {
    /// The sources that may belong to a class path.
    pub fn of<'p>(class_path: impl Iterator<Item = &'p Path>) -> Sources {
        let mut sources = Sources::default();
        for entry in class_path {
            if entry.is_file() {
                let name = entry.file_stem().map(|stem| stem.to_string_lossy());
                let beside = name.map(|name| entry.with_file_name(format!("{name}-sources.jar")));
                sources.archives.extend(beside.filter(|it| it.is_file()));
            }
            for project in entry.ancestors().take(HIGHEST + 1) {
                let folders = WITHIN_PROJECT.iter().map(|within| project.join(within));
                for folder in folders.filter(|it| it.is_dir()) {
                    if !sources.folders.contains(&folder) {
                        sources.folders.push(folder);
                    }
                }
            }
        }
        sources
    }

    /// The text of the file that a class was compiled from, by the internal name of the class and the name of the file.
    pub fn text(&self, class: &str, file: &str) -> Option<String> {
        // Both come from a class file.
        let is_name =
            |part: &str| !part.is_empty() && part != ".." && part != "." && !part.contains('\\');
        let package = class.rsplit_once('/').map(|(package, _)| package);
        let path = match package {
            Some(package) => format!("{package}/{file}"),
            None => file.to_owned(),
        };
        let ending = Path::new(file).extension();
        let is_source = ending.is_some_and(|it| ENDINGS.iter().any(|known| it == *known));
        if !is_source || file.contains('/') || !path.split('/').all(is_name) {
            return None;
        }
        let mut folders = self.folders.iter().map(|folder| folder.join(&path));
        let found = folders.find_map(|file| untrusted::read_text(&file, LONGEST).ok());
        found.or_else(|| {
            let mut archives = self.archives.iter();
            archives.find_map(|archive| in_archive(archive, &path))
        })
    }
}

fn in_archive(archive: &Path, path: &str) -> Option<String> {
    let mut archive = ZipArchive::new(File::open(archive).ok()?).ok()?;
    let mut bytes = Vec::new();
    let file = archive.by_name(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sources_are_found_from_the_folder_of_the_classes() {
        let project = tempfile::tempdir().unwrap();
        let classes = project.path().join("target/classes");
        let package = project.path().join("src/main/java/shop");
        fs::create_dir_all(&classes).unwrap();
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("Cart.java"), "class Cart {}").unwrap();
        let sources = Sources::of([classes.as_path()].into_iter());
        let text = |class, file| sources.text(class, file);
        assert_eq!(
            text("shop/Cart$Line", "Cart.java").as_deref(),
            Some("class Cart {}")
        );
        assert_eq!(text("shop/Cart", "Till.java"), None);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let project = tempfile::tempdir().unwrap();
        let classes = project.path().join("src/classes");
        fs::create_dir_all(&classes).unwrap();
        fs::write(project.path().join("secret.java"), "").unwrap();
        let sources = Sources::of([classes.as_path()].into_iter());
        assert_eq!(sources.text("Cart", "secret.java"), Some(String::new()));
        fs::write(project.path().join("password"), "").unwrap();
        for (class, file) in [
            ("Cart", "password"),
            ("Cart", "../secret.java"),
            ("../Cart", "secret.java"),
            ("a/../../Cart", "secret.java"),
            ("/Cart", "secret.java"),
        ] {
            assert_eq!(sources.text(class, file), None, "{class} {file}");
        }
    }
}
