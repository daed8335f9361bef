//! Values as steps have them: literals where they are the driver's own, variables where they come out of
//! the program.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Operator, StatementEnd};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, Owner, Reference, Value};

use super::Following;
use super::script_writer::{FILE, HeapPlace};
use super::value::{Held, JvmValue, Variable};
use crate::classes::internal_name;
use crate::lock::LockSafe;

/// Elements of an array beyond which it is not written out.
const MOST_ELEMENTS: usize = 4096;

/// An object as its tag tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag {
    pub(super) id: ObjectId,
    /// The program had a hand in it.
    pub(super) of_program: bool,
}

impl Following {
    pub(super) fn class_of(&self, jni: &Jni<'_>, object: &Local<'_>) -> String {
        let name = jni.with_frame(|jni| {
            let class = jni.object_class(object);
            let signature = self.jvmti.class_signature(&class).unwrap_or_default();
            internal_name(&signature).to_owned()
        });
        name.unwrap_or_default()
    }

    pub(super) fn tag(&self, object: &Local<'_>) -> Option<Tag> {
        match self.jvmti.tag(object) {
            Ok(tag) if tag != 0 => Some(Tag {
                id: ObjectId((tag >> 1) as u64),
                of_program: tag & 1 == 1,
            }),
            _ => None,
        }
    }

    pub(super) fn set_tag(&self, object: &Local<'_>, tag: Tag) {
        let number = (tag.id.0 as i64) << 1 | i64::from(tag.of_program);
        let _ = self.jvmti.set_tag(object, number);
    }

    /// The tag of an object, which gets one if it has none.
    pub(super) fn tagged(&self, object: &Local<'_>, of_program: bool) -> Tag {
        let known = self.tag(object);
        let id = match known {
            Some(tag) => tag.id,
            None => self.writer.lock_safe().id(),
        };
        let tag = Tag {
            id,
            of_program: of_program || known.is_some_and(|tag| tag.of_program),
        };
        if known != Some(tag) {
            self.set_tag(object, tag);
        }
        tag
    }

    /// The class of the object in a slot, if it was met before and is no array.
    pub(super) fn known(&self, jni: &Jni<'_>, slot: &JvmValue<'_>) -> Option<String> {
        let JvmValue::Reference(Some(object)) = slot else {
            return None;
        };
        self.tag(object)?;
        let class = self.class_of(jni, object);
        (!class.starts_with('[') && !is_plain_value(&class)).then_some(class)
    }

    /// Whether a value has to do with what the program did.
    pub(super) fn is_of_program(&self, held: &Held<'_>) -> bool {
        let object = held.reference();
        held.origin.is_some()
            || object.is_some_and(|object| self.tag(&object).is_some_and(|tag| tag.of_program))
    }

    /// The program was given it, and may have changed it.
    pub(super) fn taint(&self, jni: &Jni<'_>, held: &Held<'_>) {
        let Some(object) = held.reference() else {
            return;
        };
        let class = self.class_of(jni, &object);
        if !is_plain_value(&class) {
            self.tagged(&object, true);
        }
    }

    /// A value that a step is given.
    pub(super) fn given(&self, jni: &Jni<'_>, held: &Held<'_>, letter: u8) -> Value {
        if let Some(variable) = held.origin {
            return variable.into();
        }
        match held.slot {
            JvmValue::Int(v) => integer(v, letter),
            JvmValue::Long(v) => Value::Long(v),
            JvmValue::Float(v) => Value::Float(v),
            JvmValue::Double(v) => Value::Double(v),
            JvmValue::Reference(None) | JvmValue::New(_) => Value::Reference(Reference::Null),
            JvmValue::Reference(Some(object)) => self.object(jni, &object),
        }
    }

    fn object(&self, jni: &Jni<'_>, object: &Local<'_>) -> Value {
        let class = self.class_of(jni, object);
        if let Some(literal) = self.literal(jni, object, &class) {
            return literal;
        }
        let path = self
            .tag(object)
            .is_none()
            .then(|| path(jni, object, &class));
        let tag = self.tagged(object, false);
        if let Some(path) = path.flatten() {
            self.writer.lock_safe().path(tag.id, &class, path);
        }
        if class.starts_with('[') && !self.writer.lock_safe().made.contains(&tag.id) {
            self.make_array(jni, object, &class, tag.id);
        }
        let mut writer = self.writer.lock_safe();
        let class = writer.class(&class);
        Variable { id: tag.id, class }.into()
    }

