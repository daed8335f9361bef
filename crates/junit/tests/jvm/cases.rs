//! Each script of `tests/cases` as a test. Lines that start with `// junit`, `// loops` and `// fails`
//! say which JUnit it is for, that it is to have no loops, and what comes out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use culprit_junit::{Error, Junit, Language, Options, PrintedTest, print};
use culprit_model::script::Script;

use crate::bench::{Bench, Library};

/// Scripts that have no test in Kotlin.
const UNWRITABLE: [&str; 1] = ["varargs"];

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) fails: String,
    pub(crate) test: PrintedTest,
}

#[test]
fn tests_fail_as_recorded_and_pass_when_the_bug_is_fixed() {
    let Some(bench) = Bench::new() else { return };
    let Some(library) = Library::new(&bench) else {
        return;
    };
    let cases = cases(&library, Language::Java);
    let mut sources = Vec::new();
    for case in &cases {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(case.name.as_str(), case.test.source);
        });
        let folder = bench
            .path("tests")
            .join(case.test.package.replace('.', "/"));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{}.java", case.test.class_name));
        fs::write(&file, &case.test.source).unwrap();
        sources.push(file.display().to_string());
    }
    let path = library.class_path.as_str();
    let mut args = vec!["-Xlint:all,-options", "-Werror", "-proc:none"];
    args.extend(["--release", "8", "-cp", path, "-d", "compiled"]);
    args.extend(sources.iter().map(String::as_str));
    bench.must("javac", &args);

    let failures = failures(&bench, path, "-Dfixed=false");
    for case in &cases {
        let class = format!("{}.{}", case.test.package, case.test.class_name);
        let failure = failures.get(&class).map(String::as_str);
        assert_eq!(failure, Some(case.fails.as_str()), "{}", case.name);
    }
    assert_eq!(failures.len(), cases.len());
    assert_eq!(
        self::failures(&bench, path, "-Dfixed=true"),
        BTreeMap::new()
    );
}

/// The scripts as tests in a language. Those that cannot be written in it are left out, with a message.
pub(crate) fn cases(library: &Library, language: Language) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut cases, mut unwritable) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let note = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(&format!("// {key} ")).map(str::to_owned))
        };
        let options = Options {
            junit: match note("junit").as_deref() {
                Some("4") => Junit::Four,
                _ => Junit::Five,
            },
            language,
            name: format!("{}{}Test", name[..1].to_uppercase(), &name[1..]),
            loops: note("loops").as_deref() != Some("no"),
            condition: None,
        };
        let script: Script = text.parse().unwrap_or_else(|e| panic!("{name}: {e}"));
        let test = print(&script, library, &options, |_| {
            vec![format!("Reduced from the case {name}.")]
        });
        if let Err(Error::Kotlin { .. }) = test {
            unwritable.push(name);
            continue;
        }
        let test = test.unwrap_or_else(|e| panic!("{name}: {e}"));
        cases.push(Case {
            fails: note("fails").unwrap(),
            name,
            test,
        });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let expect: &[&str] = match language {
        Language::Java => &[],
        Language::Kotlin => &UNWRITABLE,
    };
    unwritable.sort();
    assert_eq!(unwritable, expect);
    cases
}

/// What came out of the tests that failed, by class.
pub(crate) fn failures(bench: &Bench, path: &str, property: &str) -> BTreeMap<String, String> {
    let path = format!("compiled:{path}");
    let ended = bench.run(
        "java",
        &[
            property,
            "-Duser.language=en",
            "-cp",
            &path,
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--disable-ansi-colors",
            "--details=summary",
            "--scan-class-path=compiled",
        ],
    );
    assert!(ended.out.contains("tests found"), "{ended:?}");
    let mut found = BTreeMap::new();
    let mut class = String::new();
    for line in ended.out.lines().map(str::trim) {
        if let Some((_, rest)) = line.split_once("className = '") {
            class = rest.split('\'').next().unwrap_or_default().to_owned();
        }
        if let Some(exception) = line.strip_prefix("=> ") {
            found.insert(class.clone(), exception.to_owned());
        }
    }
    found
}
