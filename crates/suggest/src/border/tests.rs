//! Small programs with known borders, and properties of any.

use culprit_model::Selection;
use culprit_model::observe::ClassOrigin;
use culprit_trace::{CoupledClass, Coupling, Edge};
use proptest::prelude::*;

use super::*;

fn class(name: &str, supertypes: &[&str]) -> CoupledClass {
    CoupledClass {
        name: name.to_owned(),
        origin: ClassOrigin::Program,
        methods: 1,
        live_calls: 0,
        supertypes: supertypes.iter().map(|&s| s.to_owned()).collect(),
    }
}

fn calls(from: usize, to: usize, calls: u64) -> Edge {
    Edge {
        from,
        to,
        calls,
        ..Edge::default()
    }
}

fn program(classes: Vec<CoupledClass>, edges: Vec<Edge>) -> CoupledProgram {
    let coupling = Coupling {
        time_ms: 1000,
        classes,
        edges,
    };
    CoupledProgram::join(&[coupling], &Selection::default())
}

/// Two pairs that talk among themselves, and rarely to each other.
fn two_pairs() -> CoupledProgram {
    let classes = ["a.Main", "b.Parser", "c.Lexer", "d.Store", "e.Index"];
    program(
        classes.iter().map(|name| class(name, &[])).collect(),
        vec![
            calls(0, 1, 300),
            calls(1, 2, 10),
            calls(2, 3, 5000),
            calls(3, 2, 1000),
            calls(1, 4, 10),
            calls(4, 5, 900),
            calls(2, 4, 3),
        ],
    )
}

fn texts(border: &Border) -> Vec<String> {
    border.patterns.iter().map(Pattern::to_string).collect()
}

#[test]
fn classes_that_talk_much_are_one_border() {
    let borders = propose(&two_pairs(), 3);
    assert_eq!(texts(&borders[0]), ["b.Parser", "c.Lexer"]);
    let measure = borders[0].measure;
    assert_eq!((measure.classes, measure.inside), (2, 6000));
    assert_eq!(measure.events, 2 * 13);
}

#[test]
fn constructors_arrays_and_fields_count_as_they_are_recorded() {
    let edge = |from, to| Edge {
        from,
        to,
        calls: 10,
        constructions: 4,
        arrays: 3,
        accesses: 5,
    };
    let classes = || vec![class("a.A", &[]), class("b.B", &[])];
    let inward = program(classes(), vec![edge(1, 2)]);
    let members = inward.matching(&["b.B".parse().unwrap()]);
    assert_eq!(inward.measure(&members).events, 2 * 14 + 4 + 5);
    let outward = program(classes(), vec![edge(2, 1)]);
    let members = outward.matching(&["b.B".parse().unwrap()]);
    assert_eq!(outward.measure(&members).events, 2 * 14 + 3 + 5);
}

#[test]
fn subclasses_are_inside_with_their_superclass() {
    let classes = vec![
        class("a.Main", &[]),
        class("b.Base", &[]),
        class("c.Middle", &["b.Base"]),
        class("d.Leaf", &["c.Middle"]),
    ];
    let program = program(classes, vec![calls(1, 4, 7), calls(4, 2, 5)]);
    let members = program.matching(&["b.Base".parse().unwrap()]);
    let measure = program.measure(&members);
    assert_eq!(
        (measure.classes, measure.inside, measure.events),
        (3, 5, 14)
    );
}

#[test]
fn nested_classes_go_with_their_outer_class() {
    let classes = vec![
        class("a.Main", &[]),
        class("b.Book", &[]),
        class("b.Book$Line", &[]),
        class("b.Other", &[]),
    ];
    let edges = vec![calls(1, 2, 1), calls(2, 3, 500), calls(2, 4, 400)];
    let borders = propose(&program(classes, edges), 8);
    let found: Vec<_> = borders.iter().map(texts).collect();
    assert!(
        found.contains(&vec!["b.Book".into(), "b.Book$*".into()]),
        "{found:?}"
    );
}

#[test]
fn a_build_tools_own_jvm_does_not_count() {
    let tool = Coupling {
        time_ms: 5000,
        classes: vec![CoupledClass {
            origin: ClassOrigin::Library,
            ..class("org.apache.maven.Main", &[])
        }],
        edges: vec![calls(0, 1, 99)],
    };
    let own = Coupling {
        time_ms: 1000,
        classes: vec![class("a.A", &[])],
        edges: vec![calls(0, 1, 7)],
    };
    let program = CoupledProgram::join(&[tool.clone(), own.clone(), own], &Selection::default());
    assert_eq!((program.time_ms, program.calls()), (2000, 14));
    let alone = CoupledProgram::join(&[tool], &Selection::default());
    assert_eq!(alone.own_classes().count(), 0);
}

#[test]
fn pairs_are_counted_both_ways() {
    let pairs = closest_pairs(&two_pairs(), 1);
    assert_eq!(pairs, [(1, 2, 6000)]);
}

prop_compose! {
    fn any_program()(size in 1_usize..9)(
        edges in prop::collection::vec(
            (0..=size, 1..=size, 0_u64..1000, 0_u64..9, 0_u64..9, 0_u64..9), 0..30),
        parents in prop::collection::vec(0..=size, size),
        size in Just(size),
    ) -> CoupledProgram {
        let name = |i: usize| format!("p{}.C{i}{}", i % 3, if i % 4 == 3 { "$N" } else { "" });
        let classes = (0..size)
            .map(|i| {
                // A class extends an earlier one, if any.
                let parent = parents[i].checked_sub(1).filter(|p| *p < i).map(name);
                class(&name(i), parent.as_deref().as_slice())
            })
            .collect();
        let edges = edges
            .into_iter()
            .map(|(from, to, calls, constructions, arrays, accesses)| Edge {
                from, to, calls, constructions, arrays, accesses,
            })
            .collect();
        program(classes, edges)
    }
}

proptest! {
    #[test]
    fn proposals_are_ranked_scored_and_never_the_whole(program in any_program()) {
        let borders = propose(&program, 8);
        for pair in borders.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        for border in &borders {
            prop_assert!(border.score > 0.0 && border.score <= 1.0);
            prop_assert_ne!(program.matching(&border.patterns), program.whole());
            prop_assert_eq!(program.measure(&program.matching(&border.patterns)), border.measure);
        }
    }

    #[test]
    fn every_call_is_inside_outside_or_crosses(program in any_program(), mask: u16) {
        let inside: Members = (0..program.classes.len()).map(|i| mask >> i & 1 == 1).collect();
        let outside: Members = inside.iter().map(|m| !m).collect();
        let (a, b) = (program.measure(&inside), program.measure(&outside));
        let crossing: u64 = program.edges.iter().filter(|edge| {
            let side = |n: usize| n.checked_sub(1).is_some_and(|i| inside[i]);
            let none = edge.from == 0;
            !none && side(edge.from) != side(edge.to)
        }).map(|e| e.calls + e.constructions).sum();
        let entering: u64 = program.edges.iter().filter(|e| e.from == 0)
            .map(|e| e.calls + e.constructions).sum();
        let total: u64 = program.edges.iter().map(|e| e.calls + e.constructions).sum();
        prop_assert_eq!(a.inside + b.inside + crossing + entering, total);
        prop_assert!(a.events >= 2 * crossing);
    }

    #[test]
    fn clusters_are_bounded_and_have_at_least_two_members(program in any_program()) {
        for cluster in clusters(&program, &Families::of(&program)) {
            prop_assert!((2..=LARGEST_CLUSTER).contains(&cluster.len()));
        }
    }
}
