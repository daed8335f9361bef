//! The programs, and what their traces must be.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use culprit_model::options::{TraceOptions, TraceScope};
use culprit_model::script::{Builder, MemberName};
use culprit_model::{ObjectId, Outcome, Script, Value};
use culprit_slice::{Criterion, DefinedValue, Origin, Replayed, replay};

use crate::tracer::{Tracer, fixtures, whole};

/// The bytes of events that a trace may have.
const MOST_BYTES: u64 = 256 << 20;

/// Runs a program; its end, and its dependences.
fn replayed(tracer: &Tracer, class: &str) -> (Outcome, Replayed) {
    let (outcome, trace) = tracer.trace(&call(class));
    let replayed = replay(&trace, &[]).unwrap();
    assert_eq!(trace.ending.not_woven, [], "{class}");
    (outcome, replayed)
}

/// The script that calls `run` of a class.
pub(crate) fn call(class: &str) -> Script {
    let mut builder = Builder::with(Default::default(), ObjectId(0));
    let run = MemberName::of(class, "run", "()I");
    let statement = builder.call_static(run, Vec::new(), Some(Value::Int(0)));
    builder.script(vec![statement])
}

/// The lines of a program that end with a word.
fn lines(class: &str, word: &str) -> BTreeSet<u16> {
    let text = fs::read_to_string(fixtures().join(class).with_extension("java")).unwrap();
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| line.ends_with(word))
        .map(|(number, _)| number)
        .collect()
}

/// Checks the slice of a program against the lines that it names.
fn check(class: &str) {
    let (outcome, replayed) = replayed(shared(), class);
    let criterion = match &outcome {
        Outcome::Threw { .. } => Criterion::Exception,
        Outcome::InSync { .. } => Criterion::Result,
        outcome => panic!("{class}: {outcome:?}"),
    };
    check_slice(class, &criterion, &replayed);
}

/// Checks a slice of a traced program.
fn check_slice(class: &str, criterion: &Criterion, replayed: &Replayed) {
    let slice = replayed.backward(criterion);
    assert!(
        !slice.nodes.is_empty(),
        "{class}: {criterion:?} is not there"
    );
    let mut found: BTreeSet<u16> = replayed
        .lines(&slice)
        .into_iter()
        .map(|(_, line)| line)
        .collect();
    let mut expect = lines(class, "// slice");
    expect.extend(lines(class, "// surplus"));
    let either = lines(class, "// either");
    found.retain(|line| !either.contains(line));
    let missing: Vec<u16> = expect.difference(&found).copied().collect();
    let surplus: Vec<u16> = found.difference(&expect).copied().collect();
    eprintln!(
        "{class}: {} instructions, {} nodes, {} in the slice",
        replayed.instructions,
        replayed.graph.len(),
        slice.nodes.len()
    );
    assert_eq!(
        (missing, surplus),
        (Vec::new(), Vec::new()),
        "{class}: missing, surplus"
    );
    assert_eq!(replayed.misfits, 0, "{class}");
    assert_eq!(replayed.partial, None, "{class}");
}

