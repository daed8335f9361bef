//! Literals, printed and compiled, give back the values they were printed for, bit for bit.

use std::fs;

use culprit_junit::literal;
use culprit_model::Value;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::bench::Bench;

/// Values of each kind.
const MANY: usize = 300;

/// Values in one method, whose code is limited.
const TOGETHER: usize = 100;

#[test]
fn any_literal_gives_back_its_value() {
    let Some(bench) = Bench::new() else { return };
    let mut runner = TestRunner::deterministic();
    let mut lines = Vec::new();
    let mut expect = Vec::new();
    for value in scalars(&mut runner) {
        let text = literal::scalar(&value).unwrap();
        lines.push(format!("out({text});"));
        expect.push(bits(&value));
    }
    for units in strings(&mut runner) {
        lines.push(format!("out({});", literal::string(&units)));
        let hex = units.iter().map(|unit| format!("{unit:x},"));
        expect.push(format!("S{}", hex.collect::<String>()));
    }
    fs::write(bench.path("Literals.java"), source(&lines)).unwrap();
    let javac = ["-Xlint:all", "-Werror", "--release", "8", "-Xlint:-options"];
    bench.must(
        "javac",
        &[&javac[..], &["-d", ".", "Literals.java"]].concat(),
    );
    bench.must("java", &["-cp", ".", "Literals"]);
    let found = fs::read_to_string(bench.path("values.txt")).unwrap();
    assert_eq!(found.lines().count(), expect.len());
    for ((found, expect), line) in found.lines().zip(&expect).zip(&lines) {
        assert!(found == expect, "{found}, not {expect}: {line:.200}");
    }
}

fn sample<T: std::fmt::Debug>(
    runner: &mut TestRunner,
    strategy: impl Strategy<Value = T>,
    count: usize,
) -> Vec<T> {
    (0..count)
        .map(|_| strategy.new_tree(runner).unwrap().current())
        .collect()
}

fn scalars(runner: &mut TestRunner) -> Vec<Value> {
    let mut all = vec![
        Value::Boolean(true),
        Value::Boolean(false),
        Value::Int(i32::MIN),
        Value::Long(i64::MIN),
        Value::Byte(i8::MIN),
        Value::Short(i16::MIN),
    ];
    let floats = [f32::MIN_POSITIVE, f32::MAX, f32::from_bits(1), 0.0, 1e10];
    all.extend(
        floats
            .into_iter()
            .flat_map(|f| [Value::Float(f), Value::Float(-f)]),
    );
    let doubles = [f64::MIN_POSITIVE, f64::MAX, f64::from_bits(1), 0.0, 1e16];
    all.extend(
        doubles
            .into_iter()
            .flat_map(|d| [Value::Double(d), Value::Double(-d)]),
    );
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    all.extend(odd.map(Value::Double));
    all.extend(odd.map(|value| Value::Float(value as f32)));
    all.extend((0..0x180).map(Value::Char));
    let bits64 = sample(runner, any::<u64>(), MANY);
    all.extend(
        bits64
            .iter()
            .map(|bits| Value::Double(f64::from_bits(*bits))),
    );
    all.extend(
        bits64
            .iter()
            .map(|bits| Value::Float(f32::from_bits(*bits as u32))),
    );
    all.extend(bits64.iter().map(|bits| Value::Long(*bits as i64)));
    all.extend(bits64.iter().map(|bits| Value::Int(*bits as i32)));
    all.extend(bits64.iter().map(|bits| Value::Short(*bits as i16)));
    all.extend(bits64.iter().map(|bits| Value::Byte(*bits as i8)));
    all.extend(bits64.iter().map(|bits| Value::Char(*bits as u16)));
    // A NaN that signals may become a quiet one on its way through a register.
    all.retain(|value| match value {
        Value::Float(value) => !value.is_nan() || value.to_bits() & 0x40_0000 != 0,
        Value::Double(value) => !value.is_nan() || value.to_bits() & (1 << 51) != 0,
        _ => true,
    });
    all
}

fn strings(runner: &mut TestRunner) -> Vec<Vec<u16>> {
    let mut all: Vec<Vec<u16>> = [
        "",
        "\\u0041 \\\\u0041 \\",
        "\n\r\t\0\u{8}\u{c}\"'",
        "\u{2028}é☺😀\u{feff}",
    ]
    .iter()
    .map(|text| text.encode_utf16().collect())
    .collect();
    all.push(vec![0xdc00, 0xd800]);
    all.push(vec![u16::from(b'x'); 65_536]);
    all.push(
        (0..140_000_u32)
            .map(|unit| (unit % 0x1_0000) as u16)
            .collect(),
    );
    all.extend(sample(runner, vec(any::<u16>(), 0..20), MANY));
    // Those in which escapes meet.
    let few = prop::sample::select(b"\\u\"n041\r\n".to_vec()).prop_map(u16::from);
    all.extend(sample(runner, vec(few, 0..12), MANY));
    all
}

/// A letter for the type, and the bits.
fn bits(value: &Value) -> String {
    match value {
        Value::Boolean(value) => format!("Z{:x}", u8::from(*value)),
        Value::Byte(value) => format!("B{:x}", i64::from(*value)),
        Value::Short(value) => format!("H{:x}", i64::from(*value)),
        Value::Char(value) => format!("C{value:x}"),
        Value::Int(value) => format!("I{:x}", i64::from(*value)),
        Value::Long(value) => format!("J{value:x}"),
        Value::Float(value) => format!("F{:x}", value.to_bits()),
        Value::Double(value) => format!("D{:x}", value.to_bits()),
        Value::Reference(_) => String::new(),
    }
}

fn source(lines: &[String]) -> String {
    let mut methods = String::new();
    let mut calls = String::new();
    for (number, together) in lines.chunks(TOGETHER).enumerate() {
        calls.push_str(&format!("        part{number}();\n"));
        methods.push_str(&format!("    static void part{number}() {{\n"));
        for line in together {
            methods.push_str(&format!("        {line}\n"));
        }
        methods.push_str("    }\n\n");
    }
    let out = [
        ("boolean", "\"Z\" + (value ? 1 : 0)"),
        ("byte", "\"B\" + Long.toHexString(value)"),
        ("short", "\"H\" + Long.toHexString(value)"),
        ("char", "\"C\" + Integer.toHexString(value)"),
        ("int", "\"I\" + Long.toHexString(value)"),
        ("long", "\"J\" + Long.toHexString(value)"),
        (
            "float",
            "\"F\" + Integer.toHexString(Float.floatToRawIntBits(value))",
        ),
        (
            "double",
            "\"D\" + Long.toHexString(Double.doubleToRawLongBits(value))",
        ),
    ];
    for (of, text) in out {
        methods.push_str(&format!(
            "    static void out({of} value) {{\n        out.println({text});\n    }}\n\n"
        ));
    }
    literal::ascii(&format!(
        r#"public class Literals {{
    static java.io.PrintWriter out;

    public static void main(String[] args) throws Exception {{
        out = new java.io.PrintWriter("values.txt");
{calls}        out.close();
    }}

{methods}    static void out(String value) {{
        StringBuilder hex = new StringBuilder("S");
        for (char unit : value.toCharArray()) {{
            hex.append(Integer.toHexString(unit)).append(',');
        }}
        out.println(hex);
    }}
}}
"#
    ))
}
