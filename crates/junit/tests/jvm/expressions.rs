//! Operators, printed and compiled, give what they gave: brackets, casts and the order of
//! evaluation are as they must be.

use std::fs;

use culprit_junit::{Junit, Options, print};
use culprit_model::{Scenario, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::bench::{Bench, Library};

/// Expressions, and how many values each is made of at most.
const MANY: usize = 150;
const LARGEST: u32 = 24;

/// An expression of numbers.
#[derive(Clone, Debug)]
enum Tree {
    Number(Value),
    /// What the test computes by a call: `Integer.parseInt("5")`.
    Call(i32),
    /// An operator by its name, with what it takes.
    Of(&'static str, Kind, Vec<Tree>),
    /// A conversion to this kind.
    To(Kind, Box<Tree>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Int,
    Long,
    Float,
    Double,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Kind::Int => 'I',
            Kind::Long => 'J',
            Kind::Float => 'F',
            Kind::Double => 'D',
        }
    }

    fn type_number(self) -> usize {
        1 + self as usize
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Int => "toInt",
            Kind::Long => "toLong",
            Kind::Float => "toFloat",
            Kind::Double => "toDouble",
        }
    }
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Int(_) => Kind::Int,
        Value::Long(_) => Kind::Long,
        Value::Float(_) => Kind::Float,
        _ => Kind::Double,
    }
}

/// A number of one kind as one of another, as Java converts.
fn converted(value: &Value, to: Kind) -> Value {
    macro_rules! convert {
        ($v:expr) => {
            match to {
                Kind::Int => Value::Int($v as i32),
                Kind::Long => Value::Long($v as i64),
                Kind::Float => Value::Float($v as f32),
                Kind::Double => Value::Double($v as f64),
            }
        };
    }
    match *value {
        Value::Int(v) => convert!(v),
        Value::Long(v) => convert!(v),
        Value::Float(v) => convert!(v),
        Value::Double(v) => convert!(v),
        _ => unreachable!("numbers alone"),
    }
}

/// What an operator makes of two numbers of one kind.
fn applied(name: &str, left: &Value, right: &Value) -> Value {
    macro_rules! whole {
        ($make:path, $l:expr, $r:expr, $distance:expr, $unsigned:ty, $signed:ty) => {
            $make(match name {
                "add" => $l.wrapping_add($r),
                "subtract" => $l.wrapping_sub($r),
                "multiply" => $l.wrapping_mul($r),
                "and" => $l & $r,
                "or" => $l | $r,
                "xor" => $l ^ $r,
                "shiftLeft" => $l.wrapping_shl($distance),
                "shiftRight" => $l.wrapping_shr($distance),
                "shiftRightUnsigned" => ($l as $unsigned).wrapping_shr($distance) as $signed,
                "negate" => $l.wrapping_neg(),
                _ => unreachable!("{name}"),
            })
        };
    }
    macro_rules! real {
        ($make:path, $l:expr, $r:expr) => {
            $make(match name {
                "add" => $l + $r,
                "subtract" => $l - $r,
                "multiply" => $l * $r,
                "divide" => $l / $r,
                "negate" => -$l,
                _ => unreachable!("{name}"),
            })
        };
    }
    match (left, right) {
        (Value::Int(l), Value::Int(r)) => whole!(Value::Int, *l, *r, *r as u32, u32, i32),
        (Value::Long(l), Value::Long(r)) => whole!(Value::Long, *l, *r, *r as u32, u64, i64),
        (Value::Long(l), Value::Int(r)) => {
            whole!(Value::Long, *l, i64::from(*r), *r as u32, u64, i64)
        }
        (Value::Float(l), Value::Float(r)) => real!(Value::Float, *l, *r),
        (Value::Double(l), Value::Double(r)) => real!(Value::Double, *l, *r),
        _ => unreachable!("numbers of one kind alone"),
    }
}

/// Writes a tree as steps, and computes it.
#[derive(Default)]
struct Pen {
    sites: Vec<String>,
    steps: String,
    objects: usize,
}

impl Pen {
    fn call(&mut self, target: &str, given: &[String], kind: Kind) -> String {
        let known = self.sites.iter().position(|site| site == target);
        let site = known.unwrap_or_else(|| {
            self.sites.push(target.to_owned());
            self.sites.len() - 1
        }) + 1;
        self.objects += 1;
        let made = format!("#{}:@{}", self.objects, kind.type_number());
        let given = given.join(", ");
        self.steps
            .push_str(&format!("=> @{site}({given})\n<= @{site} = {made}\n"));
        made
    }

