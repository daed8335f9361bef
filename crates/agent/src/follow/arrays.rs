//! Elements and lengths of arrays. An array that no statement makes is the driver's own, and its elements keep
//! the origins of the values that the driver put there; an access of any other array becomes a statement.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::script::Operator;
use culprit_model::value::Shape;

use super::Following;
use super::naming::{element_shape, is_plain_value};
use super::operations::OperationResult;
use super::script_writer::{HeapPlace, is_full};
use super::value::Held;
use crate::lock::LockSafe;

impl Following {
    /// `array[at]`
    pub(super) fn get<'j>(
        &self,
        jni: &Jni<'j>,
        array: &Held<'j>,
        at: &Held<'j>,
        plain: &str,
    ) -> OperationResult<'j> {
        let Some(object) = array.reference() else {
            let given = [Passed::Reference(None), Passed::Int(at.as_int())];
            let element = Operator::Element.of(element_shape(plain));
            let done = self.operate(jni, element, &given);
            if let Err(thrown) = &done {
                self.note_failed(jni, element, &[array, at], thrown);
            }
            return done.map(Held::passed);
        };
        let class = self.class_of(jni, &object);
        let element = Operator::Element.of(element_shape(&class));
        let found = self.element(jni, &object, &class, at.as_int());
        if let Err(thrown) = &found {
            self.note_failed(jni, element, &[array, at], thrown);
        }
        let found = found?;
        let tag = self.tag(&object);
        let place = tag.map(|tag| HeapPlace::Element(tag.id, at.as_int()));
        let of_program = tag.is_some_and(|tag| tag.of_program) || at.origin.is_some();
        let is_object = found
            .reference()
            .map(|object| (self.class_of(jni, &object), self.tag(&object)));
        let needs_step = match &is_object {
            Some((class, tag)) if !is_plain_value(class) => tag.is_none(),
            _ => of_program,
        };
        if !self.is_noting() || !needs_step {
            let origin =
                place.and_then(|place| self.writer.lock_safe().places.get(&place).copied());
            return Ok(Held::with(found.slot, origin.filter(|_| !of_program)));
        }
        let given = vec![self.given(jni, array, b'L'), self.given(jni, at, b'I')];
        let (held, value) = self.result(
            jni,
            found.slot,
            class.get(1..).unwrap_or_default(),
            of_program,
        );
        let mut writer = self.writer.lock_safe();
        writer.operate_to(element, given, Some(value));
        Ok(held)
    }

    /// `array[at] = value`
    pub(super) fn put<'j>(
        &self,
        jni: &Jni<'j>,
        array: &Held<'j>,
        at: &Held<'j>,
        value: &Held<'j>,
        plain: &str,
    ) -> Result<(), Local<'j>> {
        let class = array.reference().map(|object| self.class_of(jni, &object));
        let class = class.unwrap_or_else(|| plain.to_owned());
        let shape = element_shape(&class);
        let store = Operator::Store.of(shape);
        let passed = [
            array.to_pass(b'L'),
            at.to_pass(b'I'),
            value.to_pass(shape.code() as u8),
        ];
        if let Err(thrown) = self.operate(jni, store, &passed) {
            self.note_failed(jni, store, &[array, at, value], &thrown);
            return Err(thrown);
        }
        let Some(object) = array.reference() else {
            return Ok(());
        };
        let tag = self.tag(&object);
        let is_made = tag.is_some_and(|tag| self.writer.lock_safe().made.contains(&tag.id));
        if self.is_noting() && is_made {
            let given = vec![
                self.given(jni, array, b'L'),
                self.given(jni, at, b'I'),
                self.given(jni, value, shape.code() as u8),
            ];
            self.writer.lock_safe().operate_to(store, given, None);
            if value.origin.is_some() {
                self.tagged(&object, true);
            }
        } else if value.origin.is_some() || tag.is_some() {
            let id = self.tagged(&object, false).id;
            let place = HeapPlace::Element(id, at.as_int());
            let places = &mut self.writer.lock_safe().places;
            match value.origin.filter(|_| !is_full()) {
                Some(origin) => places.insert(place, origin),
                None => places.remove(&place),
            };
        }
        Ok(())
    }

    /// `array.length`
    pub(super) fn length<'j>(&self, jni: &Jni<'j>, array: &Held<'j>) -> OperationResult<'j> {
        let operation = Operator::Length.of(Shape::Reference);
        let length = self.operate(jni, operation, &[array.to_pass(b'L')]);
        if let Err(thrown) = &length {
            self.note_failed(jni, operation, &[array], thrown);
        }
        let length = Held::passed(length?);
        if !self.is_noting() || !self.is_of_program(array) {
            return Ok(length);
        }
        let given = vec![self.given(jni, array, b'L')];
        let origin = self.writer.lock_safe().operate(operation, given);
        Ok(Held::with(length.slot, Some(origin)))
    }
}
