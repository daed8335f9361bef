//! Programs whose classes are not simply on a class path: inside an archive, in modules, in memory. `debug`, `record`,
//! `replay` and `minimize` find them.
//!
//! The program is in `fixtures/loading`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, stages};

/// A folder with the program, compiled.
struct Home {
    stage: &'static Stage,
    dir: tempfile::TempDir,
}

impl Home {
    fn new(stage: &'static Stage) -> Home {
        Home {
            stage,
            dir: folder(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles sources of the fixture to a folder.
    #[track_caller]
    fn compile(&self, sources: &[&str], to: &str, options: &[&str]) {
        let root = fixture();
        let mut javac = self.stage.javac(self.dir.path());
        javac.args(["-g", "-nowarn", "-d", to]).args(options);
        let ended = process::run(javac.args(sources.iter().map(|source| root.join(source))));
        assert_eq!(ended.status, 0, "{}", ended.err);
    }

    /// Compiles the program and its library, each to a folder of its own.
    fn compile_program(&self) {
        self.compile(&["lib/coin/Coins.java"], "lib", &[]);
        let sources = ["app/till/Main.java", "app/till/Till.java"];
        self.compile(&sources, "app", &["-cp", "lib"]);
    }

    /// Packs a folder of classes, with a manifest.
    fn jar(&self, name: &str, manifest: &str, parts: &[(&str, &str)]) {
        let mut jar = ZipWriter::new(File::create(self.path(name)).unwrap());
        let mut put = |name: &str, bytes: &[u8]| {
            jar.start_file(name, SimpleFileOptions::default()).unwrap();
            jar.write_all(bytes).unwrap();
        };
        let manifest = format!("Manifest-Version: 1.0\n{manifest}\n");
        put("META-INF/MANIFEST.MF", manifest.as_bytes());
        for (prefix, part) in parts {
            let path = self.path(part);
            if path.is_file() {
                put(&format!("{prefix}{part}"), &fs::read(&path).unwrap());
                continue;
            }
            for file in files(&path) {
                let entry = file.strip_prefix(&path).unwrap().display().to_string();
                put(&format!("{prefix}{entry}"), &fs::read(&file).unwrap());
            }
        }
        jar.finish().unwrap();
    }

    fn java(&self, words: &[&str]) -> Vec<String> {
        let java = self.stage.jdk.tool("java").display().to_string();
        let words = words.iter().map(|&word| word.to_owned());
        [java].into_iter().chain(words).collect()
    }

    fn culprit(&self, options: &[&str], program: &[&str]) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.dir.path());
        culprit.env("JAVA_HOME", &self.stage.jdk.home).args(options);
        if !program.is_empty() {
            culprit.arg("--").args(self.java(program));
        }
        process::run(&mut culprit)
    }

    /// Each command finds the classes of a program, of which the failing one is this, and its packages are observed.
    #[track_caller]
    fn check(&self, program: &[&str], class: &str, observed: &str) {
        let place = format!("{program:?} on JDK {}", self.stage.feature());
        let debugged = self.culprit(&["debug", "-o", "out"], program);
        let text = format!("{}\n{}", debugged.out, debugged.err);
        assert_eq!(debugged.status, 0, "{place}: {text}");
        assert!(text.contains(&format!("new {class}()")), "{place}: {text}");
        let again = self.run_test("out");
        assert!(again.contains("IndexOutOfBounds"), "{place}: {again}");

        let record = ["record", "--contents", "-o", "run"];
        let recorded = self.culprit(&record, program);
        assert_eq!(recorded.status, 1, "{place}: {}", recorded.err);
        let line = format!("    of {observed}\n");
        assert!(recorded.err.contains(&line), "{place}: {}", recorded.err);

        let replayed = self.culprit(&["replay", "run"], &[]);
        let text = format!("{}\n{}", replayed.out, replayed.err);
        assert_eq!(replayed.status, 0, "{place}: {text}");

        let minimized = self.culprit(&["minimize", "-o", "small", "run"], &[]);
        let text = format!("{}\n{}", minimized.out, minimized.err);
        assert_eq!(minimized.status, 0, "{place}: {text}");
        let again = self.run_test("small");
        assert!(again.contains("IndexOutOfBounds"), "{place}: {again}");
    }

    /// Runs a written test by its script.
    #[track_caller]
    fn run_test(&self, results: &str) -> String {
        let scripts = files(&self.path(results).join("check")).into_iter();
        let mut scripts = scripts.filter(|file| file.ends_with("run.sh"));
        let script = scripts.next().expect("a test that can be run");
        let mut sh = command("/bin/sh", self.dir.path());
        let ended = process::run(sh.arg(script));
        assert_ne!(ended.status, 0, "{ended:?}");
        format!("{}{}", ended.out, ended.err)
    }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/loading")
}

/// The files in a folder and those below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn classes_and_jars_within_a_jar_are_found() {
    let home = Home::new(on_one_jdk());
    home.compile_program();
    let launcher = "launcher/org/springframework/boot/loader/launch/JarLauncher.java";
    home.compile(&[launcher], "launcher", &[]);
    home.jar("coin.jar", "", &[("", "lib")]);
    let manifest = "Main-Class: org.springframework.boot.loader.launch.JarLauncher\n\
                    Start-Class: till.Main\n";
    let parts = [
        ("", "launcher"),
        ("BOOT-INF/classes/", "app"),
        ("BOOT-INF/lib/", "coin.jar"),
    ];
    home.jar("app.jar", manifest, &parts);
    for folder in ["lib", "app", "launcher"] {
        fs::remove_dir_all(home.path(folder)).unwrap();
    }
    fs::remove_file(home.path("coin.jar")).unwrap();
    home.check(&["-jar", "app.jar"], "Till", "till.*");
}

