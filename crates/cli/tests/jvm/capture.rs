//! What crosses the border is captured; the fixtures say what that is.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::value::Contents;
use culprit_model::{Event, EventKind, Reference, Value};

use crate::fixture::Fixture;
use crate::process::{command, run};
use crate::render;
use crate::stage::{check, folder, on_every_jdk, skipped};

/// One test a fixture; the name is the fact, the fixture shows it.
macro_rules! facts {
    ($($fact:ident: $fixture:literal,)*) => {$(
        #[test]
        fn $fact() {
            check(concat!("capture/", $fixture));
        }
    )*};
}

facts! {
    the_nine_events_of_scarpe: "nine",
    constructor_calls_also_within_arguments_of_this_and_super: "constructors",
    exceptions_out_of_super_constructors: "supers",
    fields_in_both_directions: "fields",
    arrays_with_contents_inward_and_after_calls_that_received_them: "arrays",
    the_part_of_an_array_that_the_jdk_was_given: "parts",
    an_array_that_holds_itself_is_named_where_it_comes_again: "itself",
    class_initialisers_from_outside_and_inside: "initialisers",
    callbacks_nest: "callbacks",
    exceptions_in_both_directions: "exceptions",
    values_of_every_type_at_their_limits: "scalars",
    as_many_arguments_as_the_jvm_allows: "many",
    the_receivers_class_decides_what_is_inside: "dispatch",
    reflection_and_method_handles: "reflection",
    lambdas_and_method_references: "lambdas",
    method_references_to_external_code: "references",
    method_references_to_what_is_not_there: "links",
    hashes_that_the_jvm_makes_up: "hashes",
    hashes_that_tables_ask_for: "tables",
    states_of_library_objects_that_library_code_looks_into: "shells",
    bridge_methods: "bridges",
    inner_anonymous_and_local_classes: "nested",
    default_static_and_private_methods_of_interfaces: "interfaces",
    library_objects_made_inside_are_live_and_those_from_outside_are_not: "live",
    library_objects_are_recorded_once_they_have_escaped: "escape",
    external_objects_lent_to_library_objects: "lent",
    objects_that_leave_unnamed_and_come_back: "unnamed",
    variable_handles: "handles",
    resources_iteration_ordering_enums_and_thread_locals: "everyday",
    ids_keep_no_object_alive: "weak",
    records_and_sealed_types: "records",
    switches_on_patterns: "patterns",
    virtual_threads: "virtual",
    accesses_to_elements_of_shared_arrays: "accesses",
    serialisation_and_clones: "serial",
    synchronised_methods_and_blocks: "monitors",
}

#[test]
fn classes_of_the_same_name_in_several_loaders_are_told_apart() {
    let fixture = Fixture::named("capture/twins");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        fixture.expects(
            &render::lines(&recording),
            &format!("JDK {}", stage.feature()),
        );
        let twins = recording
            .types()
            .iter()
            .filter(|t| t.name == "twins/InTwin");
        let loaders: BTreeSet<u32> = twins.map(|twin| twin.loader).collect();
        assert_eq!(loaders.len(), 3);
        let observed = recording.classes().iter().filter(|class| class.observed);
        let stored = observed.map(|class| class.loader);
        assert_eq!(stored.collect::<BTreeSet<u32>>(), loaders);
        let names: BTreeSet<Option<&str>> = loaders
            .iter()
            .map(|loader| recording.loaders().get(*loader).unwrap().name.as_deref())
            .collect();
        assert_eq!(names, [Some("app"), Some("first"), Some("second")].into());
        // Each of the three objects is of the class of its own loader.
        let mut classes = BTreeMap::new();
        for event in recording.events().map(|event| event.unwrap()) {
            if let (EventKind::Constructed, [Value::Reference(Reference::Object { id, class })]) =
                (event.kind, event.values.as_slice())
            {
                classes.insert(*id, recording.types().get(class.0).unwrap().loader);
            }
        }
        assert_eq!(classes.into_values().collect::<BTreeSet<u32>>(), loaders);
    });
}

#[test]
fn long_strings_are_stored_once() {
    let fixture = Fixture::named("capture/texts");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let events: Vec<Event> = recording.events().map(|event| event.unwrap()).collect();
        let taken: Vec<&Reference> = events
            .iter()
            .filter_map(|event| match event.values.as_slice() {
                [Value::Reference(reference)] => Some(reference),
                _ => None,
            })
            .collect();
        let units = |reference: &Reference| match reference {
            Reference::String(units) => (false, units.clone()),
            Reference::StringBlob(blob) => (true, render::units(&recording, *blob)),
            other => panic!("{other:?}"),
        };
        let text = |text: &str, times: usize| text.repeat(times).encode_utf16().collect();
        let broken: Vec<u16> = [0x65e5, 0xd83d].repeat(40);
        let expected: [(bool, Vec<u16>); 8] = [
            (false, text("x", 64)),
            (false, text("x", 64)),
            (true, text("y", 65)),
            (true, text("y", 65)),
            (false, text("\u{65e5}", 64)),
            (true, broken),
            (true, text("z", 1 << 20)),
            (true, text("y", 65)),
        ];
        let found: Vec<(bool, Vec<u16>)> = taken.iter().map(|r| units(r)).collect();
        assert_eq!(found, expected);
        assert_eq!(taken[2], taken[3], "equal texts share a blob");
        assert_eq!(taken[2], taken[7], "equal texts share a blob");
    });
}

