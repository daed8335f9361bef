//! The source files below a folder, found by their paths below the roots of their packages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use culprit_report::debug::SourcePaths;

/// The most files and folders that are looked at: the folder may be any, also the root of a disk.
const MOST_ENTRIES: usize = 50_000;

/// The folders of build tools with what they make, and the files beside them by which they are known.
const OF_BUILDS: [(&str, &[&str]); 2] = [
    ("target", &["pom.xml"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
];

/// Looks for files by the ends of their paths, such as `com/acme/Foo.java`. One that is there several times is not taken:
/// the program may have any of them. Links, hidden folders, those of build tools and `without` are left out.
pub(super) fn find(root: &Path, wanted: &BTreeSet<String>, without: &Path) -> SourcePaths {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in wanted {
        let name = path.rsplit('/').next().unwrap_or(path);
        by_name.entry(name).or_default().push(path);
    }
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut folders = VecDeque::from([String::new()]);
    let mut left = MOST_ENTRIES;
    'folders: while let Some(folder) = folders.pop_front().filter(|_| !by_name.is_empty()) {
        let place = root.join(&folder);
        // Folders that cannot be read have no sources of this user.
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else {
                break 'folders;
            };
            left = rest;
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let path = match folder.as_str() {
                "" => name.clone(),
                folder => format!("{folder}/{name}"),
            };
            if kind.is_dir() && !is_left_out(&place, &name) && root.join(&path) != without {
                folders.push_back(path);
            } else if kind.is_file() {
                let all = by_name.get(name.as_str()).into_iter().flatten();
                for wanted in all.filter(|wanted| Path::new(&path).ends_with(wanted)) {
                    found.entry(wanted).or_default().push(path.clone());
                }
            }
        }
    }
    let found = found.into_iter().filter_map(|(wanted, mut paths)| {
        let path = paths.pop().filter(|_| paths.is_empty())?;
        Some((wanted.to_owned(), path))
    });
    found.collect()
}

fn is_left_out(parent: &Path, name: &str) -> bool {
    let is_of_build = |(folder, files): &(&str, &[&str])| {
        name == *folder && files.iter().any(|file| parent.join(file).is_file())
    };
    name.starts_with('.') || name == "node_modules" || OF_BUILDS.iter().any(is_of_build)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_source_file_is_found_by_its_package_if_it_is_there_once() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        let write = |path: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        };
        write("core/pom.xml");
        write("core/src/main/java/com/acme/target/Cart.java");
        write("core/target/generated/com/acme/target/Cart.java");
        write(".old/com/acme/target/Cart.java");
        write("out/com/acme/target/Cart.java");
        write("other/acme/target/Cart.java");
        write("a/shop/Till.java");
        write("b/shop/Till.java");
        write("Main.java");
        symlink(root.join("core"), root.join("link")).unwrap();
        let wanted = ["com/acme/target/Cart.java", "shop/Till.java", "Main.java"];
        let wanted = BTreeSet::from(wanted.map(str::to_owned));
        let found = find(root, &wanted, &root.join("out"));
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|it| (it.0.as_str(), it.1.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("Main.java", "Main.java"),
                (
                    "com/acme/target/Cart.java",
                    "core/src/main/java/com/acme/target/Cart.java"
                ),
            ]
        );
        assert!(find(root, &BTreeSet::new(), root).is_empty());
    }
}
