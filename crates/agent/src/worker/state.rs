//! States of objects that came from outside: a replay has empty ones until live library code is to
//! look into them. Then the scenario tells what is in them.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::value::{Contents, Shape};
use culprit_model::{EventKind, Member, Reference, Step, TypeId, Value};

use super::compare::{bytes, element};
use super::{Halt, Worker};
use crate::agent::Agent;
use crate::lock::LockSafe;

impl Worker {
    /// Fills the object that is about to be told, if the scenario says with what.
    pub(super) fn fill_state(
        &self,
        agent: &Agent,
        jni: &Jni<'_>,
        object: &Local<'_>,
    ) -> Result<(), Halt> {
        self.catch_up(agent, jni)?;
        let step = loop {
            match self.turn()? {
                None => return Ok(()),
                Some(step) if step.kind == EventKind::Born => {
                    self.comes_to_know(jni, &step)?;
                    self.run.lock_safe().take();
                }
                Some(step) => break step,
            }
        };
        let (EventKind::ObjectState, Some((told, pieces))) = (step.kind, step.values.split_first())
        else {
            return Ok(());
        };
        let Value::Reference(Reference::Object { id, .. }) = told else {
            return Ok(());
        };
        let here = self.java()?.adopt(jni, object)?;
        if !self.run.lock_safe().bindings.same(*id, here) {
            // The comparison that follows says so.
            return Ok(());
        }
        self.fill_pieces(jni, object, pieces)
    }

    /// An observed object comes in that no event has named: the executor makes or finds it, so nothing is
    /// told of it here. Whether the step is of that kind.
    pub(super) fn comes_to_know(&self, jni: &Jni<'_>, step: &Step) -> Result<bool, Halt> {
        match step.kind {
            EventKind::ObjectState => self.arrive(jni, &step.values)?,
            EventKind::Born => {
                let found = jni.with_frame_of(64, |jni| self.find_born(jni, step));
                found.map_err(Halt::from)??;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Names the object that an observed constructor made.
    fn find_born(&self, jni: &Jni<'_>, step: &Step) -> Result<(), Halt> {
        let (Some(Value::Reference(Reference::Object { id, class })), Some((thread, number))) =
            (step.values.first(), step.birth())
        else {
            return Ok(());
        };
        let java = self.java()?;
        if let Some(object) = java.born(jni, thread, number)? {
            let here = java.adopt(jni, &object)?;
            self.run.lock_safe().bindings.bind(*id, here);
            return Ok(());
        }
        let mut run = self.run.lock_safe();
        let name = run.said.type_name(*class).replace('/', ".");
        let why = format!("object {number} of {thread}, of {name}, was not made this time");
        run.diverge(None, why);
        Err(Halt::Ended)
    }

    fn arrive(&self, jni: &Jni<'_>, values: &[Value]) -> Result<(), Halt> {
        if let Some((Value::Reference(told), pieces)) = values.split_first() {
            let arrived = jni.with_frame_of(64, |jni| -> Result<(), Halt> {
                match self.reference(jni, told)? {
                    Some(object) => self.fill_pieces(jni, &object, pieces),
                    None => Ok(()),
                }
            });
            arrived.map_err(Halt::from)??;
        }
        Ok(())
    }

    fn fill_pieces(&self, jni: &Jni<'_>, object: &Local<'_>, pieces: &[Value]) -> Result<(), Halt> {
        let room = i32::try_from(pieces.len())
            .unwrap_or(i32::MAX)
            .saturating_add(64);
        jni.with_frame_of(room, |jni| -> Result<(), Halt> {
            let mut objects = vec![*object];
            for piece in pieces.iter().skip(1) {
                objects.push(self.piece(jni, piece)?);
            }
            for (object, piece) in objects.iter().zip(pieces) {
                let filled = jni.with_frame(|jni| self.fill_piece(jni, object, piece, &objects));
                filled.map_err(Halt::from)??;
            }
            Ok(())
        })?
    }

    /// An empty piece.
    fn piece<'j>(&self, jni: &Jni<'j>, piece: &Value) -> Result<Local<'j>, Halt> {
        match piece {
            Value::Reference(Reference::Structure { class, .. }) => {
                let class = self.class(jni, *class)?;
                Ok(jni.allocate(&class)?)
            }
            Value::Reference(Reference::Array { class, length, .. }) => {
                self.new_array(jni, *class, *length)
            }
            _ => Err(Halt::Unsupported("a state that makes no sense".to_owned())),
        }
    }

    fn fill_piece(
        &self,
        jni: &Jni<'_>,
        object: &Local<'_>,
        piece: &Value,
        pieces: &[Local<'_>],
    ) -> Result<(), Halt> {
        match piece {
            Value::Reference(Reference::Structure { class, fields }) => {
                let declared = self.fields(*class);
                for (field, value) in declared.iter().zip(fields) {
                    let set =
                        jni.with_frame(|jni| self.fill_field(jni, object, field, value, pieces));
                    set.map_err(Halt::from)??;
                }
                Ok(())
            }
            Value::Reference(Reference::Array {
                class, contents, ..
            }) => self.fill_array(jni, object, *class, contents, pieces),
            _ => Ok(()),
        }
    }

    fn fields(&self, class: TypeId) -> Vec<Member> {
        let run = self.run.lock_safe();
        let class = run.said.class(class);
        class.map(|class| class.fields.clone()).unwrap_or_default()
    }

    fn fill_field(
        &self,
        jni: &Jni<'_>,
        object: &Local<'_>,
        field: &Member,
        value: &Value,
        pieces: &[Local<'_>],
    ) -> Result<(), Halt> {
        let class = self.class_named(jni, &field.owner, 0)?;
        let value = self.held(jni, value, pieces)?;
        jni.set_field(object, &class, &field.name, &field.descriptor, &value)?;
        Ok(())
    }

    fn fill_array(
        &self,
        jni: &Jni<'_>,
        array: &Local<'_>,
        class: TypeId,
        contents: &Contents,
        pieces: &[Local<'_>],
    ) -> Result<(), Halt> {
        let name = self.run.lock_safe().said.type_name(class).to_owned();
        let shape = element(&name).unwrap_or(Shape::Reference);
        if let Some(width) = shape.width() {
            let bytes = {
                let run = self.run.lock_safe();
                bytes(contents, |id| run.said.blob(id))
            };
            return Ok(jni.fill(array, width, 0, &bytes)?);
        }
        let Contents::Elements(elements) = contents else {
            return Ok(());
        };
        for (i, element) in elements.iter().enumerate() {
            let set = jni.with_frame(|jni| -> Result<(), Halt> {
                let Passed::Reference(element) = self.held(jni, element, pieces)? else {
                    return Ok(());
                };
                let fits = jni.set_element(array, i, element.as_ref());
                fits.map_err(|_| Halt::Unsupported(format!("an element of {name} does not fit")))
            });
            set.map_err(Halt::from)??;
        }
        Ok(())
    }

    /// What a piece holds: another piece, or a value as any.
    fn held<'j>(
        &self,
        jni: &Jni<'j>,
        value: &Value,
        pieces: &[Local<'j>],
    ) -> Result<Passed<'j>, Halt> {
        match value {
            Value::Reference(Reference::Piece(number)) => {
                let piece = pieces.get(*number as usize).copied();
                Ok(Passed::Reference(piece))
            }
            value => self.value(jni, value),
        }
    }
}
