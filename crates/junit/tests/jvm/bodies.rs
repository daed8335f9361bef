//! Bodies of lambdas, printed as Java: they do what those of the class file do. Those that cannot be
//! printed are called.

use std::fmt::Write;
use std::fs;

use culprit_classfile::{ClassFile, Code, op};
use culprit_junit::{Classes, Junit, Language, Options, print};
use culprit_model::script::Script;

use crate::bench::{Bench, Library};

const DRIVER: &str = "shop/Driver";

/// Methods whose lambdas cannot be printed: they loop, catch, or use what the test cannot.
const CALLED: [&str; 4] = ["loop", "closed", "caught", "local"];

/// A call site that makes a lambda.
struct Made {
    /// The method that makes it.
    name: String,
    body: String,
    body_descriptor: String,
    interface: String,
    method: String,
    erased: String,
    exact: String,
    /// Descriptors of what it captures.
    captured: Vec<String>,
}

/// The lambdas that methods return at once.
fn lambdas(bytes: &[u8]) -> Vec<Made> {
    let file = ClassFile::parse(bytes).unwrap();
    let pool = &file.pool;
    let table = file.attribute("BootstrapMethods").unwrap();
    let words: Vec<u16> = table
        .bytes
        .chunks_exact(2)
        .map(|word| u16::from_be_bytes([word[0], word[1]]))
        .collect();
    let mut bootstraps = Vec::new();
    let mut at = 1;
    while at < words.len() {
        let count = usize::from(words[at + 1]);
        bootstraps.push(&words[at + 2..at + 2 + count]);
        at += 2 + count;
    }
    let mut all = Vec::new();
    for method in &file.methods {
        let name = pool.utf8(method.name).unwrap().into_owned();
        let Some(code) = method.attribute(pool, "Code") else {
            continue;
        };
        let code = Code::parse(code, pool).unwrap();
        let mut instructions = code.instructions().map(Result::unwrap);
        let site = instructions.find(|it| it.opcode == op::INVOKEDYNAMIC);
        let Some(site) = site.filter(|_| !name.starts_with("lambda$")) else {
            continue;
        };
        let site = pool.dynamic(site.pool_index().unwrap()).unwrap();
        let [erased, body, exact] = bootstraps[usize::from(site.bootstrap)] else {
            continue;
        };
        let (kind, body) = pool.method_handle(*body).unwrap();
        assert_eq!(kind, 6, "{name} is static");
        let body = pool.member(body).unwrap();
        let (captured, interface) =
            culprit_model::value::split_descriptor(&site.descriptor).unwrap();
        all.push(Made {
            name,
            body: body.name.into_owned(),
            body_descriptor: body.descriptor.into_owned(),
            interface: interface[1..].trim_end_matches(';').to_owned(),
            method: site.name.into_owned(),
            erased: pool.method_type(*erased).unwrap().into_owned(),
            exact: pool.method_type(*exact).unwrap().into_owned(),
            captured: captured.into_iter().map(str::to_owned).collect(),
        });
    }
    all
}

fn script(made: &Made) -> String {
    let captured = made.captured.iter().map(|of| match of.as_str() {
        "I" => "box 7",
        "C" => "box 'l'",
        "Z" => "box true",
        "Ljava/lang/String;" => "\"key\"",
        of => panic!("{of}"),
    });
    let captured: Vec<&str> = captured.collect();
    let captured = match captured.join(", ") {
        none if none.is_empty() => none,
        some => format!(" ({some})"),
    };
    format!(
        "script 1\ntype 1 shop/Driver loader 2\ntype 2 {}\n\
        type 3 shop/Driver$$Lambda loader 2\ntype 4 java/lang/AssertionError\n\
        site 1 entry static shop/Driver.check(Ljava/lang/String;Ljava/lang/Object;)V\n\n\
        lambda static @1 {} \"{}\" in @1 as @2 {} \"{}\" exact \"{}\"{captured} = #1:@3\n\
        => @1(\"{}\", #1:@3)\n<=! @1 = #2:@4\n",
        made.interface,
        made.body,
        made.body_descriptor,
        made.method,
        made.erased,
        made.exact,
        made.name
    )
}

#[test]
fn bodies_of_lambdas_are_printed_and_do_the_same() {
    let Some(bench) = Bench::new() else { return };
    let Some(library) = Library::new(&bench) else {
        return;
    };
    let mut sources = Vec::new();
    let mut shown = String::new();
    let mut called = Vec::new();
    let all = lambdas(&library.bytes(DRIVER).unwrap());
    for made in &all {
        let text = script(made);
        let script: Script = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let name = &made.name;
        let options = Options {
            junit: Junit::Five,
            language: Language::Java,
            name: format!("{}{}Test", name[..1].to_uppercase(), &name[1..]),
            loops: false,
            condition: None,
        };
        let test = print(&script, &library, &options, |_| Vec::new()).unwrap();
        let is_called = test.source.contains("lambda$");
        let mut lines = test.source.lines();
        let lines = lines.by_ref().skip_while(|line| !line.contains("void "));
        let lines = lines.skip(1).take_while(|line| *line != "    }");
        writeln!(shown, "{name}:").unwrap();
        for line in lines.filter(|line| !line.contains("Driver.check(\"")) {
            writeln!(shown, "{}", &line[4..]).unwrap();
        }
        called.extend(is_called.then(|| name.clone()));
        let file = bench.path(&format!("{}.java", options.name));
        fs::write(&file, &test.source).unwrap();
        sources.push(file.display().to_string());
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("bodies", shown);
    });
    assert_eq!(called, CALLED);
    let path = library.class_path.as_str();
    let mut args = vec!["-Xlint:all,-options", "-Werror", "-proc:none"];
    args.extend(["--release", "8", "-cp", path, "-d", "compiled"]);
    args.extend(sources.iter().map(String::as_str));
    bench.must("javac", &args);
    let path = format!("compiled:{path}");
    let ended = bench.run(
        "java",
        &[
            "-cp",
            &path,
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--details=summary",
            "--scan-class-path=compiled",
        ],
    );
    let passed = format!("{} tests successful", all.len());
    assert!(ended.out.contains(&passed), "{}", ended.out);
}
