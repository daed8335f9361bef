//! Kotlin compilers of the machine: the one of `kotlinc`, and those in the local repositories of Maven and Gradle.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The class of the compiler.
const MAIN: &str = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";

/// The group of Kotlin's libraries.
const GROUP: &str = "org.jetbrains.kotlin";

/// The compiler as a library.
const COMPILER: &str = "kotlin-compiler-embeddable";

/// The library that all programs of Kotlin need.
const LIBRARY: &str = "kotlin-stdlib";

/// Archives beside the compiler of an installation that it needs.
const BESIDE: [&str; 8] = [
    "kotlin-compiler",
    "kotlin-stdlib",
    "kotlin-script-runtime",
    "kotlin-reflect",
    "kotlin-daemon-client",
    "trove4j",
    "kotlinx-coroutines-core-jvm",
    "annotations-13.0",
];

/// The dependencies of dependencies that are followed.
const DEEPEST: usize = 3;

/// The places where compilers may be.
#[derive(Clone, Default, Debug)]
pub struct KotlinLocations {
    /// The variable `PATH`.
    pub path: Option<OsString>,
    /// The variable `KOTLIN_HOME`.
    pub home: Option<PathBuf>,
    /// The local repository of Maven.
    pub maven: Option<PathBuf>,
    /// The cache of Gradle.
    pub gradle: Option<PathBuf>,
}

impl KotlinLocations {
    /// Those of this process.
    pub fn of_process() -> KotlinLocations {
        let user = env::home_dir();
        let below = |path: &str| user.as_ref().map(|user| user.join(path));
        let gradle = env::var_os("GRADLE_USER_HOME").map(PathBuf::from);
        KotlinLocations {
            path: env::var_os("PATH"),
            home: env::var_os("KOTLIN_HOME").map(PathBuf::from),
            maven: below(".m2/repository"),
            gradle: gradle
                .or_else(|| below(".gradle"))
                .map(|home| home.join("caches/modules-2/files-2.1")),
        }
    }
}

/// A Kotlin compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KotlinCompiler {
    /// Its class path.
    jars: Vec<PathBuf>,
    /// The library of Kotlin that belongs to it.
    library: PathBuf,
    /// `None` for the one of `kotlinc`.
    version: Option<String>,
}

/// The compilers of a machine: at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KotlinCompilers {
    all: Vec<KotlinCompiler>,
}

impl KotlinCompilers {
    /// The compilers in some places, or `None` if there are none.
    pub fn find(locations: &KotlinLocations) -> Option<KotlinCompilers> {
        let folders = locations
            .path
            .iter()
            .flat_map(|path| env::split_paths(path));
        let scripts = folders.map(|folder| folder.join("kotlinc"));
        let scripts = scripts.filter_map(|script| fs::canonicalize(script).ok());
        let on_path = scripts.filter_map(|script| Some(script.parent()?.parent()?.to_owned()));
        let mut homes = locations.home.clone().into_iter().chain(on_path);
        let installed = homes.find_map(|home| installed(&home));
        let mut all: Vec<KotlinCompiler> = installed.into_iter().collect();
        let repositories = [
            locations.maven.clone().map(Repository::Maven),
            locations.gradle.clone().map(Repository::Gradle),
        ];
        for repository in repositories.into_iter().flatten() {
            for version in repository.versions(COMPILER) {
                all.extend(repository.compiler(&version));
            }
        }
        (!all.is_empty()).then_some(KotlinCompilers { all })
    }

    /// The best compiler for a program: the installed one, or that of the version of Kotlin on its class path, or else
    /// the nearest, and rather a newer one.
    pub fn for_program<'p>(
        &self,
        class_path: impl IntoIterator<Item = &'p Path>,
    ) -> &KotlinCompiler {
        let wanted = class_path.into_iter().find_map(library_version);
        let installed = self.all.iter().find(|it| it.version.is_none());
        let rank = |it: &&KotlinCompiler| {
            let own = it.version.as_deref().map(numbers).unwrap_or_default();
            let wanted = wanted.as_deref().map(numbers).unwrap_or_default();
            let is_newer = own >= wanted;
            let distance: Vec<u64> = own
                .iter()
                .zip(wanted.iter().chain(std::iter::repeat(&0)))
                .map(|(own, wanted)| own.abs_diff(*wanted))
                .collect();
            (!is_newer, distance)
        };
        let nearest = self.all.iter().min_by_key(rank);
        installed.or(nearest).unwrap_or(&self.all[0])
    }
}

