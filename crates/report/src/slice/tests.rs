//! The forms of a slice that was written by hand.

use super::*;
use crate::style::Styles;

fn line(id: usize, class: &str, number: Option<u16>, code: &str) -> LineEntry {
    LineEntry {
        id,
        class: class.to_owned(),
        method: "total".to_owned(),
        descriptor: "()I".to_owned(),
        file: number.map(|_| "Order.java".to_owned()),
        line: number,
        code: Some(code.to_owned()).filter(|it| !it.is_empty()),
        is_criterion: id == 1,
        dependences: Vec::new(),
    }
}

fn document() -> SliceDocument {
    let on = |on, kind, name: &str| DependenceEntry {
        on,
        kind,
        name: Some(name.to_owned()).filter(|it| !it.is_empty()),
    };
    let mut one = line(1, "shop.Order", Some(7), "return sum / \"n\".length();");
    one.dependences = vec![
        on(0, DependenceKind::Call, ""),
        on(2, DependenceKind::Variable, "sum"),
        on(3, DependenceKind::Result, "tax"),
    ];
    SliceDocument {
        from: "failure".to_owned(),
        direction: DirectionEntry::Backward,
        failure: Some("ArithmeticException \"/ by zero\"".to_owned()),
        calls: vec![CallEntry {
            id: 0,
            number: 4,
            call: "Order.total".to_owned(),
            dependences: Vec::new(),
        }],
        lines: vec![
            one,
            line(2, "shop.Order", Some(5), "int sum = 1;\u{1b}[31m"),
            line(3, "shop.Tax", None, ""),
        ],
        lines_run: 12,
        partial: Some(
            "the run has more than 1 byte of events; dependences after that are missing".to_owned(),
        ),
        not_traced: vec!["shop.Big.run".to_owned()],
    }
}

#[test]
fn a_slice_is_printed_by_file_and_method() {
    let mut out = Vec::new();
    document().print(&mut out, Styles::plain(), 60).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn a_slice_is_a_graph() {
    insta::assert_snapshot!(document().dot());
}
