//! Accesses of fields. A field of the driver keeps the origin of the value that the driver put there; an
//! access of any other field becomes a statement, and so does that of an object that the program put there.

use culprit_jvmti::{Jni, Local};
use culprit_model::Member;
use culprit_weave::follow::HelperMethod;

use super::naming::{is_plain_value, is_program, path};
use super::operations::{OperationResult, letter};
use super::script_writer::{HeapPlace, is_full};
use super::value::{Held, JvmValue};
use super::{Followed, Following};
use crate::lock::LockSafe;

impl Following {
    /// Reads a field, static if there is no object.
    pub(super) fn read<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        target: Member,
        helper: &HelperMethod,
        object: Option<Held<'j>>,
    ) -> OperationResult<'j> {
        let given: Vec<Held<'j>> = object.iter().cloned().collect();
        let slot = Held::passed(self.perform(jni, followed, helper, &given)?).slot;
        if self.keeps_field(&target.owner, object.is_none()) {
            let place = self.place(object.as_ref(), &target);
            let origin =
                place.and_then(|place| self.writer.lock_safe().places.get(&place).copied());
            let is_injected = origin.is_none()
                && (object.as_ref()).is_some_and(|object| self.is_injected(jni, &slot, object));
            if !is_injected {
                return Ok(Held::with(slot, origin));
            }
        }
        if !self.is_noting() {
            return Ok(Held::new(slot));
        }
        let of_program = is_program(&target.owner)
            || object
                .as_ref()
                .is_some_and(|object| self.is_of_program(object));
        let on = object.as_ref().map(|object| self.given(jni, object, b'L'));
        let (held, value) = self.result(jni, slot, &target.descriptor, of_program);
        self.writer.lock_safe().read(target, on, value);
        Ok(held)
    }

    /// Writes a field, static if there is no object.
    pub(super) fn write<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        target: Member,
        helper: &HelperMethod,
        object: Option<Held<'j>>,
        value: Held<'j>,
    ) -> Result<(), Local<'j>> {
        let letter = letter(&target.descriptor);
        if self.keeps_field(&target.owner, object.is_none()) {
            let place = self.place(object.as_ref(), &target);
            if let Some(place) = place {
                let places = &mut self.writer.lock_safe().places;
                match value.origin.filter(|_| !is_full()) {
                    Some(origin) => places.insert(place, origin),
                    None => places.remove(&place),
                };
            }
        }
        // Only here may a field be final, which no other method can set.
        let initialises = matches!(followed.method.name.as_str(), "<init>" | "<clinit>")
            && target.owner == followed.class;
        if let (true, Some(class)) = (initialises, followed.loaded.get()) {
            let class = class.local(jni);
            let passed = value.to_pass(letter);
            let (name, descriptor) = (&target.name, &target.descriptor);
            let done = match object.as_ref().map(Held::reference) {
                None => jni.set_static_field(&class, name, descriptor, &passed),
                Some(Some(object)) => jni.set_field(&object, &class, name, descriptor, &passed),
                Some(None) => Err(culprit_jvmti::Error::Jni {
                    call: "SetField",
                    what: "null".to_owned(),
                }),
            };
            if done.is_ok() {
                return Ok(());
            }
        }
        let given: Vec<Held<'j>> = object.iter().cloned().chain([value.clone()]).collect();
        self.perform(jni, followed, helper, &given)?;
        if self.is_noting() && !self.keeps_field(&target.owner, object.is_none()) {
            let on = object.as_ref().map(|object| self.given(jni, object, b'L'));
            let value = self.given(jni, &value, letter);
            self.writer.lock_safe().write(target, on, value);
        }
        Ok(())
    }

    /// True if a field of the driver's object holds one that the driver has never met, and the program was given the
    /// driver's object: it has put the other one there, as libraries for dependency injection do.
    fn is_injected(&self, jni: &Jni<'_>, slot: &JvmValue<'_>, object: &Held<'_>) -> bool {
        let JvmValue::Reference(Some(found)) = slot else {
            return false;
        };
        if !self.is_of_program(object) || self.tag(found).is_some() {
            return false;
        }
        let class = self.class_of(jni, found);
        let is_written_out =
            class.starts_with('[') || is_plain_value(&class) || path(jni, found, &class).is_some();
        !is_written_out
    }

    fn place(&self, object: Option<&Held<'_>>, target: &Member) -> Option<HeapPlace> {
        match object {
            None => Some(HeapPlace::Static(target.owner.clone(), target.name.clone())),
            Some(object) => {
                let object = object.reference()?;
                let id = self.tagged(&object, false).id;
                Some(HeapPlace::Field(id, target.name.clone()))
            }
        }
    }
}
