//! Slices of generated programs against two oracles: an interpreter that knows every definition and use, and changed
//! programs that must compute the same.
//!
//! `CULPRIT_TEST_PROGRAMS=500` generates so many programs for each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use culprit_model::Outcome;
use culprit_slice::{Criterion, DefinedValue, Dependence, NodeId, Origin, Replayed, Role, replay};

use crate::checks::call;
use crate::generated::{Profile, Program, generate};
use crate::interpreter::{Execution, interpret};
use crate::tracer::{Tracer, compile, run_main, whole};

/// Programs for each oracle, unless the environment has another number.
const PROGRAMS: u64 = 20;

/// The bytes of events that a trace may have.
const MOST_BYTES: u64 = 64 << 20;

/// Changed programs that are compiled together: a main method has an end.
const BATCH: usize = 1_000;

const BOX: &str = "class Box { int f0, f1, f2, f3; }\n";

/// Programs that were generated, compiled and traced.
struct Generated {
    programs: Vec<(String, Program, Replayed)>,
}

impl Generated {
    fn of(profile: Profile, first_seed: u64) -> Generated {
        let count = std::env::var("CULPRIT_TEST_PROGRAMS").ok();
        let count = count.map_or(PROGRAMS, |it| it.parse().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let mut files = vec![folder.path().join("Box.java")];
        fs::write(&files[0], BOX).unwrap();
        let mut programs = Vec::new();
        for seed in first_seed..first_seed + count {
            let class = format!("G{seed}");
            let mut program = generate(seed, profile);
            let file = folder.path().join(format!("{class}.java"));
            fs::write(&file, program.java(&class, 0).join("\n")).unwrap();
            files.push(file);
            programs.push((class, program));
        }
        let classes = tempfile::tempdir().unwrap();
        compile(&files, classes.path());
        let tracer = Tracer::start_with(classes.path(), &[], whole(MOST_BYTES));
        let traced = programs.into_iter().map(|(class, program)| {
            let (outcome, trace) = tracer.trace(&call(&class));
            assert!(
                matches!(outcome, Outcome::InSync { .. }),
                "{class}: {outcome:?}"
            );
            let replayed = replay(&trace, &[]).unwrap();
            assert_eq!((replayed.misfits, &replayed.partial), (0, &None), "{class}");
            (class, program, replayed)
        });
        Generated {
            programs: traced.collect(),
        }
    }
}

/// The executions of lines that the nodes of a class belong to.
fn executions(class: &str, run: &Replayed) -> BTreeMap<NodeId, Execution> {
    let mut found = BTreeMap::new();
    let mut last: BTreeMap<u16, (u32, u32)> = BTreeMap::new();
    for node in run.graph.nodes() {
        let Origin::Instruction(number) = run.graph.origin(node) else {
            continue;
        };
        let Some(place) = run.program.place(number).filter(|it| it.class == class) else {
            continue;
        };
        let line = place.line.unwrap();
        // Within one execution of a line, later instructions have higher numbers.
        let execution = match last.get(&line) {
            Some((before, execution)) if *before < number => *execution,
            Some((_, execution)) => execution + 1,
            None => 0,
        };
        last.insert(line, (number, execution));
        found.insert(node, (line, execution));
    }
    found
}

/// Pairs of executions, the second of which the first depended on.
type Pairs = BTreeSet<(Execution, Execution)>;

/// The data and the control dependences of a run between executions of lines.
fn dependences(class: &str, run: &Replayed) -> (Pairs, Pairs) {
    let executions = executions(class, run);
    let (mut data, mut control) = (Pairs::new(), Pairs::new());
    for (node, execution) in &executions {
        for (parent, kind) in run.graph.parents(*node) {
            let Some(on) = executions.get(&parent).filter(|on| *on != execution) else {
                continue;
            };
            let is_branch = match run.graph.origin(parent) {
                Origin::Instruction(number) => run.program.role(number) == Role::Branch,
                Origin::Statement(_) => false,
            };
            match kind {
                Dependence::Control if is_branch => drop(control.insert((*execution, *on))),
                Dependence::Control => {}
                _ => drop(data.insert((*execution, *on))),
            }
        }
    }
    (data, control)
}

#[test]
fn definitions_and_uses_are_those_of_an_interpreter() {
    let generated = Generated::of(Profile::Own, 1_000);
    let (mut data_pairs, mut control_pairs, mut wrong) = (0, 0, Vec::new());
    for (class, program, run) in &generated.programs {
        let expect = interpret(program, 0);
        let result = run.result.and_then(|node| run.graph.value(node));
        assert_eq!(result, Some(DefinedValue::Int(expect.value)), "{class}");
        let (data, control) = dependences(class, run);
        let mut compare = |what: &str, found: &Pairs, expect: &Pairs| {
            for pair in expect.difference(found) {
                wrong.push(format!("{class}: {what} {pair:?} is missing"));
            }
            for pair in found.difference(expect) {
                wrong.push(format!("{class}: {what} {pair:?} is surplus"));
            }
        };
        compare("data", &data, &expect.data);
        compare("control", &control, &expect.control);
        data_pairs += expect.data.len();
        control_pairs += expect.control.len();
    }
    eprintln!(
        "{} programs: {data_pairs} definitions with their uses, {control_pairs} control dependences, {} disagreements",
        generated.programs.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(20)]);
    assert!(data_pairs >= 50 * generated.programs.len(), "{data_pairs}");
}