impl KotlinCompiler {
    /// The library of Kotlin, for programs without.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The words of a JVM that compiles a source file.
    pub fn words(&self, compilation: &KotlinCompilation<'_>) -> Vec<OsString> {
        let jars = env::join_paths(&self.jars).unwrap_or_default();
        let mut words = vec![crate::class_path_option(&jars), MAIN.into()];
        let options = ["-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target"];
        words.extend(options.map(OsString::from));
        words.push(compilation.target().into());
        words.extend(["-jdk-home".into(), compilation.jdk_home.into()]);
        // Tests of a project see what is internal in it.
        let friends = env::split_paths(compilation.class_path).filter(|path| path.is_dir());
        let friends: Vec<String> = friends.map(|path| path.display().to_string()).collect();
        if !friends.is_empty() {
            words.push(format!("-Xfriend-paths={}", friends.join(",")).into());
        }
        words.extend(["-cp".into(), compilation.class_path.into()]);
        words.extend(["-d".into(), compilation.classes.into()]);
        words.push(compilation.source.into());
        words
    }
}

/// The input and the output of a Kotlin compiler.
#[derive(Clone, Copy, Debug)]
pub struct KotlinCompilation<'a> {
    pub class_path: &'a OsStr,
    pub source: &'a Path,
    /// The folder for the classes.
    pub classes: &'a Path,
    pub jdk_home: &'a Path,
    /// The version of the JDK.
    pub major: u32,
}

impl KotlinCompilation<'_> {
    /// The version of class files: at least that of the library functions that the compiler copies into the test.
    fn target(&self) -> &'static str {
        match self.major {
            17.. => "17",
            11.. => "11",
            _ => "1.8",
        }
    }
}

/// The compiler of an installation.
fn installed(home: &Path) -> Option<KotlinCompiler> {
    let homes = [home.to_owned(), home.join("kotlinc")];
    let jar = |home: &Path, name: &str| home.join("lib").join(format!("{name}.jar"));
    let home = homes
        .into_iter()
        .find(|home| jar(home, "kotlin-compiler").is_file())?;
    let jars = BESIDE.iter().map(|name| jar(&home, name));
    Some(KotlinCompiler {
        jars: jars.filter(|jar| jar.is_file()).collect(),
        library: jar(&home, LIBRARY),
        version: None,
    })
}

/// A local repository of libraries.
enum Repository {
    Maven(PathBuf),
    Gradle(PathBuf),
}

impl Repository {
    fn folder(&self, group: &str, artifact: &str) -> PathBuf {
        match self {
            Repository::Maven(root) => root.join(group.replace('.', "/")).join(artifact),
            Repository::Gradle(root) => root.join(group).join(artifact),
        }
    }

    /// The versions of a library of Kotlin, sorted.
    fn versions(&self, artifact: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder(GROUP, artifact)).into_iter();
        let names = entries.flatten().flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort_by_key(|name| numbers(name));
        names
    }

    /// A file of a library: its archive or its description.
    fn file(&self, library: &Dependency, ending: &str) -> Option<PathBuf> {
        let Dependency {
            group,
            artifact,
            version,
        } = library;
        let folder = self.folder(group, artifact).join(version);
        let name = format!("{artifact}-{version}.{ending}");
        let direct = folder.join(&name);
        if direct.is_file() {
            return Some(direct);
        }
        // Gradle has a folder for each file, named by its hash.
        let mut entries = fs::read_dir(folder).ok()?.flatten();
        entries.find_map(|entry| {
            let file = entry.path().join(&name);
            file.is_file().then_some(file)
        })
    }

    /// The compiler of a version, if all that it needs is there.
    fn compiler(&self, version: &str) -> Option<KotlinCompiler> {
        let of = |artifact: &str| Dependency {
            group: GROUP.to_owned(),
            artifact: artifact.to_owned(),
            version: version.to_owned(),
        };
        let mut found = Vec::new();
        self.collect(&of(COMPILER), &mut found, DEEPEST)?;
        let library = self.file(&of(LIBRARY), "jar")?;
        Some(KotlinCompiler {
            jars: found.into_iter().map(|(_, jar)| jar).collect(),
            library,
            version: Some(version.to_owned()),
        })
    }

    /// A library and those that it needs. One without an archive is left out where another version of it is there.
    fn collect(
        &self,
        library: &Dependency,
        found: &mut Vec<(Dependency, PathBuf)>,
        depth: usize,
    ) -> Option<()> {
        let is_known = |(known, _): &(Dependency, PathBuf)| {
            known.group == library.group && known.artifact == library.artifact
        };
        if found.iter().any(is_known) {
            return Some(());
        }
        found.push((library.clone(), self.file(library, "jar")?));
        let text = self
            .file(library, "pom")
            .and_then(|pom| fs::read_to_string(pom).ok());
        if depth > 0 {
            for needed in dependencies(&text.unwrap_or_default()) {
                // The newest of two versions is taken, whose archive is there.
                let is_there = self.collect(&needed, found, depth - 1).is_some();
                if !is_there && depth == DEEPEST {
                    return None;
                }
            }
        }
        Some(())
    }
}

