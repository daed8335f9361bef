//! Manifests of jars: the class path and the main class. Build tools start JVMs with a jar that contains
//! nothing but a manifest when the class path is too long for a command line.

use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};

use culprit_jvm::untrusted;
use percent_encoding::percent_decode_str;
use zip::ZipArchive;

/// The largest manifest that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The class path from the jar's manifest, if it has one.
pub fn class_path_of(jar: &Path) -> Option<String> {
    attribute_of(jar, "class-path")
}

/// The main class from the jar's manifest, if it has one: that of the program, where a loader of Spring Boot comes
/// first.
pub fn main_class_of(jar: &Path) -> Option<String> {
    let started = attribute_of(jar, "start-class");
    let class = started.or_else(|| attribute_of(jar, "main-class"))?;
    Some(class.trim_end().to_owned())
}

fn attribute_of(jar: &Path, wanted: &str) -> Option<String> {
    let mut archive = ZipArchive::new(BufReader::new(untrusted::open_target(jar).ok()?)).ok()?;
    let manifest = archive.by_name("META-INF/MANIFEST.MF").ok()?;
    let mut bytes = Vec::new();
    manifest.take(LARGEST).read_to_end(&mut bytes).ok()?;
    attribute(&bytes, wanted)
}

/// The files in the class path of a manifest, which are URLs relative to that of the jar.
pub fn resolve(jar: &Path, attribute: &str) -> Vec<PathBuf> {
    let folder = jar.parent().unwrap_or(Path::new(""));
    let urls = attribute.split_whitespace();
    let paths = urls.filter_map(|url| match url.split_once(':') {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => {
            // `file:/a` and `file:///a` are the same.
            let path = path.strip_prefix("//").unwrap_or(path);
            Some(folder.join(decoded(path)))
        }
        // One letter is no scheme, and neither is anything behind a slash.
        Some((before, _)) if before.len() > 1 && !before.contains('/') => None,
        _ => Some(folder.join(decoded(url))),
    });
    paths.map(|path| normal(&path)).collect()
}

/// A path without `..`, as URLs are resolved: the folder of the jar may be gone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// An attribute in the main section of a manifest, by its name in any case. Lines that start with a
/// space go on with the one before.
pub fn attribute(manifest: &[u8], wanted: &str) -> Option<String> {
    let manifest = String::from_utf8_lossy(manifest);
    let mut value: Option<String> = None;
    for line in manifest.lines().take_while(|line| !line.is_empty()) {
        match (&mut value, line.strip_prefix(' ')) {
            (Some(value), Some(rest)) => value.push_str(rest),
            (Some(_), None) => break,
            (None, _) => {
                let pair = line.split_once(':');
                let is_it = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case(wanted);
                value = pair
                    .filter(is_it)
                    .map(|(_, text)| text.trim_start().to_owned());
            }
        }
    }
    value
}

/// The path in a URL, percent-decoded.
fn decoded(path: &str) -> PathBuf {
    PathBuf::from(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_may_go_on_in_other_lines() {
        let text = "Manifest-Version: 1.0\r\nclass-path: a.jar b\r\n .jar  c.jar\r\nX: y\r\n z\r\n";
        let path = attribute(text.as_bytes(), "class-path");
        assert_eq!(path.as_deref(), Some("a.jar b.jar  c.jar"));
        let text = "X: y\n\nName: z\nClass-Path: a.jar\n";
        assert_eq!(attribute(text.as_bytes(), "class-path"), None);
        assert_eq!(attribute(text.as_bytes(), "x").as_deref(), Some("y"));
    }

    #[test]
    fn urls_are_relative_to_the_jar() {
        let text = "lib/a.jar ../b%20c.jar file:/d/e/ file:///f.jar http://x.org/g.jar h%zz.jar";
        let expected = ["/j/lib/a.jar", "/b c.jar", "/d/e/", "/f.jar", "/j/h%zz.jar"];
        let found = resolve(Path::new("/j/all.jar"), text);
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