#[test]
fn modules_are_found() {
    let home = Home::new(on_one_jdk());
    fs::create_dir(home.path("src")).unwrap();
    let library = home.path("src/module-info.java");
    fs::write(&library, "module my.coin { exports coin; }").unwrap();
    let library = library.display().to_string();
    home.compile(&[&library, "lib/coin/Coins.java"], "mods/my.coin", &[]);
    let sources = [
        "module/module-info.java",
        "app/till/Main.java",
        "app/till/Till.java",
    ];
    home.compile(&sources, "my.till", &["-p", "mods"]);
    home.jar("mods/till.jar", "", &[("", "my.till")]);
    fs::remove_dir_all(home.path("my.till")).unwrap();
    home.check(
        &["-p", "mods", "-m", "my.till/till.Main"],
        "Till",
        "coin.*, till.*",
    );
}

#[test]
fn sources_that_are_compiled_in_memory_are_found() {
    for stage in stages() {
        let home = Home::new(stage);
        fs::copy(
            fixture().join("single/Single.java"),
            home.path("Single.java"),
        )
        .unwrap();
        home.check(&["Single.java"], "Drawer", "Drawer, Single");
    }
}

#[test]
fn the_jar_with_the_main_class_is_the_program() {
    let home = Home::new(on_one_jdk());
    home.compile_program();
    home.jar("coin.jar", "", &[("", "lib")]);
    home.jar("till.jar", "Class-Path: coin.jar\n", &[("", "app")]);
    fs::remove_dir_all(home.path("lib")).unwrap();
    fs::remove_dir_all(home.path("app")).unwrap();
    home.check(&["-cp", "till.jar", "till.Main"], "Till", "till.*");
}

#[test]
fn an_agent_that_the_jvm_calls_within_observed_code_is_not_called_by_it() {
    let home = Home::new(on_one_jdk());
    home.compile_program();
    home.compile(&["agent/watch/Agent.java"], "agent", &[]);
    home.jar(
        "agent.jar",
        "Premain-Class: watch.Agent\n",
        &[("", "agent")],
    );
    let program = ["-javaagent:agent.jar", "-cp", "app:lib", "till.Main"];
    let record = ["record", "--observe", "till.*", "-o", "run"];
    let recorded = home.culprit(&record, &program);
    assert_eq!(recorded.status, 1, "{}", recorded.err);
    let replayed = home.culprit(&["replay", "run"], &[]);
    let text = format!("{}\n{}", replayed.out, replayed.err);
    assert_eq!(replayed.status, 0, "{text}");
    let shown = home.culprit(&["show", "run", "--events"], &[]);
    assert!(!shown.out.contains("watch.Agent"), "{}", shown.out);
}
