//! Inputs isolated and simplified by real commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_isolate::input::{
    Handing, Isolated, Item, Material, Request, Stuff, Syntax, Trouble, isolate,
};
use culprit_isolate::{Likeness, Rule, TestCommand};
use culprit_reduce::{Goal, SearchEnd, Settings};

/// The line of HTML that delta debugging was first shown with.
const SELECT: &str = "<SELECT NAME=\"priority\" MULTIPLE SIZE=7>";

fn material(name: &str, text: &str) -> Material {
    Material {
        is_folder: false,
        items: vec![item(name, text)],
    }
}

fn item(path: &str, text: &str) -> Item {
    Item {
        path: path.into(),
        stuff: Stuff::File {
            bytes: Arc::new(text.as_bytes().to_vec()),
            executable: false,
        },
    }
}

fn request(command: &str, failing: Material, scratch: &Path) -> Request {
    Request {
        test: TestCommand {
            command: command.into(),
            rule: Rule::default(),
            limit: Duration::from_secs(20),
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            sandbox: None,
            limits: culprit_jvm::Limits::NONE,
        },
        likeness: Likeness::Place,
        like: None,
        warm: None,
        runs: None,
        failing,
        passing: None,
        goal: Goal::Isolate,
        syntax: Syntax::ByFile,
        is_verbatim: false,
        handing: Handing::Argument,
        directory: Some(PathBuf::from("/")),
        scratch: scratch.to_owned(),
        settings: Settings::default(),
        journals: None,
    }
}

fn text(material: &Material) -> String {
    let bytes = material.items.iter().flat_map(|item| item.bytes());
    String::from_utf8(bytes.copied().collect()).unwrap()
}

/// Isolates an input, after a change of the request.
fn run(
    command: &str,
    failing: Material,
    change: impl FnOnce(&mut Request),
) -> Result<Isolated, Trouble> {
    let scratch = tempfile::tempdir().unwrap();
    let mut request = request(command, failing, scratch.path());
    change(&mut request);
    let found = isolate(request, &|_| {});
    let left = fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(left, 0, "folders of candidates are left");
    found
}

/// Fails while the text has all of the words.
fn needs(words: &[&str]) -> String {
    let tests: Vec<String> = words
        .iter()
        .map(|word| format!("grep -qF '{word}' {{}}"))
        .collect();
    format!("! ({})", tests.join(" && "))
}

#[test]
fn the_select_line_takes_six_tests_to_isolate_and_more_to_simplify() {
    let crash = needs(&["<SELECT"]);
    let found = run(&crash, material("print.txt", SELECT), |_| {}).unwrap();
    let passing = found.passing.unwrap();
    assert_eq!(text(&found.failing).len() - text(&passing).len(), 1);
    assert!(found.tally.tests <= 6, "{:?}", found.tally);
    let tag = needs(&["<SELECT", ">"]);
    let simplified = run(&tag, material("print.txt", SELECT), |request| {
        request.goal = Goal::Simplify;
        request.is_verbatim = true;
    });
    let simplified = simplified.unwrap();
    assert_eq!(text(&simplified.failing), "<SELECT>");
    assert_eq!(simplified.end, SearchEnd::Minimal);
    assert!(simplified.tally.tests > found.tally.tests);
    assert!(simplified.tally.tests <= 48, "{:?}", simplified.tally);
}

#[test]
fn where_nothing_can_be_left_out_something_shorter_takes_its_place() {
    let check = |command: &str, input: &str, expect: &[u8]| {
        let simplify = |request: &mut Request| request.goal = Goal::Simplify;
        let found = run(command, material("x.txt", input), simplify).unwrap();
        let left = found.failing.items[0].bytes().escape_ascii().to_string();
        assert_eq!(left, expect.escape_ascii().to_string(), "{command}");
        let only_left_out = run(command, material("x.txt", input), |request| {
            request.goal = Goal::Simplify;
            request.is_verbatim = true;
        });
        assert!(only_left_out.unwrap().failing.len() > expect.len() as u64);
    };
    // A line that is too long: a tab is as wide as eight letters.
    let long = "! expand {} | grep -q '.................'";
    check(long, "a line\nsomewhat-longer-than-others\n", b"\t\t\t");
    let link = r"! grep -qE '^=(head1|item) (B|C)'";
    check(link, "=head1 B\n\n=item C\n\n=item D\n", b"=item B");
    // jq 1.6 is not alone in counting bytes.
    check("! LC_ALL=C grep -q '[^ -~]'", "größe\n", b"\xc3");
}