    /// A text, a boxed value or a class, written out.
    fn literal(&self, jni: &Jni<'_>, object: &Local<'_>, class: &str) -> Option<Value> {
        if class == "java/lang/String" {
            return Some(Value::Reference(Reference::String(
                jni.string_units(object),
            )));
        }
        if class == "java/lang/Class" {
            let signature = self.jvmti.class_signature(object).ok()?;
            let class = internal_name(&signature);
            let class = self.writer.lock_safe().class(class);
            return Some(Value::Reference(Reference::Class(class)));
        }
        let letter = Shape::boxed_by(class)?.code() as u8;
        let value = unboxed(jni, object, letter)?;
        let value = Held::passed(value);
        Some(Value::Reference(Reference::Boxed(Box::new(
            self.given(jni, &value, letter),
        ))))
    }

    /// A step that makes an array as it is now.
    fn make_array(&self, jni: &Jni<'_>, array: &Local<'_>, class: &str, id: ObjectId) {
        self.writer.lock_safe().made.insert(id);
        let length = jni.array_length(array);
        if length > MOST_ELEMENTS {
            self.make_long_array(jni, array, class, id);
            return;
        }
        let letter = class.as_bytes().get(1).copied().unwrap_or(b'L');
        let mut elements = Vec::with_capacity(length);
        let mut of_program = false;
        for at in 0..length {
            let place = HeapPlace::Element(id, at as i32);
            let origin = self.writer.lock_safe().places.get(&place).copied();
            let element = jni.with_frame(|jni| {
                let held = self.element(jni, array, class, at as i32).ok()?;
                let held = Held { origin, ..held };
                of_program |= self.is_of_program(&held);
                Some(self.given(jni, &held, letter))
            });
            let Ok(Some(element)) = element else {
                return;
            };
            elements.push(element);
        }
        if of_program {
            self.tagged(array, true);
        }
        self.writer.lock_safe().array(id, class, elements);
    }

    /// Steps that make an array which is too long to be written out: what is in it, if that is little.
    fn make_long_array(&self, jni: &Jni<'_>, array: &Local<'_>, class: &str, id: ObjectId) {
        let letter = class.as_bytes().get(1).copied().unwrap_or(b'L');
        let length = jni.array_length(array);
        let mut filled = Vec::new();
        for at in self.filled(jni, array, letter) {
            if filled.len() == MOST_ELEMENTS {
                return;
            }
            let element = jni.with_frame(|jni| {
                let held = self.element(jni, array, class, at as i32).ok()?;
                Some(self.given(jni, &held, letter))
            });
            let Ok(Some(element)) = element else {
                return;
            };
            filled.push((at, element));
        }
        let mut writer = self.writer.lock_safe();
        let made = Variable {
            id,
            class: writer.class(class),
        };
        let element = writer.class(internal_name(class.get(1..).unwrap_or_default()));
        let target = culprit_model::Member {
            owner: "java/lang/reflect/Array".to_owned(),
            name: "newInstance".to_owned(),
            descriptor: "(Ljava/lang/Class;I)Ljava/lang/Object;".to_owned(),
        };
        let given = vec![
            Value::Reference(Reference::Class(element)),
            Value::Int(length as i32),
        ];
        let end = StatementEnd::Returned(Some(made.into()));
        writer.call(target, true, given, end);
        let store = Operator::Store.of(element_shape(class));
        for (at, value) in filled {
            let given = vec![made.into(), Value::Int(at as i32), value];
            writer.operate_to(store, given, None);
        }
    }

    /// The places of an array that do not hold zero, false or null.
    fn filled(&self, jni: &Jni<'_>, array: &Local<'_>, letter: u8) -> Vec<usize> {
        let width = match letter {
            b'Z' | b'B' => 1,
            b'C' | b'S' => 2,
            b'I' | b'F' => 4,
            b'J' | b'D' => 8,
            _ => {
                let length = jni.array_length(array);
                let has = |at: &usize| {
                    jni.with_frame(|jni| matches!(jni.array_element(array, *at), Ok(Some(_))))
                };
                return (0..length).filter(|at| has(at).unwrap_or(false)).collect();
            }
        };
        let places = jni.with_elements(array, width, |bytes| {
            let elements = bytes.chunks_exact(width).enumerate();
            let filled = elements.filter(|(_, element)| element.iter().any(|byte| *byte != 0));
            filled.map(|(at, _)| at).take(MOST_ELEMENTS + 1).collect()
        });
        places.unwrap_or_default()
    }