macro_rules! programs {
    ($($name:ident $class:literal,)*) => {
        $(#[test] fn $name() { check($class); })*

        #[test]
        fn every_program_is_checked() {
            let mut checked = vec![$($class),*];
            checked.push("Bench");
            checked.sort_unstable();
            let files = fs::read_dir(fixtures()).unwrap();
            let stems = files.map(|it| it.unwrap().path().file_stem().unwrap().to_owned());
            let mut stems: Vec<String> = stems.map(|it| it.into_string().unwrap()).collect();
            stems.sort_unstable();
            assert_eq!(checked, stems);
        }
    };
}

programs! {
    values_of_locals_are_followed "Locals",
    a_stream_is_no_dependence_of_what_is_printed_to_it "Printed",
    each_call_of_a_method_is_followed_alone "Contexts",
    a_list_in_a_static_field_is_changed_by_other_methods "Collected",
    an_exception_depends_on_a_list_that_a_loop_filled "Crowded",
    a_lambda_keeps_what_it_captures_as_it_is "Captured",
    a_boxed_number_that_may_be_null_decides "Lengths",
    objects_that_a_recursion_links_are_followed "Mesh",
    a_value_behind_several_objects_is_followed "Layers",
    fields_are_told_apart_by_their_object "Fields",
    elements_are_told_apart_by_their_index "Arrays1",
    static_fields_lead_to_initialisers "Statics",
    results_and_arguments_of_calls_are_followed "Returns",
    a_thrown_exception_depends_on_its_condition "Thrown",
    an_implicit_exception_is_of_its_instruction "Implicit",
    a_null_pointer_leads_to_the_assignment_of_null "Nulls",
    a_handler_depends_on_the_throw "Caught",
    a_value_travels_in_an_exception "Message",
    switches_are_branches "Switches",
    loops_and_early_returns_are_control "LoopsAndReturns",
    recursion_is_followed "Recursion",
    strings_flow_through_builders "Builders",
    concatenation_calls_back "Concatenation",
    lists_are_followed "Lists",
    maps_are_followed "Maps",
    lambdas_have_captured_values "Lambdas",
    a_failed_store_depends_on_its_index "Stored",
    exceptions_leave_constructors_that_call_others "Delegated",
    streams_are_followed "Streams",
    boxes_are_followed "Boxes",
    copies_of_arrays_are_followed "Copies",
    clones_are_followed "Clones",
    inherited_members_are_followed "Inherited",
    threads_depend_on_their_start "Threads",
    reflection_is_followed "Reflected",
    comparators_are_called_back "Sorted",
    finally_is_control "Finally",
    monitors_are_followed "Guarded",
    enums_are_followed "Enums",
    methods_of_strings_are_followed "Texts",
    formatted_text_is_followed "Formats",
    queues_are_followed "Queues",
    iterators_are_followed "Iterations",
    objects_that_are_not_traced_change_as_a_whole "Atomics",
    constructors_are_chained "Constructors",
    a_stack_overflow_is_caught "Overflow",
    conditions_are_branches "Conditions",
    wide_values_are_followed "Wide",
    summaries_stand_for_other_classes "Numbers",
    arguments_of_any_number_are_followed "Varargs",
    an_exception_of_the_library_depends_on_its_arguments "Uncaught",
    an_exception_of_the_library_depends_on_contents "Parsed",
    an_array_changes_by_any_of_its_names "Shared",
    a_result_that_may_be_null_is_a_condition "Absent",
    a_list_is_followed_through_the_recursion_that_made_it "Linked",
}

/// The tracer that most tests share.
fn shared() -> &'static Tracer {
    static TRACER: OnceLock<Tracer> = OnceLock::new();
    TRACER.get_or_init(|| Tracer::start(&["-Xverify:all", "-Xcheck:jni"], whole(MOST_BYTES)))
}

#[test]
fn a_statement_depends_on_those_that_made_and_changed_its_objects() {
    let mut builder = Builder::with(Default::default(), ObjectId(0));
    let (one, other) = (builder.variable("Guarded"), builder.variable("Guarded"));
    let next = MemberName::of("Guarded", "next", "(I)I");
    let by = |n| vec![Value::Int(n)];
    let statements = vec![
        builder.construct("Guarded", "()V", Vec::new(), one.clone()),
        builder.construct("Guarded", "()V", Vec::new(), other.clone()),
        builder.call(next, one.clone(), by(1), None),
        builder.call(next, other, by(2), None),
        builder.call(next, one, by(3), None),
    ];
    let (outcome, trace) = shared().trace(&builder.script(statements));
    assert!(matches!(outcome, Outcome::InSync { .. }), "{outcome:?}");
    let replayed = replay(&trace, &[]).unwrap();
    let slice = replayed.backward(&Criterion::Result);
    let statements = slice.nodes.iter();
    let statements = statements.filter_map(|node| match replayed.graph.origin(*node) {
        Origin::Statement(number) => Some(number),
        Origin::Instruction(_) => None,
    });
    assert_eq!(statements.collect::<Vec<_>>(), [0, 2, 4]);
    let result = replayed.result.and_then(|node| replayed.graph.value(node));
    assert_eq!(result, Some(DefinedValue::Int(4)));
}