/// A program with one statement changed.
struct Mutant {
    /// The program and the line.
    name: String,
    expect: i32,
    /// The run takes the same way, and accesses the same objects.
    is_alike: bool,
    program: Program,
}

/// The way of a run without a line.
fn way(program: &Program, without: u16) -> Vec<(u16, Vec<usize>)> {
    let mut path = interpret(program, 0).path;
    path.retain(|(line, _)| *line != without);
    path
}

#[test]
fn statements_outside_of_a_slice_can_be_changed() {
    let generated = Generated::of(Profile::Collections, 2_000);
    let mut mutants = Vec::new();
    let mut statements = 0;
    for (class, program, run) in &generated.programs {
        let expect = interpret(program, 0).value;
        let result = run.result.and_then(|node| run.graph.value(node));
        assert_eq!(result, Some(DefinedValue::Int(expect)), "{class}");
        let slice = run.lines(&run.backward(&Criterion::Result));
        for line in program.lines() {
            statements += 1;
            if slice.contains(&(class.clone(), line)) {
                continue;
            }
            if let Some(changed) = program.changed(line) {
                mutants.push(Mutant {
                    name: format!("{class}:{line}"),
                    expect,
                    is_alike: way(&changed, line) == way(program, line),
                    program: changed,
                });
            }
        }
    }
    let values: Vec<i32> = mutants.chunks_mut(BATCH).flat_map(run_all).collect();
    let (mut alike, mut elsewhere, mut wrong) = (0, 0, Vec::new());
    for (mutant, value) in mutants.iter().zip(values) {
        match (mutant.is_alike, value == mutant.expect) {
            (true, true) => alike += 1,
            (true, false) => wrong.push(&mutant.name),
            // Another branch or another object: that code did not run is in no slice.
            (false, true) => {}
            (false, false) => elsewhere += 1,
        }
    }
    eprintln!(
        "{} programs, {statements} statements, {} outside of the slice changed: {alike} on the same way with the same \
         result, {elsewhere} on another way with another result, {} wrong",
        generated.programs.len(),
        mutants.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(alike >= 25 * generated.programs.len(), "{alike}");
}

/// The results of changed programs, in a JVM.
fn run_all(mutants: &mut [Mutant]) -> Vec<i32> {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = vec![BOX.to_owned(), "class Mutants {".to_owned()];
    lines.push("public static void main(String[] words) {".to_owned());
    for number in 0..mutants.len() {
        lines.push(format!("System.out.println(M{number}.run());"));
    }
    lines.push("} }".to_owned());
    for (number, mutant) in mutants.iter_mut().enumerate() {
        lines.extend(mutant.program.java(&format!("M{number}"), 0));
    }
    let file = folder.path().join("Mutants.java");
    fs::write(&file, lines.join("\n")).unwrap();
    let classes: &Path = &folder.path().join("classes");
    compile(&[file], classes);
    let printed = run_main(classes, "Mutants");
    let values = printed.lines().map(|line| line.parse().unwrap());
    values.collect()
}