    /// An element of an array.
    pub(super) fn element<'j>(
        &self,
        jni: &Jni<'j>,
        array: &Local<'_>,
        class: &str,
        at: i32,
    ) -> Result<Held<'j>, Local<'j>> {
        let given = [Passed::Reference(Some(*array)), Passed::Int(at)];
        let element = Operator::Element.of(element_shape(class));
        self.operate(jni, element, &given).map(Held::passed)
    }

    /// What a value that comes out of a step is to the driver: a variable if it is of the program, else what it is.
    /// The step says which.
    pub(super) fn result<'j>(
        &self,
        jni: &Jni<'_>,
        slot: JvmValue<'j>,
        descriptor: &str,
        of_program: bool,
    ) -> (Held<'j>, Value) {
        let letter = descriptor.as_bytes().first().copied().unwrap_or(b'V');
        let class = match slot {
            JvmValue::Reference(Some(object)) => self.class_of(jni, &object),
            _ => internal_name(descriptor).to_owned(),
        };
        if let JvmValue::Reference(Some(object)) = slot
            && !is_plain_value(&class)
        {
            let tag = self.tagged(&object, of_program);
            let mut writer = self.writer.lock_safe();
            if class.starts_with('[') {
                writer.made.insert(tag.id);
            }
            let class = writer.class(&class);
            let variable = Variable { id: tag.id, class };
            return (Held::new(slot), variable.into());
        }
        let held = Held::new(slot);
        if !of_program {
            let value = self.given(jni, &held, letter);
            return (held, value);
        }
        let variable = self.writer.lock_safe().variable(&class);
        (Held::with(slot, Some(variable)), variable.into())
    }
}

/// Texts, boxed values and classes are what they say.
pub(super) fn is_plain_value(class: &str) -> bool {
    class == "java/lang/String" || class == "java/lang/Class" || Shape::boxed_by(class).is_some()
}

/// Whether a class belongs to what runs tests, or asserts in them.
pub(super) fn is_assertion(owner: &str) -> bool {
    Owner::of(owner).runs_or_asserts()
}

/// Whether calls to a class are calls into the program.
pub(super) fn is_program(class: &str) -> bool {
    !is_jdk_name(class) && !class.starts_with('[')
}

/// The shape of the elements of a class of arrays.
pub(super) fn element_shape(class: &str) -> Shape {
    let element = class.strip_prefix('[').and_then(Shape::of);
    element.unwrap_or(Shape::Reference)
}

fn integer(value: i32, letter: u8) -> Value {
    match letter {
        b'Z' => Value::Boolean(value & 1 != 0),
        b'B' => Value::Byte(value as i8),
        b'C' => Value::Char(value as u16),
        b'S' => Value::Short(value as i16),
        _ => Value::Int(value),
    }
}

/// The text of a path. A path that no step has made comes from the framework around the driver, such as one of `@TempDir`.
pub(super) fn path(jni: &Jni<'_>, object: &Local<'_>, class: &str) -> Option<Vec<u16>> {
    if ![FILE, "sun/nio/fs/UnixPath"].contains(&class) {
        return None;
    }
    let text = jni.with_frame(|jni| {
        let class = jni.object_class(object);
        let print = jni
            .method(&class, "toString", "()Ljava/lang/String;")
            .ok()?;
        let text = jni.call_object(object, print, &[]).ok()??;
        Some(jni.string_units(&text))
    });
    text.ok().flatten()
}

/// What is in a box.
pub(super) fn unboxed<'j>(jni: &Jni<'j>, object: &Local<'_>, letter: u8) -> Option<Passed<'j>> {
    let class = jni.object_class(object);
    let descriptor = char::from(letter).to_string();
    let value = jni.get_field(object, &class, "value", &descriptor).ok();
    // SAFETY: the reference was made here, and what was read is no reference.
    unsafe { jni.delete(class) };
    value
}

#[cfg(test)]
mod tests {
    use super::super::script_writer::may_be_expected_to_throw;

    #[test]
    fn no_test_expects_its_own_assertions_to_throw() {
        for (owner, expect) in [
            ("shop/Cart", true),
            ("java/util/List", true),
            ("org/mockito/Mockito", true),
            ("java/io/PrintStream", false),
            ("org/junit/Assert", false),
            ("junit/framework/TestCase", false),
            ("org/testng/Assert", false),
            // Not recognised before the lists of prefixes became one table.
            ("org/assertj/core/api/AbstractAssert", false),
            ("com/google/common/truth/Subject", false),
            ("org/hamcrest/MatcherAssert", false),
            ("kotlin/test/AssertionsKt", false),
            ("org/spockframework/runtime/SpockRuntime", false),
        ] {
            let target = culprit_model::Member {
                owner: owner.to_owned(),
                name: "isEqualTo".to_owned(),
                descriptor: "()V".to_owned(),
            };
            assert_eq!(may_be_expected_to_throw(&target), expect, "{owner}");
        }
    }
}
