//! `--language kotlin`: tests in Kotlin of a program in Kotlin and of one in Java, compiled with the compiler of an
//! installation.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::debug::{Program, says};
use crate::library;
use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, skipped};

/// The archives of an installation, and the libraries that they are copies of.
const INSTALLED: [(&str, &str, &str, &str); 8] = [
    ("annotations-13.0", "org.jetbrains", "annotations", "13.0"),
    (
        "kotlin-compiler",
        "org.jetbrains.kotlin",
        "kotlin-compiler-embeddable",
        "2.0.21",
    ),
    (
        "kotlin-stdlib",
        "org.jetbrains.kotlin",
        "kotlin-stdlib",
        "2.0.21",
    ),
    (
        "kotlin-script-runtime",
        "org.jetbrains.kotlin",
        "kotlin-script-runtime",
        "2.0.21",
    ),
    (
        "kotlin-reflect",
        "org.jetbrains.kotlin",
        "kotlin-reflect",
        "1.6.10",
    ),
    (
        "kotlin-daemon-client",
        "org.jetbrains.kotlin",
        "kotlin-daemon-embeddable",
        "2.0.21",
    ),
    (
        "trove4j",
        "org.jetbrains.intellij.deps",
        "trove4j",
        "1.0.20200330",
    ),
    (
        "kotlinx-coroutines-core-jvm",
        "org.jetbrains.kotlinx",
        "kotlinx-coroutines-core-jvm",
        "1.6.4",
    ),
];

/// Installs Kotlin in a folder; `None` where it cannot be had.
fn install(home: &Path) -> Option<PathBuf> {
    let kotlin = home.join("kotlin");
    fs::create_dir_all(kotlin.join("lib")).unwrap();
    for (name, group, artifact, version) in INSTALLED {
        let Some(jar) = library::jar(group, artifact, version, None) else {
            skipped("there is no Kotlin compiler");
            return None;
        };
        symlink(jar, kotlin.join("lib").join(format!("{name}.jar"))).unwrap();
    }
    Some(kotlin)
}

fn culprit(stage: &Stage, home: &Path, kotlin: &Path, words: &[String]) -> Ended {
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home);
    culprit
        .env("JAVA_HOME", &stage.jdk.home)
        .env("KOTLIN_HOME", kotlin);
    let debug = ["debug", "--language", "kotlin", "-o", "out", "--"];
    process::run(culprit.args(debug).args(words))
}

#[test]
fn a_program_in_kotlin_gets_a_test_in_kotlin() {
    let (stage, home) = (on_one_jdk(), folder());
    let Some(kotlin) = install(home.path()) else {
        return;
    };
    let library = kotlin.join("lib/kotlin-stdlib.jar").display().to_string();
    let jars = fs::read_dir(kotlin.join("lib")).unwrap();
    let jars = jars.map(|jar| jar.unwrap().path().display().to_string());
    let jars: Vec<String> = jars.collect();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kotlin");
    let java = stage.jdk.tool("java").display().to_string();
    let mut kotlinc = command(&java, home.path());
    kotlinc
        .args([
            "-cp",
            &jars.join(":"),
            "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        ])
        .args([
            "-no-stdlib",
            "-no-reflect",
            "-cp",
            &library,
            "-d",
            "classes",
        ])
        .arg(sources);
    let ended = process::run(&mut kotlinc);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let path = format!("classes:{library}");
    let words = [&java, "-cp", &path, "app.MainKt"].map(str::to_owned);
    let ended = culprit(stage, home.path(), &kotlin, &words);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    let script = home.path().join("out/check/ShopKtTest/run.sh");
    let again = process::run(command("sh", home.path()).arg(&script));
    assert!(again.err.contains("ShopKtTest.kt"), "{again:?}");
    let mut slice = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    slice.env("JAVA_HOME", &stage.jdk.home);
    let sliced = process::run(slice.args(["slice", "out"]));
    assert_eq!(sliced.status, 0, "{}", sliced.err);
    assert!(sliced.out.contains(".kt\n"), "{}", sliced.out);
}

#[test]
fn a_program_in_java_gets_a_test_in_kotlin() {
    let program = Program::compile("crash", &[]);
    let Some(kotlin) = install(program.home.path()) else {
        return;
    };
    let words = program.java(&["depot.Main"]);
    let ended = culprit(program.stage, program.home.path(), &kotlin, &words);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    let test = program.report();
    assert_eq!(test["test"], "tests/belts/BeltTest.kt", "{test}");
    assert_eq!(test["language"], "kotlin", "{test}");
}

#[test]
fn without_a_compiler_the_command_is_not_run() {
    let home = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    culprit.env("HOME", home.path()).env("PATH", "/usr/bin");
    culprit.env_remove("KOTLIN_HOME");
    culprit.env_remove("GRADLE_USER_HOME");
    let words = [
        "debug",
        "--language",
        "kotlin",
        "-o",
        "out",
        "--",
        "touch",
        "ran",
    ];
    let ended = process::run(culprit.args(words));
    says(
        &ended,
        3,
        "there is no Kotlin compiler for --language kotlin",
    );
    says(&ended, 3, "put kotlinc on the PATH or set KOTLIN_HOME");
    assert!(!home.path().join("ran").exists());
}
