//! Calls that leave arguments to their defaults. The JVM has a synthetic method for them, with a bit for each argument
//! that is left out; other languages call it by reflection, Kotlin needs no trick.

use culprit_model::Value;

use super::metadata::{Function, Kind, KotlinClass};
use super::{Level, Text, Writer, Written, word};
use crate::code::Code;
use crate::expr::Expr;
use crate::types::Type;

/// The end of the name of the synthetic method.
const SUFFIX: &str = "$default";

/// The last parameter of the synthetic constructor.
const MARKER: &str = "kotlin/jvm/internal/DefaultConstructorMarker";

/// Parameters that one mask has a bit for.
const BITS: usize = 32;

/// A call of a synthetic method, by reflection.
struct DefaultCall<'c> {
    owner: &'c str,
    /// The name of the function in the JVM.
    name: &'c str,
    types: Vec<&'c Type>,
    given: &'c [Expr],
}

impl<'c> DefaultCall<'c> {
    /// Reads a call of a helper method.
    fn of(words: &'c [Expr]) -> Option<DefaultCall<'c>> {
        let (class, name, types, given) = match words {
            [class, types, given @ ..] if matches!(types.code, Code::Classes(_)) => {
                (class, "<init>", types, given)
            }
            [class, _, name, types, given @ ..] => {
                let Code::Quoted(name) = &name.code else {
                    return None;
                };
                (class, name.strip_suffix(SUFFIX)?, types, given)
            }
            _ => return None,
        };
        let class_of = |expr: &'c Expr| match &expr.code {
            Code::Class(name) => Some(&name.of),
            _ => None,
        };
        let Code::Classes(types) = &types.code else {
            return None;
        };
        let types: Option<Vec<&Type>> = types.iter().map(class_of).collect();
        let types = types?;
        let is_marked = types.last()?.name() == Some(MARKER);
        let call = DefaultCall {
            owner: class_of(class)?.name()?,
            name,
            types,
            given,
        };
        (call.types.len() == given.len() && (name != "<init>" || is_marked)).then_some(call)
    }

    /// The function, and the number of objects before its arguments.
    fn function(&self, kotlin: &'c KotlinClass) -> Option<(&'c Function, usize)> {
        let of_member = match kotlin.kind {
            Kind::File => 0,
            _ if self.name == "<init>" => 0,
            _ => usize::from(self.types.first()?.name() == Some(self.owner)),
        };
        let all = match self.name {
            "<init>" => &kotlin.constructors,
            _ => &kotlin.functions,
        };
        let mut all = all.iter().filter(|it| {
            let before = of_member + usize::from(it.receiver.is_some());
            let count = it.parameters.len();
            let masks = count.div_ceil(BITS);
            it.jvm_name == self.name && before + count + masks + 1 == self.types.len()
        });
        let found = all.next()?;
        // Of several, the bits do not say which is meant.
        let is_only = all.next().is_none() && !found.is_suspend;
        let before = of_member + usize::from(found.receiver.is_some());
        (is_only && before <= 1).then_some((found, before))
    }

    fn is_left_out(&self, place: usize, count: usize, before: usize) -> Option<bool> {
        let mask = self.given.get(before + count + place / BITS)?;
        match &mask.code {
            Code::Scalar(mask) | Code::Constant(mask) => match mask.0 {
                Value::Int(mask) => Some(mask >> (place % BITS) & 1 == 1),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Writer<'_> {
    /// The call of a function in place of its synthetic method, if the words are such a call by reflection.
    pub(super) fn with_left_out(&self, words: &[Expr]) -> Written<Option<Text>> {
        let Some(call) = DefaultCall::of(words) else {
            return Ok(None);
        };
        let kotlin = self.kotlin(call.owner);
        let Some((function, before)) = kotlin.as_ref().and_then(|it| call.function(it)) else {
            return Ok(None);
        };
        let mut all = Vec::new();
        let mut is_named = false;
        let count = function.parameters.len();
        for (place, parameter) in function.parameters.iter().enumerate() {
            match call.is_left_out(place, count, before) {
                Some(true) => {
                    is_named = true;
                    continue;
                }
                Some(false) => {}
                None => return Ok(None),
            }
            let given = &call.given[before + place];
            let is_present = !parameter.of.is_nullable && parameter.of.class.is_some();
            let value =
                self.argument(given, call.types.get(before + place).copied(), is_present)?;
            all.push(match is_named {
                true => format!("{} = {}", word(&parameter.name), value.text),
                false => value.text,
            });
        }
        let arguments = all.join(", ");
        let name = match call.name {
            "<init>" => self.class_name(call.owner),
            _ => word(&function.name),
        };
        let is_of_file = kotlin.as_ref().is_some_and(|it| it.kind == Kind::File);
        if is_of_file {
            self.import_member(call.owner, &function.name);
        }
        let text = match call.given.first().filter(|_| before == 1) {
            Some(object) => {
                let takes_null = function.receiver.as_ref().is_some_and(|it| it.is_nullable);
                let object = match takes_null {
                    true => self.expression(object)?.within(Level::Postfix),
                    false => self.receiver(object)?,
                };
                format!("{object}.{name}({arguments})")
            }
            None if is_of_file || call.name == "<init>" => format!("{name}({arguments})"),
            None => format!("{}.{name}({arguments})", self.class_name(call.owner)),
        };
        let gives_null = function.result.as_ref().is_some_and(|it| it.is_nullable);
        Ok(Some(Text::new(text).nullable(gives_null)))
    }
}
