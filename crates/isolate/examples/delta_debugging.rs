//! The cases by which delta debugging was published (Zeller and Hildebrandt, TSE 2002; Zeller, Why
//! Programs Fail), rebuilt: tests and time of `dd` and `ddmin`, as a table in Markdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use culprit_isolate::input::{
    Handing, Isolated, Item, Material, Request, Stuff, Syntax, Trouble, isolate,
};
use culprit_isolate::{Likeness, Rule, TestCommand};
use culprit_reduce::{Goal, Settings};

struct Case {
    name: String,
    /// The published numbers of tests of `ddmin` and of `dd`.
    published: [&'static str; 2],
    text: String,
    command: String,
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| input | ddmin, published | ddmin | left | dd, published | dd | differ | unresolved |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in cases() {
        let smallest = run(&case, Goal::Simplify)?;
        let pair = run(&case, Goal::Isolate)?;
        let passing = pair.passing.as_ref().map_or(0, Material::len);
        println!(
            "| {} | {} | {} ({:.1} s) | {} | {} | {} ({:.1} s) | {} | {} |",
            case.name,
            case.published[0],
            smallest.tally.tests,
            smallest.took.as_secs_f64(),
            smallest.failing.len(),
            case.published[1],
            pair.tally.tests,
            pair.took.as_secs_f64(),
            pair.failing.len().abs_diff(passing),
            pair.tally.unresolved,
        );
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let mut cases = vec![Case {
        name: "HTML line of 40 characters".to_owned(),
        published: ["48", "5 to 6"],
        text: "<SELECT NAME=\"priority\" MULTIPLE SIZE=7>".to_owned(),
        command: "! grep -q '<SELECT.*>'".to_owned(),
    }];
    for (size, spots) in [
        (10_000, 1),
        (10_000, 3),
        (100_000, 1),
        (100_000, 3),
        (1_000_000, 1),
        (1_000_000, 3),
    ] {
        let marks: Vec<String> = (0..spots).map(|number| format!("#{number}")).collect();
        let greps: Vec<String> = marks
            .iter()
            .map(|mark| format!("grep -qF '{mark}' {{}}"))
            .collect();
        cases.push(Case {
            name: format!("{size} characters, relevant spots: {spots}"),
            published: ["11,000 to 17,960", "12 to 50"],
            text: noise(size, &marks),
            command: format!("! ({})", greps.join(" && ")),
        });
    }
    let sequence = "\\D^J%0F#abcdefghi".to_owned();
    cases.push(Case {
        name: "NROFF-like: what lacks the sequence has no verdict 82 times of 100".to_owned(),
        published: ["5,565", "473 (390 unresolved)"],
        text: noise(5_000, std::slice::from_ref(&sequence)),
        command: format!(
            "test -s {{}} || exit 0; grep -qF '{sequence}' {{}} && exit 1; \
             c=$(cksum <{{}} | cut -d' ' -f1); test $((c % 100)) -ge 82 || exit 125"
        ),
    });
    cases
}

/// Characters without a pattern, the same each time, with marks at even distances.
fn noise(size: usize, marks: &[String]) -> String {
    let mut text = String::with_capacity(size);
    let mut state = 12_345_u64;
    while text.len() < size {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let letter = b' ' + u8::try_from((state >> 33) % 90).unwrap_or(0);
        text.push(match letter {
            b'l' => '\n',
            b'#' => ' ',
            other => char::from(other),
        });
    }
    for (number, mark) in marks.iter().enumerate() {
        let at = size / (marks.len() + 1) * (number + 1);
        text.replace_range(at..at + mark.len(), mark);
    }
    text
}

fn run(case: &Case, goal: Goal) -> Result<Isolated, Trouble> {
    let scratch = tempfile::tempdir().expect("a folder for candidates");
    let request = Request {
        test: TestCommand {
            command: case.command.clone().into(),
            rule: Rule::default(),
            limit: Duration::from_secs(20),
            env: std::env::vars_os().collect(),
            sandbox: None,
            limits: culprit_jvm::Limits::NONE,
        },
        likeness: Likeness::Place,
        like: None,
        warm: None,
        runs: None,
        failing: Material {
            is_folder: false,
            items: vec![Item {
                path: Path::new("input.txt").to_owned(),
                stuff: Stuff::File {
                    bytes: Arc::new(case.text.clone().into_bytes()),
                    executable: false,
                },
            }],
        },
        passing: None,
        goal,
        syntax: Syntax::None,
        is_verbatim: true,
        handing: Handing::Argument,
        directory: None,
        scratch: scratch.path().to_owned(),
        settings: Settings::default(),
        journals: None,
    };
    isolate(request, &|_| {})
}
