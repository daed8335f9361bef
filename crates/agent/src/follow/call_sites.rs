//! Call sites of `invokedynamic`: concatenations of strings, and lambdas.

use culprit_classfile::DynamicRef;
use culprit_jvmti::Jni;
use culprit_model::script::{HandleKind, Lambda, Operator};
use culprit_model::value::Shape;
use culprit_model::{Reference, Value};

use super::operations::letter;
use super::value::{Held, JvmValue};
use super::{Followed, Following};
use crate::classes::internal_name;
use crate::lock::LockSafe;

impl Following {
    /// A call site that concatenates the values that it is given with texts between them.
    pub(super) fn concatenate<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        number: u16,
        parameters: &[&str],
        given: &[Held<'j>],
        result: JvmValue<'j>,
    ) -> Option<Held<'j>> {
        let plan = followed.concatenations.get(&number)?;
        if !self.is_noting() || !given.iter().any(|held| self.is_of_program(held)) {
            return Some(Held::new(result));
        }
        let recipe = plan.recipe.clone();
        let recipe = recipe.unwrap_or_else(|| "\u{1}".repeat(given.len()));
        let mut pieces: Vec<Value> = Vec::new();
        let mut text = String::new();
        let (mut arguments, mut constants) = (given.iter().zip(parameters), plan.constants.iter());
        for c in recipe.chars() {
            match c {
                '\u{2}' => text.push_str(constants.next()?),
                '\u{1}' => {
                    if !text.is_empty() || pieces.is_empty() {
                        pieces.push(Value::text(&std::mem::take(&mut text)));
                    }
                    let (held, parameter) = arguments.next()?;
                    pieces.push(self.given(jni, held, letter(parameter)));
                }
                c => text.push(c),
            }
        }
        if !text.is_empty() {
            pieces.push(Value::text(&text));
        }
        if let [first, second, ..] = pieces.as_slice()
            && *first == Value::text("")
            && *second != Value::text("")
            && pieces.len() > 2
            && parameters.first() == Some(&"Ljava/lang/String;")
        {
            pieces.remove(0);
        }
        let concat = Operator::Concat.of(Shape::Reference);
        let mut writer = self.writer.lock_safe();
        let mut pieces = pieces.into_iter();
        let mut left = pieces.next()?;
        let mut last = None;
        for piece in pieces {
            let made = writer.operate(concat, vec![left, piece]);
            left = made.into();
            last = Some(made);
        }
        Some(Held::with(result, last))
    }

    /// A call site made a lambda.
    pub(super) fn note_lambda<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        site: &DynamicRef<'_>,
        parameters: &[&str],
        captured: &[Held<'j>],
        made: &Held<'j>,
    ) {
        let Some(lambda) = followed.lambdas.get(&site.bootstrap) else {
            return;
        };
        let Some(kind) = HandleKind::from_code(lambda.kind) else {
            return;
        };
        let of_program = captured.iter().any(|held| self.is_of_program(held));
        // The body may change what it captures whenever the program calls it.
        for held in captured {
            let class = held.reference().map(|object| self.class_of(jni, &object));
            if class.is_some_and(|class| !self.follows(&class)) {
                self.taint(jni, held);
            }
        }
        let captured: Vec<Value> = captured
            .iter()
            .zip(parameters)
            .map(|(held, parameter)| boxed(self.given(jni, held, letter(parameter))))
            .collect();
        let result = site.descriptor.rsplit(')').next().unwrap_or("V");
        let (_, value) = self.result(jni, made.slot, result, of_program);
        let mut writer = self.writer.lock_safe();
        let lambda = Lambda {
            body_class: writer.class(&lambda.owner),
            body_name: lambda.name.clone(),
            body_descriptor: lambda.descriptor.clone(),
            kind,
            written_in: writer.class(&followed.class),
            interface: writer.class(internal_name(result)),
            method: site.name.clone().into_owned(),
            erased: lambda.erased.clone(),
            exact: lambda.exact.clone(),
        };
        writer.lambda(lambda, captured, value);
    }
}

/// A literal as an element of an array of objects.
fn boxed(value: Value) -> Value {
    match value {
        Value::Reference(_) => value,
        scalar => Value::Reference(Reference::Boxed(Box::new(scalar))),
    }
}