    fn write(&mut self, tree: &Tree) -> (String, Value) {
        match tree {
            Tree::Number(value) => (shown(value), value.clone()),
            Tree::Call(number) => {
                let text = format!("\"{number}\"");
                let target = "java/lang/Integer.parseInt(Ljava/lang/String;)I";
                let made = self.call(target, &[text], Kind::Int);
                (made, Value::Int(*number))
            }
            Tree::To(kind, inner) => {
                let (text, value) = self.write(inner);
                let from = kind_of(&value);
                if from == *kind {
                    return (text, value);
                }
                let target = format!(
                    "culprit/runtime/Operators.{}({}){}",
                    kind.name(),
                    from.letter(),
                    kind.letter()
                );
                (self.call(&target, &[text], *kind), converted(&value, *kind))
            }
            Tree::Of(name, kind, inner) => {
                let mut given = Vec::new();
                let mut values = Vec::new();
                let mut letters = String::new();
                for (place, inner) in inner.iter().enumerate() {
                    let distance = place == 1 && name.starts_with("shift");
                    let wanted = if distance { Kind::Int } else { *kind };
                    let (text, value) = self.write(&Tree::To(wanted, Box::new(inner.clone())));
                    given.push(text);
                    values.push(value);
                    letters.push(wanted.letter());
                }
                let letter = kind.letter();
                let target = format!("culprit/runtime/Operators.{name}({letters}){letter}");
                let made = self.call(&target, &given, *kind);
                let value = applied(name, &values[0], &values[values.len() - 1]);
                (made, value)
            }
        }
    }
}

/// A number as scenarios have it.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(v) => v.to_string(),
        Value::Long(v) => format!("{v}L"),
        Value::Double(v) if v.is_nan() => "NaN".to_owned(),
        Value::Double(v) if v.is_infinite() && *v > 0.0 => "Infinity".to_owned(),
        Value::Double(v) if v.is_infinite() => "-Infinity".to_owned(),
        Value::Double(v) => format!("{v:?}"),
        _ => unreachable!("no other numbers are given"),
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-9..99).prop_map(|v| Tree::Number(Value::Int(v))),
        (-9_i64..99).prop_map(|v| Tree::Number(Value::Long(v))),
        (-9..99).prop_map(|v| Tree::Number(Value::Double(f64::from(v) / 4.0))),
        (-99..999).prop_map(Tree::Call),
    ];
    leaf.prop_recursive(6, LARGEST, 2, |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(a, b)| vec![a, b]);
        let any = prop::sample::select(vec!["add", "subtract", "multiply"]);
        let kinds = || prop::sample::select(vec![Kind::Int, Kind::Long, Kind::Float, Kind::Double]);
        let wholes = || prop::sample::select(vec![Kind::Int, Kind::Long]);
        let bits = prop::sample::select(vec![
            "and",
            "or",
            "xor",
            "shiftLeft",
            "shiftRight",
            "shiftRightUnsigned",
        ]);
        prop_oneof![
            3 => (any, kinds(), two.clone()).prop_map(|(name, kind, of)| Tree::Of(name, kind, of)),
            2 => (bits, wholes(), two.clone()).prop_map(|(name, kind, of)| Tree::Of(name, kind, of)),
            1 => two.prop_map(|of| Tree::Of("divide", Kind::Double, of)),
            1 => (kinds(), inner.clone()).prop_map(|(kind, of)| Tree::Of("negate", kind, vec![of])),
            1 => (kinds(), inner).prop_map(|(kind, of)| Tree::To(kind, Box::new(of))),
        ]
    })
}

fn scenario(tree: &Tree) -> String {
    let mut pen = Pen::default();
    let (text, value) = pen.write(tree);
    // As bits: what is no number equals itself then.
    let (text, value) = match value {
        Value::Float(v) => (text, Value::Double(f64::from(v))),
        value => (text, value),
    };
    let kind = kind_of(&value);
    let (equal, letter) = (
        "org/junit/jupiter/api/Assertions.assertEquals",
        kind.letter(),
    );
    let given = [shown(&value), text];
    let target = format!("{equal}({letter}{letter})V");
    pen.call(&target, &given, kind);
    let mut steps: Vec<&str> = pen.steps.lines().collect();
    let end = steps.pop().unwrap_or_default();
    let site = end.split(' ').nth(1).unwrap_or_default();
    let mut all = "scenario 1\ntype 1 int\ntype 2 long\ntype 3 float\ntype 4 double\n".to_owned();
    all.push_str("thread 1 main\n");
    for (number, site) in pen.sites.iter().enumerate() {
        all.push_str(&format!("site {} entry static {site}\n", number + 1));
    }
    format!("{all}\n{}\n<= {site}\n", steps.join("\n"))
}

#[test]
fn any_expression_gives_its_value() {
    let Some(bench) = Bench::new() else { return };
    let Some(library) = Library::new(&bench) else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let trees = trees();
    let mut sources = Vec::new();
    for number in 0..MANY {
        let tree = trees.new_tree(&mut runner).unwrap().current();
        let text = scenario(&tree);
        let scenario: Scenario = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = Options {
            junit: Junit::Five,
            name: format!("Expression{number}Test"),
            loops: false,
        };
        let test = print(&scenario, &library, &options, |_| Vec::new()).unwrap();
        let file = bench.path(&format!("{}.java", options.name));
        fs::write(&file, &test.source).unwrap();
        sources.push(file.display().to_string());
    }
    let path = library.class_path.as_str();
    let mut args = vec!["-proc:none", "-cp", path, "-d", "compiled"];
    args.extend(sources.iter().map(String::as_str));
    bench.must("javac", &args);
    let path = format!("compiled:{path}");
    let console = "org.junit.platform.console.ConsoleLauncher";
    let ended = bench.run(
        "java",
        &[
            "-cp",
            &path,
            console,
            "execute",
            "--details=summary",
            "--scan-class-path=compiled",
        ],
    );
    let passed = format!("{MANY} tests successful");
    assert!(ended.out.contains(&passed), "{}", ended.out);
}