#[test]
fn a_passing_side_is_compared_with_the_failing_one() {
    let old = "a: 1\nb: 2\nc: 3\nd: 4\n";
    let new = "a: 9\nb: 2\nc: 33\nd: 5\ne: 6\n";
    let found = run("! grep -q 'c: 33'", material("x.txt", new), |request| {
        request.passing = Some(material("x.txt", old));
    });
    let found = found.unwrap();
    let passing = text(&found.passing.unwrap());
    let failing = text(&found.failing);
    assert_eq!(failing.replace("c: 33\n", "c: 3\n"), passing);
}

#[test]
fn a_well_formed_document_stays_so() {
    let entries: Vec<String> = (0..60)
        .map(|n| format!("  \"k{n}\": [{n}, {{\"x\": {n}}}]"))
        .collect();
    let document = format!("{{\n{}\n}}\n", entries.join(",\n"));
    // 125 for what is no JSON; fails for a certain key.
    let command = "python3 -c 'import json,sys\n\
                   try: d = json.load(open(sys.argv[1]))\n\
                   except Exception: sys.exit(125 if open(sys.argv[1]).read() else 0)\n\
                   sys.exit(1 if isinstance(d, dict) and \"k41\" in d else 0)'";
    let found = run(command, material("x.json", &document), |_| {}).unwrap();
    assert!(found.tally.tests <= 12, "{:?}", found.tally);
    let simplified = run(command, material("x.json", &document), |request| {
        request.goal = Goal::Simplify;
    });
    let simplified = simplified.unwrap();
    assert_eq!(text(&simplified.failing), "{\"k41\":0}");
}

#[test]
fn folders_are_narrowed_to_a_file_and_then_within_it() {
    let mut items: Vec<Item> = (10..40)
        .map(|n| item(&format!("d/f{n}"), "nothing\n"))
        .collect();
    items[17] = item("d/f27", "one\ntwo\nthree bad words\nfour\n");
    let folder = Material {
        is_folder: true,
        items,
    };
    let command = "! grep -rq bad {}";
    let found = run(command, folder.clone(), |_| {}).unwrap();
    let passing = found.passing.unwrap();
    assert_eq!(
        found.failing.len() - passing.len(),
        1,
        "{found:?}",
        found = found.failing
    );
    let simplified = run(command, folder, |request| request.goal = Goal::Simplify).unwrap();
    assert_eq!(simplified.failing.items.len(), 1);
    assert_eq!(text(&simplified.failing), "bad");
}

#[test]
fn binary_files_are_cut_into_bytes_and_standard_input_works() {
    let mut bytes = vec![0u8; 5_000];
    bytes[3_210] = 0xee;
    let failing = Material {
        is_folder: false,
        items: vec![Item {
            path: "x.bin".into(),
            stuff: Stuff::File {
                bytes: Arc::new(bytes),
                executable: false,
            },
        }],
    };
    let command = "! LC_ALL=C grep -qaP '\\xee'";
    let found = run(command, failing.clone(), |request| {
        request.handing = Handing::Input
    })
    .unwrap();
    let (failing_side, passing) = (found.failing, found.passing.unwrap());
    assert_eq!(failing_side.len() - passing.len(), 1);
    assert!(found.tally.tests <= 14, "{:?}", found.tally);
    let found = run(command, failing, |request| {
        request.handing = Handing::Input;
        request.goal = Goal::Simplify;
    });
    assert_eq!(found.unwrap().failing.items[0].bytes(), [0xee]);
}

#[test]
fn line_ends_of_windows_stay_whole() {
    let found = run(
        &needs(&["bad"]),
        material("x.txt", "a\r\nbad\r\nc\r\n"),
        |request| {
            request.goal = Goal::Simplify;
        },
    );
    assert_eq!(text(&found.unwrap().failing), "bad");
    let found = run(
        "! grep -q '^c' ",
        material("x.txt", "a\r\nb\r\nc\r\n"),
        |_| {},
    )
    .unwrap();
    let halves = [text(&found.failing), text(&found.passing.unwrap())];
    for half in halves {
        assert_eq!(
            half.matches('\r').count(),
            half.matches("\r\n").count(),
            "{half:?}"
        );
    }
}

