//! Simplifies a file by a command and prints what each pass took: `passes FILE CMD`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use culprit_isolate::input::{Goal, Handing, Heard, Material, Plan, Syntax, isolate};
use culprit_isolate::{Convention, Likeness, Rule, Test};

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, file, command] = words.as_slice() else {
        return Err("passes FILE CMD".into());
    };
    let scratch = tempfile::tempdir()?;
    let plan = Plan {
        test: Test {
            command: command.clone(),
            rule: Rule {
                convention: Convention::Interesting,
                signs: Vec::new(),
            },
            limit: Duration::from_secs(10),
            env: std::env::vars_os().collect(),
        },
        likeness: Likeness::Any,
        runs: None,
        failing: Material::read(Path::new(file))?,
        passing: None,
        goal: Goal::Simplify,
        syntax: Syntax::ByFile,
        is_verbatim: false,
        handing: Handing::Argument,
        directory: None,
        scratch: scratch.path().to_owned(),
        jobs: 2,
        most_tests: None,
        most_time: None,
        journals: None,
        is_over: Arc::new(|| false),
    };
    let mut passes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut order: Vec<(String, u64, u64)> = Vec::new();
    let found = isolate(plan, &mut |heard: &Heard| {
        let row = passes.entry(heard.pass.clone()).or_default();
        row.0 += 1;
        if order.last().is_none_or(|last| last.0 != heard.pass) {
            order.push((heard.pass.clone(), 0, 0));
        }
        if let Some(last) = order.last_mut() {
            last.1 += 1;
            last.2 = heard.best;
        }
    })?;
    for (pass, tests, best) in order {
        println!("{tests:6} {best:8} {pass}");
    }
    println!("{:?} {:?}", found.counts, found.took);
    println!(
        "{}",
        String::from_utf8_lossy(found.failing.items[0].bytes())
    );
    Ok(())
}
