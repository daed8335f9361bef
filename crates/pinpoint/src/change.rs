//! Changes of one value of a run.

use std::fmt;
use std::sync::Arc;

use culprit_model::script::{Builder, MemberName};
use culprit_model::{Reference, Script, Statement, Tables, Value};
use culprit_slice::{DefinedValue, NodeId, Replayed};
use culprit_weave::change::{CHANGE, Changeable, ChangedKind};

use crate::experiment::Spot;

/// The longest text that takes the place of another one, in UTF-16 code units.
const LONGEST: usize = 4096;

/// A change of one value.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    Put(Replacement),
    Add(i64),
    Negate,
    /// A branch goes the other way.
    Flip,
}

/// A value that takes the place of another one.
#[derive(Clone, PartialEq, Debug)]
pub enum Replacement {
    /// `int` and everything narrower.
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Null,
    Text(Arc<str>),
}

impl Replacement {
    /// The value of a node of a run, if it can take the place of another one.
    pub(crate) fn of(run: &Replayed, node: NodeId) -> Option<Replacement> {
        Some(match run.graph.value(node)? {
            DefinedValue::Int(value) => Replacement::Int(value),
            DefinedValue::Long(value) => Replacement::Long(value),
            DefinedValue::Float(value) => Replacement::Float(value),
            DefinedValue::Double(value) => Replacement::Double(value),
            DefinedValue::Object(0) => Replacement::Null,
            DefinedValue::Object(id) => {
                let object = run.objects.get(id as usize - 1)?;
                let is_text = object.class == "java/lang/String";
                let text = object.text.as_deref().filter(|_| is_text)?;
                Replacement::Text(text.into())
            }
        })
    }

    /// True if values of this kind can be replaced by it.
    fn fits(&self, kind: ChangedKind) -> bool {
        matches!(
            (self, kind),
            (Replacement::Int(_), ChangedKind::Int)
                | (Replacement::Long(_), ChangedKind::Long)
                | (Replacement::Float(_), ChangedKind::Float)
                | (Replacement::Double(_), ChangedKind::Double)
                | (Replacement::Null | Replacement::Text(_), ChangedKind::Text)
        )
    }

    /// True for the same value, by bits.
    pub(crate) fn is_identical(&self, other: &Replacement) -> bool {
        match (self, other) {
            (Replacement::Float(one), Replacement::Float(other)) => {
                one.to_bits() == other.to_bits()
            }
            (Replacement::Double(one), Replacement::Double(other)) => {
                one.to_bits() == other.to_bits()
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replacement::Int(value) => write!(f, "{value}"),
            Replacement::Long(value) => write!(f, "{value}"),
            Replacement::Float(value) => write!(f, "{value}"),
            Replacement::Double(value) => write!(f, "{value}"),
            Replacement::Null => f.write_str("null"),
            Replacement::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

impl Change {
    /// The changes that are tried with an instruction, whatever its value is.
    pub(crate) fn usual(kind: Changeable) -> Vec<Change> {
        let numbers = |zero, one| {
            vec![
                Change::Put(zero),
                Change::Put(one),
                Change::Add(1),
                Change::Add(-1),
                Change::Negate,
            ]
        };
        match kind {
            Changeable::Branch => vec![Change::Flip],
            Changeable::Value(ChangedKind::Int) => {
                numbers(Replacement::Int(0), Replacement::Int(1))
            }
            Changeable::Value(ChangedKind::Long) => {
                numbers(Replacement::Long(0), Replacement::Long(1))
            }
            Changeable::Value(ChangedKind::Float) => {
                numbers(Replacement::Float(0.0), Replacement::Float(1.0))
            }
            Changeable::Value(ChangedKind::Double) => {
                numbers(Replacement::Double(0.0), Replacement::Double(1.0))
            }
            Changeable::Value(ChangedKind::Text) => Vec::new(),
        }
    }

    /// The change to the value of another run, if an instruction can be changed to it.
    pub(crate) fn to(value: Replacement, kind: Changeable) -> Option<Change> {
        match kind {
            Changeable::Value(kind) if value.fits(kind) => Some(Change::Put(value)),
            _ => None,
        }
    }

    /// A measure for how easily a change is understood, the smaller the easier.
    pub(crate) fn complexity(&self) -> u8 {
        match self {
            Change::Flip => 0,
            Change::Put(Replacement::Int(0) | Replacement::Long(0)) => 1,
            Change::Put(_) => 2,
            Change::Add(_) => 3,
            Change::Negate => 4,
        }
    }

    /// The statement that chooses this change, before those of a script; nothing for a text that is too long.
    pub(crate) fn chosen(&self, script: &Script, spot: Spot) -> Option<(Tables, Statement)> {
        let mut builder = Builder::of(script);
        let (how, bits) = match self {
            Change::Put(Replacement::Int(value)) => (0, i64::from(*value)),
            Change::Put(Replacement::Long(value)) => (0, *value),
            Change::Put(Replacement::Float(value)) => (0, i64::from(value.to_bits())),
            Change::Put(Replacement::Double(value)) => (0, value.to_bits() as i64),
            Change::Put(Replacement::Null | Replacement::Text(_)) => (0, 0),
            Change::Add(number) => (1, *number),
            Change::Negate => (2, 0),
            Change::Flip => (3, 0),
        };
        let text = match self {
            Change::Put(Replacement::Text(text)) => {
                let units: Vec<u16> = text.encode_utf16().take(LONGEST + 1).collect();
                if units.len() > LONGEST {
                    return None;
                }
                Reference::String(units)
            }
            _ => Reference::Null,
        };
        let choose = MemberName::of(CHANGE, "choose", "(IIIJLjava/lang/String;)V");
        let given = vec![
            Value::Int(spot.instruction as i32),
            Value::Int(spot.occurrence as i32),
            Value::Int(how),
            Value::Long(bits),
            Value::Reference(text),
        ];
        let statement = builder.call_static(choose, given, None);
        Some((builder.finish(), statement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_replaces_only_those_of_its_kind() {
        let text = Replacement::Text("a".into());
        let put = |value: &Replacement, kind| Change::to(value.clone(), Changeable::Value(kind));
        assert_eq!(put(&text, ChangedKind::Int), None);
        assert_eq!(put(&Replacement::Int(3), ChangedKind::Long), None);
        assert_eq!(
            put(&text, ChangedKind::Text),
            Some(Change::Put(text.clone()))
        );
        assert_eq!(Change::to(text, Changeable::Branch), None);
        let nan = Replacement::Double(f64::NAN);
        assert!(nan.is_identical(&nan));
        assert!(!Replacement::Double(0.0).is_identical(&Replacement::Double(-0.0)));
    }

    #[test]
    fn one_is_the_number_whatever_the_kind() {
        let shown = |kind| {
            let changes = Change::usual(Changeable::Value(kind)).into_iter();
            let put = changes.filter_map(|change| match change {
                Change::Put(value) => Some(value.to_string()),
                _ => None,
            });
            put.collect::<Vec<_>>()
        };
        assert_eq!(shown(ChangedKind::Float), ["0", "1"]);
        assert_eq!(shown(ChangedKind::Long), ["0", "1"]);
    }
}