#[test]
fn a_forward_slice_has_the_lines_that_a_line_affects() {
    let (_, replayed) = replayed(shared(), "Fields");
    let text = fs::read_to_string(fixtures().join("Fields.java")).unwrap();
    let line = |part: &str| text.lines().position(|it| it.contains(part)).unwrap() as u16 + 1;
    let criterion = Criterion::Line {
        class: "Fields".to_owned(),
        line: line("one.value = 1"),
    };
    let found = replayed.lines(&replayed.forward(&criterion));
    let found: Vec<u16> = found.into_iter().map(|(_, line)| line).collect();
    let expect = ["one.value = 1", "alias.value += 5", "return one.value"].map(line);
    assert_eq!(found, expect);
}

#[test]
fn values_of_a_run_are_in_its_graph() {
    let (_, replayed) = replayed(shared(), "Returns");
    let entries = replayed.entries.iter();
    let arguments: Vec<_> = entries.map(|it| it.arguments.clone()).collect();
    let int = DefinedValue::Int;
    let expect = [
        vec![],
        vec![int(5)],
        vec![int(5)],
        vec![int(8), DefinedValue::Long(1), int(10)],
    ];
    assert_eq!(arguments, expect);
    let result = replayed.result.and_then(|node| replayed.graph.value(node));
    assert_eq!(result, Some(int(10)));
}

#[test]
fn a_trace_that_is_too_long_is_partial() {
    let tracer = Tracer::start(&[], whole(1 << 20));
    let (outcome, trace) = tracer.trace(&call("Bench"));
    assert!(matches!(outcome, Outcome::InSync { .. }), "{outcome:?}");
    let why = trace.ending.partial.as_deref();
    assert_eq!(why, Some("the run has more than 1 MB of events"));
    let replayed = replay(&trace, &[]).unwrap();
    assert!(replayed.partial.is_some() && replayed.instructions > 10_000);
    let (outcome, trace) = tracer.trace(&call("Crowded"));
    assert!(matches!(outcome, Outcome::Threw { .. }), "{outcome:?}");
    let replayed = replay(&trace, &[]).unwrap();
    assert!(replayed.partial.is_some());
    // It would come later.
    assert_eq!(replayed.exception, None);
}

#[test]
fn without_the_jdk_more_of_the_program_is_traced() {
    let options = TraceOptions {
        bytes: 1 << 20,
        scope: TraceScope::ProgramAlone,
    };
    let tracer = Tracer::start(&[], options);
    let (_, trace) = tracer.trace(&call("Crowded"));
    check_slice(
        "Crowded",
        &Criterion::Exception,
        &replay(&trace, &[]).unwrap(),
    );
}

/// Prints how fast a program is traced.
#[test]
fn a_million_instructions_are_traced() {
    let tracer = Tracer::start(&[], whole(MOST_BYTES));
    tracer.trace(&call("Locals"));
    let began = Instant::now();
    let (_, trace) = tracer.trace(&call("Bench"));
    let traced = began.elapsed();
    let words: usize = trace.threads.iter().map(|it| it.words.len()).sum();
    let began = Instant::now();
    let replayed = replay(&trace, &[]).unwrap();
    let replaying = began.elapsed();
    let began = Instant::now();
    let slice = replayed.backward(&Criterion::Result);
    let slicing = began.elapsed();
    eprintln!(
        "{} instructions, {} bytes of events: traced in {traced:?}, replayed in {replaying:?} to {} nodes and {} edges, \
         slice of {} nodes in {slicing:?}",
        replayed.instructions,
        4 * words,
        replayed.graph.len(),
        replayed.graph.data_edges(),
        slice.nodes.len(),
    );
    assert_eq!(replayed.misfits, 0);
    assert!(replayed.instructions > 1_000_000);
}
