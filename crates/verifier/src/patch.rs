//! Classes that take the place of a JDK's own, in a folder for each module.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Class;
use crate::class::MODULES;

/// Classes that take the place of originals.
#[derive(Debug)]
pub struct Patch {
    folder: PathBuf,
    /// Packages added to `java.base` that all modules must see.
    exports: Vec<String>,
}

impl Patch {
    pub(crate) fn new(folder: PathBuf) -> Patch {
        let _ = fs::remove_dir_all(&folder);
        Patch {
            folder,
            exports: Vec::new(),
        }
    }

    /// Replaces a class.
    pub fn put(&self, class: &Class, bytes: &[u8]) {
        write(&self.folder.join(&class.module).join(&class.path), bytes);
    }

    /// Adds a class, given by its internal name, that edited classes call.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        let path = format!("{}/{name}.class", MODULES[0]);
        write(&self.folder.join(path), bytes);
        if let Some((package, _)) = name.rsplit_once('/') {
            let package = package.replace('/', ".");
            if !self.exports.contains(&package) {
                self.exports.push(package);
            }
        }
    }

    /// Options of a JVM that verifies everything and uses these classes.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = ["-Xverify:all", "-Xshare:off", "-XX:TieredStopAtLevel=1"]
            .map(String::from)
            .to_vec();
        for module in MODULES {
            let folder = self.folder.join(module);
            if folder.exists() {
                options.push("--patch-module".to_owned());
                options.push(format!("{module}={}", folder.display()));
            }
        }
        for package in &self.exports {
            options.push("--add-exports".to_owned());
            options.push(format!(
                "{}/{package}={}",
                MODULES[0],
                MODULES[1..].join(",")
            ));
        }
        options
    }
}

fn write(file: &Path, bytes: &[u8]) {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(file, bytes).unwrap();
}