#[test]
fn the_result_is_the_same_for_any_number_of_jobs() {
    let words: Vec<String> = (0..200).map(|n| format!("word{n} (x{n})\n")).collect();
    let text_of = words.concat();
    let command = needs(&["word17 ", "x130", "word190"]);
    for goal in [Goal::Isolate, Goal::Simplify] {
        let results: Vec<Isolated> = [1, 3]
            .into_iter()
            .map(|jobs| {
                let found = run(&command, material("x.txt", &text_of), |request| {
                    request.settings.jobs = jobs;
                    request.goal = goal;
                });
                found.unwrap()
            })
            .collect();
        assert_eq!(results[0].failing, results[1].failing);
        assert_eq!(results[0].passing, results[1].passing);
        assert_eq!(results[0].tally.tests, results[1].tally.tests);
    }
}

#[test]
fn a_budget_ends_it_with_the_best_so_far_and_a_journal_goes_on() {
    let words: Vec<String> = (0..100).map(|n| format!("word{n}\n")).collect();
    let command = needs(&["word17", "word71"]);
    let journals = tempfile::tempdir().unwrap();
    let go = |most: Option<u64>| {
        let found = run(&command, material("x.txt", &words.concat()), |request| {
            request.goal = Goal::Simplify;
            request.settings.budget.tests = most;
            request.journals = Some(journals.path().to_owned());
        });
        found.unwrap()
    };
    let part = go(Some(10));
    assert_eq!((part.end, part.tally.tests), (SearchEnd::Tests, 10));
    let size = part.failing.len();
    let whole = go(None);
    assert_eq!(
        (whole.end, whole.tally.replayed >= 9),
        (SearchEnd::Minimal, true),
        "{:?}",
        whole.tally
    );
    assert!(whole.failing.len() < size);
    let again = go(None);
    assert_eq!(again.tally.tests, whole.tally.tests);
    // Only the ends are run again, to see that they are what they were.
    assert!(again.test_runs <= 4, "{:?}", again.tally);
}

#[test]
fn ends_that_are_not_what_they_should_be_are_refused() {
    let told = |command: &str, change: &dyn Fn(&mut Request)| {
        let found = run(command, material("x.txt", "abc\n"), change);
        found.unwrap_err().to_string()
    };
    let same = |_: &mut Request| {};
    assert_eq!(
        told("true", &same),
        "the test does not fail: it exits with status 0"
    );
    assert!(told("false", &same).starts_with("the test fails on the passing side too"));
    let unresolved = told("test -s {} && exit 1; exit 125", &same);
    assert_eq!(
        unresolved,
        "the test neither passes nor fails on the passing side: it exits with status 125"
    );
    let late = told("sleep 100; true", &|request| {
        request.test.limit = Duration::from_millis(200)
    });
    assert_eq!(late, "the test gives no verdict: it does not end in time");
    let equal = told("false", &|request| {
        request.passing = Some(material("x.txt", "abc\n"))
    });
    assert_eq!(equal, "both sides are the same");
    let empty = run("false", material("x", ""), |_| {})
        .unwrap_err()
        .to_string();
    assert_eq!(empty, "it is empty");
}

#[test]
fn generated_inputs_take_few_tests() {
    for (size, spots) in [(10_000, 1), (100_000, 2), (1_000_000, 3)] {
        let mut text_of = String::with_capacity(size);
        let mut state = 12_345u64;
        while text_of.len() < size {
            // Numerical Recipes' generator: all that counts is that it is the same each time.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let letter = b' ' + u8::try_from((state >> 33) % 90).unwrap();
            text_of.push(match letter {
                b'~' => '\n',
                b'#' => ' ',
                other => char::from(other),
            });
        }
        let marks: Vec<String> = (0..spots).map(|n| format!("#{n}")).collect();
        for (n, mark) in marks.iter().enumerate() {
            let at = size / (spots + 1) * (n + 1);
            text_of.replace_range(at..at + 2, mark);
        }
        let words: Vec<&str> = marks.iter().map(String::as_str).collect();
        let found = run(&needs(&words), material("x.txt", &text_of), |_| {}).unwrap();
        let passing = found.passing.unwrap();
        assert_eq!(found.failing.len() - passing.len(), 1);
        assert!(
            (12..=50).contains(&found.tally.tests),
            "{size}: {:?}",
            found.tally
        );
    }
}
