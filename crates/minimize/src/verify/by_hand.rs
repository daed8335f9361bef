//! How to compile and run a test by hand: for one that the sandbox kept from failing, so that whoever trusts it
//! can see it fail.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use culprit_junit::{Junit, Language, PrintedTest};
use culprit_jvm::{Jdk, copy_input};
use culprit_program::{Compilation, KotlinCompilation, KotlinCompiler};

use super::{ASSERTIONS, Checked, TestEnvironment, after, running};
use crate::{Resource, Runner};

/// A test with all that it takes to run it outside of the sandbox.
#[derive(Clone, Debug)]
pub struct ByHand {
    jdk: Jdk,
    /// The compiler of a test in Kotlin.
    kotlin: Option<KotlinCompiler>,
    class_path: OsString,
    /// Where the test works.
    directory: Option<PathBuf>,
    junit: Junit,
    runner: Runner,
    /// Options of the JVM, besides the one for assertions.
    options: Vec<String>,
    /// Files and folders that the test finds on its class path.
    resources: Vec<Resource>,
}

impl ByHand {
    pub(crate) fn of(
        surroundings: &TestEnvironment<'_>,
        checked: &Checked,
        language: Language,
        resources: &[Resource],
    ) -> ByHand {
        let options = checked
            .options
            .iter()
            .filter(|option| *option != ASSERTIONS);
        ByHand {
            jdk: surroundings.jdk.clone(),
            kotlin: surroundings.kotlin.cloned(),
            class_path: surroundings.joined(language),
            directory: surroundings.directory.map(Path::to_owned),
            junit: surroundings.junit,
            runner: checked.runner,
            options: options.cloned().collect(),
            resources: resources.to_vec(),
        }
    }

    /// The folder that the test works in.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Writes the runner of a test and its resources into a new folder, and returns the commands that compile the file of the test
    /// there and run it, one after the other.
    pub fn commands(
        &self,
        test: &PrintedTest,
        file: &Path,
        folder: &Path,
    ) -> io::Result<Vec<Vec<OsString>>> {
        let classes = folder.join("classes");
        fs::create_dir_all(&classes)?;
        for Resource { name, path } in &self.resources {
            copy_input(path, &classes.join(name))?;
        }
        let mut files = match test.language {
            Language::Java => vec![OsString::from(file)],
            Language::Kotlin => Vec::new(),
        };
        for (name, source) in self.runner.sources(self.junit) {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(&file, source)?;
            files.push(file.into());
        }
        let mut javac = vec![OsString::from(self.jdk.tool("javac"))];
        let compilation = Compilation {
            class_path: &self.class_path,
            sources: &files,
            classes: &classes,
        };
        javac.extend(compilation.arguments());
        let kotlin = self.kotlin.as_ref();
        let kotlin = kotlin.filter(|_| test.language == Language::Kotlin);
        let kotlinc = kotlin.map(|kotlin| {
            let mut words = vec![OsString::from(self.jdk.tool("java"))];
            words.extend(kotlin.words(&KotlinCompilation {
                class_path: &after(&classes, &self.class_path),
                source: file,
                classes: &classes,
                jdk_home: &self.jdk.home,
                major: self.jdk.version.feature,
            }));
            words
        });
        let mut java = vec![OsString::from(self.jdk.tool("java"))];
        java.push(ASSERTIONS.into());
        java.extend(self.options.iter().map(OsString::from));
        java.extend(running(&classes, &self.class_path, test));
        let go = self.directory.as_ref();
        let go = go.map(|directory| vec!["cd".into(), directory.into()]);
        let compile = [javac].into_iter().chain(kotlinc);
        Ok(go.into_iter().chain(compile).chain([java]).collect())
    }
}
