//! Values of a scenario as values of the JVM: strings, boxes, constants and classes by what they
//! are, objects by their identity, and a stand-in for each that has none yet.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::observe::is_jdk_name;
use culprit_model::value::{Contents, Shape};
use culprit_model::{EventKind, ObjectId, Reference, TypeId, Value};

use super::compare::{bytes, element, is_lambda, units};
use super::{Halt, Worker};
use crate::agent::Agent;
use crate::classes::{internal_name, plain_name};
use crate::lock::LockSafe;
use crate::operators::passed;

impl Worker {
    pub(super) fn value<'j>(&self, jni: &Jni<'j>, value: &Value) -> Result<Passed<'j>, Halt> {
        Ok(match value {
            Value::Reference(reference) => Passed::Reference(self.reference(jni, reference)?),
            scalar => passed(scalar),
        })
    }

    pub(super) fn reference<'j>(
        &self,
        jni: &Jni<'j>,
        reference: &Reference,
    ) -> Result<Option<Local<'j>>, Halt> {
        Ok(match reference {
            Reference::Null => None,
            Reference::Unknown => {
                let why = "a value that the recording does not hold: it was too large";
                return Err(Halt::Unsupported(why.to_owned()));
            }
            Reference::String(units) => Some(self.string(jni, units)?),
            Reference::StringBlob(id) => {
                let units = units(self.run.lock_safe().said.blob(*id).unwrap_or_default());
                Some(jni.new_string_units(&units)?)
            }
            Reference::Redacted => Some(jni.new_string(culprit_model::secret::MASK)?),
            Reference::Class(class) => Some(self.class(jni, *class)?),
            Reference::Enum { class, ordinal } => Some(self.constant(jni, *class, *ordinal)?),
            Reference::Boxed(value) => {
                let letter = value.shape().code() as u8;
                let value = self.value(jni, value)?;
                self.java()?.boxed(jni, letter, value)?
            }
            Reference::Object { id, class } => Some(self.object(jni, *id, *class)?),
            Reference::Constant { class, name } => Some(self.static_constant(jni, *class, name)?),
            Reference::Structure { .. } | Reference::Piece(_) => {
                return Err(Halt::Unsupported("a piece of a state, alone".to_owned()));
            }
            Reference::Array {
                id,
                class,
                length,
                contents,
            } => Some(self.array(jni, *id, *class, *length, contents)?),
        })
    }

    /// Strings of equal content are one, as constants of a program are.
    fn string<'j>(&self, jni: &Jni<'j>, units: &[u16]) -> Result<Local<'j>, Halt> {
        if let Some(known) = self.cache.string(units) {
            return Ok(jni.reuse(&known));
        }
        let string = jni.new_string_units(units)?;
        let class = jni.object_class(&string);
        let intern = jni.method(&class, "intern", "()Ljava/lang/String;")?;
        let same = jni.call_object(&string, intern, &[])?.unwrap_or(string);
        if self.cache.keeps(units) {
            self.cache.keep_string(units, jni.global(&same)?);
        }
        Ok(same)
    }

    /// The object that an id of the scenario stands for.
    fn object<'j>(&self, jni: &Jni<'j>, id: ObjectId, class: TypeId) -> Result<Local<'j>, Halt> {
        if let Some(object) = self.known(jni, id)? {
            return Ok(object);
        }
        let name = self.run.lock_safe().said.type_name(class).to_owned();
        let unfinished = {
            let mut run = self.run.lock_safe();
            let place = run.unfinished.iter().rposition(|(of, _)| *of == name);
            place.map(|place| run.unfinished.remove(place).1)
        };
        let java = self.java()?;
        if let Some(here) = unfinished {
            self.run.lock_safe().bindings.bind(id, here);
            if let Some(object) = java.object(jni, here)? {
                return Ok(object);
            }
        }
        let class = self.class(jni, class)?;
        let cannot =
            |_| Halt::Unsupported(format!("no stand-in for {} can be made", dotted(&name)));
        let object = jni.allocate(&class).map_err(cannot)?;
        let here = java.adopt(jni, &object)?;
        self.run.lock_safe().bindings.bind(id, here);
        Ok(object)
    }

    /// The internal name of the class of an object.
    pub(super) fn class_name(&self, jni: &Jni<'_>, object: &Local<'_>) -> String {
        let class = jni.object_class(object);
        let signature = self.jvmti.class_signature(&class).unwrap_or_default();
        plain_name(internal_name(&signature))
    }

    /// The object of this JVM that is bound to an id of the scenario.
    pub(super) fn known<'j>(&self, jni: &Jni<'j>, id: ObjectId) -> Result<Option<Local<'j>>, Halt> {
        let here = self.run.lock_safe().bindings.here(id);
        match here {
            Some(here) => self.java()?.object(jni, here),
            None => Ok(None),
        }
    }

    fn array<'j>(
        &self,
        jni: &Jni<'j>,
        id: ObjectId,
        class: TypeId,
        length: u32,
        contents: &Contents,
    ) -> Result<Local<'j>, Halt> {
        let name = self.run.lock_safe().said.type_name(class).to_owned();
        let shape =
            element(&name).ok_or_else(|| Halt::Unsupported(format!("{name} is no array")))?;
        let array = match self.known(jni, id)? {
            Some(array) => array,
            None => {
                let array = self.new_array(jni, class, length)?;
                let here = self.java()?.adopt(jni, &array)?;
                self.run.lock_safe().bindings.bind(id, here);
                array
            }
        };
        self.fill(jni, &array, &name, shape, contents)?;
        Ok(array)
    }

    /// A new array of a class, without an id.
    pub(super) fn new_array<'j>(
        &self,
        jni: &Jni<'j>,
        class: TypeId,
        length: u32,
    ) -> Result<Local<'j>, Halt> {
        let name = self.run.lock_safe().said.type_name(class).to_owned();
        Ok(match element(&name) {
            Some(Shape::Reference) => {
                let element = self.element_class(jni, class, &name)?;
                jni.new_object_array(length as usize, &element)?
            }
            Some(shape) => jni.new_array(length as usize, shape.code() as u8)?,
            None => return Err(Halt::Unsupported(format!("{name} is no array"))),
        })
    }

    /// What a static field of the JDK holds.
    fn static_constant<'j>(
        &self,
        jni: &Jni<'j>,
        class: TypeId,
        name: &str,
    ) -> Result<Local<'j>, Halt> {
        let class = self.class(jni, class)?;
        let missing = || Halt::Unsupported(format!("this JDK has no constant {name}"));
        let constant = self.java()?.constant(jni, &class, name)?;
        constant.ok_or_else(missing)
    }

    /// Makes the contents of an array what the scenario says they are.
    fn fill(
        &self,
        jni: &Jni<'_>,
        array: &Local<'_>,
        class: &str,
        shape: Shape,
        contents: &Contents,
    ) -> Result<(), Halt> {
        let (from, known) = match contents {
            Contents::Unknown => return Ok(()),
            Contents::Part { from, known } => (*from as usize, &**known),
            whole => (0, whole),
        };
        if let Some(width) = shape.width() {
            let bytes = {
                let run = self.run.lock_safe();
                bytes(known, |id| run.said.blob(id))
            };
            jni.fill(array, width, from, &bytes)?;
            return Ok(());
        }
        let Contents::Elements(elements) = known else {
            return Ok(());
        };
        for (i, element) in elements.iter().enumerate() {
            let set = jni.with_frame(|jni| -> Result<(), Halt> {
                let Passed::Reference(element) = self.value(jni, element)? else {
                    return Ok(());
                };
                jni.set_element(array, from + i, element.as_ref())
                    .map_err(|_| Halt::Unsupported(format!("an element of {class} does not fit")))
            });
            set.map_err(Halt::from)??;
        }
        Ok(())
    }

    /// Makes an element of a shared array what observed code is about to find there.
    pub(super) fn set_element(
        &self,
        agent: &Agent,
        jni: &Jni<'_>,
        array: &Local<'_>,
        index: i32,
    ) -> Result<(), Halt> {
        self.catch_up(agent, jni)?;
        let Some(step) = self
            .turn()?
            .filter(|step| step.kind == EventKind::ArrayRead)
        else {
            return Ok(());
        };
        let [
            Value::Reference(Reference::Array { id, class, .. }),
            Value::Int(at),
            value,
        ] = step.values.as_slice()
        else {
            return Ok(());
        };
        let here = self.java()?.adopt(jni, array)?;
        if *at != index || !self.run.lock_safe().bindings.same(*id, here) {
            // The comparison that follows says so.
            return Ok(());
        }
        let known = Contents::Part {
            from: index as u32,
            known: Box::new(Contents::Elements(vec![value.clone()])),
        };
        let name = self.run.lock_safe().said.type_name(*class).to_owned();
        let Some(shape) = element(&name) else {
            return Ok(());
        };
        jni.with_frame_of(64, |jni| self.fill(jni, array, &name, shape, &known))
            .map_err(Halt::from)?
    }

    fn element_class<'j>(
        &self,
        jni: &Jni<'j>,
        class: TypeId,
        name: &str,
    ) -> Result<Local<'j>, Halt> {
        let loader = self
            .run
            .lock_safe()
            .said
            .class(class)
            .map_or(0, |c| c.loader);
        let element = name.strip_prefix('[').unwrap_or(name);
        let element = element
            .strip_prefix('L')
            .and_then(|e| e.strip_suffix(';'))
            .unwrap_or(element);
        self.class_named(jni, element, loader)
    }

    /// The class that a type of the scenario is.
    pub(super) fn class<'j>(&self, jni: &Jni<'j>, class: TypeId) -> Result<Local<'j>, Halt> {
        if let Some(known) = self.cache.class(class) {
            return Ok(jni.reuse(&known));
        }
        let (name, loader) = {
            let run = self.run.lock_safe();
            let undefined = || Halt::Unsupported(format!("{class} is not defined"));
            let class = run.said.class(class).ok_or_else(undefined)?;
            (class.name.clone(), class.loader)
        };
        let found = self.class_named(jni, &name, loader)?;
        self.cache.keep_class(class, jni.global(&found)?);
        Ok(found)
    }

    /// A class by its internal name; not initialised.
    pub(super) fn class_named<'j>(
        &self,
        jni: &Jni<'j>,
        name: &str,
        loader: u32,
    ) -> Result<Local<'j>, Halt> {
        let java = self.java()?;
        let letter = match name {
            "void" => Some(b'V'),
            _ => Shape::named(name).map(|shape| shape.code() as u8),
        };
        if let Some(letter) = letter
            && let Some(class) = java.primitive(jni, letter)
        {
            return Ok(class);
        }
        let plain = name.trim_start_matches('[');
        let plain = match plain.len() < name.len() {
            true => plain.strip_prefix('L').and_then(|p| p.strip_suffix(';')),
            false => Some(plain),
        };
        // Proxies are made at run time, in packages of the JDK.
        let of_jdk = plain.is_none_or(|plain| is_jdk_name(plain) && !self.subject.has(plain));
        let found = if of_jdk {
            java.class(jni, name, None)?
        } else if plain.is_some_and(|plain| is_jdk_name(plain) && is_lambda(plain)) {
            Some(self.lambda_of_jdk(jni, name, loader)?)
        } else {
            let number = self.subject.loader_of(loader, plain.unwrap_or(name));
            let loader = self.subject.loader(jni, java, number.unwrap_or(loader))?;
            java.class(jni, name, Some(&loader))?
        };
        found.ok_or_else(|| {
            Halt::Unsupported(format!("the recording has no class {}", dotted(name)))
        })
    }

    /// A stub for a lambda of the JDK that came from outside: no loader but the JVM's own may have it.
    fn lambda_of_jdk<'j>(&self, jni: &Jni<'j>, name: &str, loader: u32) -> Result<Local<'j>, Halt> {
        let java = self.java()?;
        if let Ok(Some(known)) = java.class(jni, name, None) {
            return Ok(known);
        }
        let number = self.subject.loader_of(loader, name).unwrap_or(loader);
        let cannot = |error: culprit_weave::Error| Halt::Unsupported(error.to_string());
        let bytes = self
            .subject
            .bytes(jni, java, number, name)
            .map_err(cannot)?;
        Ok(jni.define_class(name, None, &bytes)?)
    }

    /// A constant of an enum. Those of an external one are made here: its stub has none.
    fn constant<'j>(&self, jni: &Jni<'j>, class: TypeId, ordinal: u32) -> Result<Local<'j>, Halt> {
        let name = self.run.lock_safe().said.type_name(class).to_owned();
        let enum_class = self.class(jni, class)?;
        if let Some(constants) = self.subject.constants(&name) {
            return self.stub_constant(jni, &name, &enum_class, &constants, ordinal);
        }
        let constant = {
            let run = self.run.lock_safe();
            let class = run.said.class(class);
            class.and_then(|class| class.constants.get(ordinal as usize).cloned())
        };
        // By its name, since asking the class would run code of the enum.
        let constant = constant.unwrap_or_default();
        match jni.get_static_field(&enum_class, &constant, &format!("L{name};")) {
            Ok(Passed::Reference(Some(constant))) => Ok(constant),
            _ => {
                let name = dotted(&name);
                Err(Halt::Unsupported(format!(
                    "{name} has no constant {constant}"
                )))
            }
        }
    }

    /// All constants of an external enum, in an array of it.
    pub(super) fn constants<'j>(
        &self,
        jni: &Jni<'j>,
        class: &Local<'_>,
    ) -> Result<Local<'j>, Halt> {
        let signature = self.jvmti.class_signature(class)?;
        let name = internal_name(&signature).to_owned();
        let names = self.subject.constants(&name).unwrap_or_default();
        let array = jni.new_object_array(names.len(), class)?;
        for ordinal in 0..names.len() {
            let set = jni.with_frame(|jni| -> Result<(), Halt> {
                let constant = self.stub_constant(jni, &name, class, &names, ordinal as u32)?;
                let fits = jni.set_element(&array, ordinal, Some(&constant));
                fits.map_err(|_| Halt::Unsupported(format!("{} is no enum", dotted(&name))))
            });
            set.map_err(Halt::from)??;
        }
        Ok(array)
    }

    fn stub_constant<'j>(
        &self,
        jni: &Jni<'j>,
        name: &str,
        class: &Local<'_>,
        constants: &[String],
        ordinal: u32,
    ) -> Result<Local<'j>, Halt> {
        let none = || Halt::Unsupported(format!("{} has no constant {ordinal}", dotted(name)));
        let constant = constants.get(ordinal as usize).ok_or_else(none)?;
        let descriptor = format!("L{name};");
        if let Ok(Passed::Reference(Some(known))) =
            jni.get_static_field(class, constant, &descriptor)
        {
            return Ok(known);
        }
        let made = jni.allocate(class)?;
        let base = jni.find_class("java/lang/Enum")?;
        let text = Passed::Reference(Some(jni.new_string(constant)?));
        jni.set_field(&made, &base, "name", "Ljava/lang/String;", &text)?;
        jni.set_field(&made, &base, "ordinal", "I", &Passed::Int(ordinal as i32))?;
        let value = Passed::Reference(Some(made));
        jni.set_static_field(class, constant, &descriptor, &value)?;
        Ok(made)
    }
}

fn dotted(name: &str) -> String {
    name.replace('/', ".")
}