/// A library that another one needs.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Dependency {
    group: String,
    artifact: String,
    version: String,
}

/// The libraries that a description of Maven lists for run time.
fn dependencies(pom: &str) -> Vec<Dependency> {
    let pom = match pom.split_once("</dependencyManagement>") {
        Some((_, after)) => after,
        None => pom,
    };
    let parts = pom.split("<dependency>").skip(1);
    let parts = parts.filter_map(|part| part.split_once("</dependency>"));
    parts
        .filter_map(|(part, _)| {
            let value = |name: &str| {
                let (_, after) = part.split_once(&format!("<{name}>"))?;
                let (value, _) = after.split_once(&format!("</{name}>"))?;
                Some(value.trim().to_owned())
            };
            let scope = value("scope").unwrap_or_else(|| "compile".to_owned());
            let is_needed = matches!(scope.as_str(), "compile" | "runtime");
            let is_optional = value("optional").as_deref() == Some("true");
            (is_needed && !is_optional).then_some(Dependency {
                group: value("groupId")?,
                artifact: value("artifactId")?,
                version: value("version")?,
            })
        })
        .collect()
}

/// The version of Kotlin's library, if the path is its archive.
fn library_version(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let version = name.strip_prefix("kotlin-stdlib-")?.strip_suffix(".jar")?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| version.to_owned())
}

/// The numbers of a version, in order.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the archive of a library and its description.
    fn library(root: &Path, artifact: &str, version: &str, needs: &[(&str, &str)]) {
        let folder = root
            .join("org/jetbrains/kotlin")
            .join(artifact)
            .join(version);
        fs::create_dir_all(&folder).unwrap();
        let needs: String = needs
            .iter()
            .map(|(artifact, version)| {
                format!(
                    "<dependency><groupId>{GROUP}</groupId><artifactId>{artifact}</artifactId>\
                     <version>{version}</version></dependency>"
                )
            })
            .collect();
        fs::write(folder.join(format!("{artifact}-{version}.jar")), "").unwrap();
        fs::write(folder.join(format!("{artifact}-{version}.pom")), needs).unwrap();
    }

    #[test]
    fn the_compiler_of_the_programs_version_or_the_nearest_is_taken() {
        let root = tempfile::tempdir().unwrap();
        for version in ["1.9.0", "2.0.20", "2.1.0"] {
            library(root.path(), LIBRARY, version, &[]);
            library(root.path(), COMPILER, version, &[(LIBRARY, version)]);
        }
        // One whose dependencies are not there cannot run.
        library(
            root.path(),
            COMPILER,
            "2.0.21",
            &[("kotlin-reflect", "1.6.10")],
        );
        let locations = KotlinLocations {
            maven: Some(root.path().to_owned()),
            ..KotlinLocations::default()
        };
        let found = KotlinCompilers::find(&locations).unwrap();
        let version = |name: &str| {
            let path = PathBuf::from(format!("/m2/{name}"));
            found.for_program([path.as_path()]).version.clone().unwrap()
        };
        assert_eq!(version("kotlin-stdlib-2.0.20.jar"), "2.0.20");
        assert_eq!(version("kotlin-stdlib-2.0.21.jar"), "2.1.0");
        assert_eq!(version("kotlin-stdlib-1.8.22.jar"), "1.9.0");
        assert_eq!(version("kotlin-stdlib-2.3.0.jar"), "2.1.0");
        assert_eq!(found.all[0].jars.len(), 2);
        assert_eq!(KotlinCompilers::find(&KotlinLocations::default()), None);
    }

    #[test]
    fn the_installed_compiler_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let lib = root.path().join("kotlinc/lib");
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("kotlin-compiler.jar"), "").unwrap();
        let locations = KotlinLocations {
            home: Some(root.path().to_owned()),
            ..KotlinLocations::default()
        };
        let found = KotlinCompilers::find(&locations).unwrap();
        let compiler = found.for_program([]);
        assert_eq!(compiler.version, None);
        assert_eq!(compiler.library(), lib.join("kotlin-stdlib.jar"));
    }
}