#[test]
fn equal_contents_of_long_arrays_are_stored_once() {
    let fixture = Fixture::named("capture/arrays");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let mut blobs = Vec::new();
        for event in recording.events().map(|event| event.unwrap()) {
            for value in event.values {
                if let Value::Reference(Reference::Array {
                    contents: Contents::Blob(blob),
                    ..
                }) = value
                {
                    blobs.push(blob);
                }
            }
        }
        assert_eq!(blobs.len(), 2);
        assert_eq!(blobs[0], blobs[1]);
    });
}

#[test]
fn finalizers_and_cleaners_are_calls_from_threads_of_the_jvm() {
    let fixture = Fixture::named("capture/cleanup");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let lines = render::lines(&recording);
        let thread_of = |what: &str| {
            let line = lines.iter().find(|line| line.contains(what));
            let line = line.unwrap_or_else(|| panic!("no {what} in {lines:#?}"));
            let number = line[1..].split(' ').next().unwrap().parse().unwrap();
            recording.threads().get(number).unwrap().name.clone()
        };
        assert_eq!(thread_of("=> new In()"), "main");
        assert_eq!(thread_of("=> In.finalize() on "), "Finalizer");
        assert_eq!(thread_of("=> InAction.run() on "), "Cleaner-0");
    });
}

#[test]
fn events_know_their_source_lines() {
    let fixture = Fixture::named("capture/nine");
    let line_of = |file: &str, text: &str| {
        let source = std::fs::read_to_string(fixture.folder.join(file)).unwrap();
        let at = source.lines().position(|line| line.contains(text)).unwrap();
        (file.to_owned(), at as u16 + 1)
    };
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let lines = render::lines(&recording);
        let found: Vec<(String, u16)> = recording
            .events()
            .map(|event| {
                let site = recording.sites().get(event.unwrap().site.0).unwrap();
                let file = site.class.replace("nine/", "") + ".java";
                (file, site.line.unwrap())
            })
            .collect();
        for (event, file, text) in [
            ("=> In.call(5) on #1 In", "In.java", "return inner(n) + 1"),
            (
                "  -> get Main.shared = 3",
                "In.java",
                "main.twice(Main.shared)",
            ),
            ("  -> Main.refuse()", "In.java", "Main.refuse();"),
            (
                "  <-! Main.refuse #4 UnsupportedOperationException",
                "In.java",
                "Main.refuse();",
            ),
            ("=> set In.value of #1 In = 6", "Main.java", "in.value = 6;"),
            (
                "=> get In.value of #1 In = 6",
                "Main.java",
                "println(in.value)",
            ),
        ] {
            let place = lines.iter().position(|line| line == event).unwrap();
            assert_eq!(found[place], line_of(file, text), "{event}");
        }
    });
}

#[test]
fn native_methods_are_outside() {
    let fixture = Fixture::named("capture/natives");
    let Ok(cc) = culprit_jvm::resolve("cc".as_ref(), std::env::var_os("PATH").as_deref()) else {
        return skipped("native methods: no C compiler");
    };
    on_every_jdk(&fixture, |stage| {
        let folder = folder();
        let library = folder.path().join("libnatives.so");
        let include = stage.jdk.home.join("include");
        if !include.join("jni.h").is_file() {
            return skipped("native methods: the JDK has no jni.h");
        }
        let mut compile = command(&cc, folder.path());
        compile
            .args(["-shared", "-fPIC", "-I"])
            .arg(&include)
            .arg("-I")
            .arg(include.join("linux"))
            .arg("-o")
            .arg(&library)
            .arg(fixture.folder.join("natives.c"));
        let ended = run(&mut compile);
        assert_eq!(ended.status, 0, "{ended:?}");
        let path = library.display().to_string();
        let flags: &[&str] = match stage.feature() {
            24.. => &["--enable-native-access=ALL-UNNAMED"],
            _ => &[],
        };
        let recorded = stage
            .run(&fixture)
            .flags(flags)
            .args(&[&path])
            .record_unnoticed();
        fixture.expects(&recorded.lines(), &format!("JDK {}", stage.feature()));
    });
}
