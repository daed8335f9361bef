//! Operators, printed and compiled, have the values that [`compute`] gives them: brackets, casts and the order
//! of evaluation are right, and so is the computation.

use std::fs;

use culprit_junit::{Junit, Language, Options, print};
use culprit_model::Value;
use culprit_model::script::{Builder, MemberName, Operation, Operator, Script, Statement, compute};
use culprit_model::value::Shape;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::bench::{Bench, Library};

/// Expressions, and the values that each consists of at most.
const MANY: usize = 150;
const LARGEST: u32 = 24;

/// An expression of numbers.
#[derive(Clone, Debug)]
enum Tree {
    Number(Value),
    /// A number that the test has from a call: `Integer.parseInt("5")`.
    Call(i32),
    Of(Operation, Vec<Tree>),
    /// A conversion to this shape.
    To(Shape, Box<Tree>),
}

/// Writes a tree as statements, and computes it.
#[derive(Default)]
struct Writer {
    builder: Builder,
    statements: Vec<Statement>,
}

/// A number: as a statement is given it, and as it is.
struct Number {
    given: Value,
    value: Value,
}

impl Writer {
    fn operate(&mut self, operation: Operation, operands: Vec<Number>) -> Number {
        let (given, values) = operands.into_iter().map(|it| (it.given, it.value)).unzip();
        let values: Vec<Value> = values;
        let made = self.builder.operate(operation, given);
        self.statements.push(made.statement);
        Number {
            given: made.made,
            value: compute(operation, &values).unwrap(),
        }
    }

    fn write(&mut self, tree: &Tree) -> Number {
        match tree {
            Tree::Number(value) => Number {
                given: value.clone(),
                value: value.clone(),
            },
            Tree::Call(number) => {
                let made = self.builder.variable("int");
                let target =
                    MemberName::of("java/lang/Integer", "parseInt", "(Ljava/lang/String;)I");
                let text = vec![Value::text(&number.to_string())];
                let call = self.builder.call_static(target, text, Some(made.clone()));
                self.statements.push(call);
                Number {
                    given: made,
                    value: Value::Int(*number),
                }
            }
            Tree::To(shape, inner) => {
                let number = self.write(inner);
                let from = number.value.shape();
                let operator = match shape {
                    Shape::Int => Operator::ToInt,
                    Shape::Long => Operator::ToLong,
                    Shape::Float => Operator::ToFloat,
                    _ => Operator::ToDouble,
                };
                match from == *shape {
                    true => number,
                    false => self.operate(operator.of(from), vec![number]),
                }
            }
            Tree::Of(operation, inner) => {
                let operands = inner.iter().enumerate().map(|(place, inner)| {
                    let is_distance = place == 1 && SHIFTS.contains(&operation.operator);
                    let wanted = if is_distance {
                        Shape::Int
                    } else {
                        operation.shape
                    };
                    self.write(&Tree::To(wanted, Box::new(inner.clone())))
                });
                let operands = operands.collect();
                self.operate(*operation, operands)
            }
        }
    }
}

const SHIFTS: [Operator; 3] = [
    Operator::ShiftLeft,
    Operator::ShiftRight,
    Operator::ShiftRightUnsigned,
];

const NUMBERS: [Shape; 4] = [Shape::Int, Shape::Long, Shape::Float, Shape::Double];

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-9..99).prop_map(|v| Tree::Number(Value::Int(v))),
        (-9_i64..99).prop_map(|v| Tree::Number(Value::Long(v))),
        (-9..99).prop_map(|v| Tree::Number(Value::Double(f64::from(v) / 4.0))),
        (-99..999).prop_map(Tree::Call),
    ];
    leaf.prop_recursive(6, LARGEST, 2, |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(a, b)| vec![a, b]);
        let any = [Operator::Add, Operator::Subtract, Operator::Multiply];
        let any = prop::sample::select(any.to_vec());
        let shapes = || prop::sample::select(NUMBERS.to_vec());
        let wholes = || prop::sample::select(vec![Shape::Int, Shape::Long]);
        let bits = [Operator::And, Operator::Or, Operator::Xor].into_iter();
        let bits = prop::sample::select(bits.chain(SHIFTS).collect::<Vec<_>>());
        let of =
            |(operator, shape, of): (Operator, Shape, Vec<Tree>)| Tree::Of(operator.of(shape), of);
        prop_oneof![
            3 => (any, shapes(), two.clone()).prop_map(of),
            2 => (bits, wholes(), two.clone()).prop_map(of),
            1 => two.prop_map(|of| Tree::Of(Operator::Divide.of(Shape::Double), of)),
            1 => (shapes(), inner.clone())
                .prop_map(|(shape, of)| Tree::Of(Operator::Negate.of(shape), vec![of])),
            1 => (shapes(), inner).prop_map(|(shape, of)| Tree::To(shape, Box::new(of))),
        ]
    })
}

/// A script that asserts the value of an expression.
fn script(tree: &Tree) -> Script {
    let mut writer = Writer::default();
    let Number { given, value } = writer.write(tree);
    // The assertion of doubles compares bits, so that NaN equals itself.
    let value = match value {
        Value::Float(v) => Value::Double(f64::from(v)),
        value => value,
    };
    let code = value.shape().code();
    let descriptor = format!("({code}{code})V");
    let target = MemberName::of(
        "org/junit/jupiter/api/Assertions",
        "assertEquals",
        &descriptor,
    );
    let Writer {
        mut builder,
        mut statements,
    } = writer;
    statements.push(builder.call_static(target, vec![value, given], None));
    builder.script(statements)
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
        let script = script(&tree);
        let options = Options {
            junit: Junit::Five,
            language: Language::Java,
            name: format!("Expression{number}Test"),
            loops: false,
            condition: None,
        };
        let test = print(&script, &library, &options, |_| Vec::new()).unwrap();
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
