//! Each script of `tests/cases` as a test in Kotlin: it compiles, fails as its script does, and passes when the library
//! is fixed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use culprit_junit::Language;

use crate::bench::{Bench, Library, skipped};
use crate::cases::{cases, failures};
use crate::library::jar;

/// The compiler with what it needs.
const COMPILER: [(&str, &str, &str); 8] = [
    (
        "org.jetbrains.kotlin",
        "kotlin-compiler-embeddable",
        "2.0.21",
    ),
    ("org.jetbrains.kotlin", "kotlin-stdlib", "2.0.21"),
    ("org.jetbrains.kotlin", "kotlin-script-runtime", "2.0.21"),
    ("org.jetbrains.kotlin", "kotlin-reflect", "1.6.10"),
    ("org.jetbrains.kotlin", "kotlin-daemon-embeddable", "2.0.21"),
    ("org.jetbrains.intellij.deps", "trove4j", "1.0.20200330"),
    (
        "org.jetbrains.kotlinx",
        "kotlinx-coroutines-core-jvm",
        "1.6.4",
    ),
    ("org.jetbrains", "annotations", "13.0"),
];

/// The class path of the compiler, and the library of Kotlin.
fn compiler() -> Option<(String, String)> {
    let jars = COMPILER.map(|(group, artifact, version)| jar(group, artifact, version, None));
    let jars: Option<Vec<PathBuf>> = jars.into_iter().collect();
    let Some(jars) = jars else {
        skipped("there is no Kotlin compiler");
        return None;
    };
    let names: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
    Some((names.join(":"), names[1].clone()))
}

#[test]
fn tests_in_kotlin_fail_as_recorded_and_pass_when_the_bug_is_fixed() {
    let Some(bench) = Bench::new() else { return };
    let Some(library) = Library::new(&bench) else {
        return;
    };
    let Some((compiler, kotlin)) = compiler() else {
        return;
    };
    let cases = cases(&library, Language::Kotlin);
    for case in &cases {
        let name = format!("{}.kotlin", case.name);
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.as_str(), case.test.source);
        });
        let folder = bench
            .path("tests")
            .join(case.test.package.replace('.', "/"));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{}.kt", case.test.class_name));
        fs::write(&file, &case.test.source).unwrap();
    }
    let path = format!("{}:{kotlin}", library.class_path);
    let main = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";
    let options = ["-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target", "11"];
    let mut args = vec!["-cp", &compiler, main];
    args.extend(options);
    args.extend(["-cp", &path, "-d", "compiled", "tests"]);
    bench.must("java", &args);

    let found = failures(&bench, &path, "-Dfixed=false");
    for case in &cases {
        let class = match case.test.package.as_str() {
            "" => case.test.class_name.clone(),
            package => format!("{package}.{}", case.test.class_name),
        };
        let failure = found.get(&class).map(String::as_str);
        assert_eq!(failure, Some(case.fails.as_str()), "{}", case.name);
    }
    assert_eq!(found.len(), cases.len());
    assert_eq!(failures(&bench, &path, "-Dfixed=true"), BTreeMap::new());
}
