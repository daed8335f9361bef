//! Makes objects by recipes: each object once, before the objects that contain it.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::{Builder, MemberName};
use culprit_model::value::{Contents, Shape, split_descriptor};
use culprit_model::{ObjectId, Reference, Value};

use super::items::Item;
use super::state_piece::{StatePiece, integer};
use super::{Recipe, RecipeSources, constants, recipe};
use crate::Statement;

/// Objects nested deeper are not made.
const DEEPEST: usize = 100;

/// The identity of an object in the recording.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ObjectKey {
    Object(ObjectId),
    Piece(ObjectId, u32),
}

pub(super) struct ObjectMaker<'a, 'b> {
    builder: &'b mut Builder,
    sources: RecipeSources<'a>,
    pub(super) statements: Vec<Statement>,
    /// What is made, or being made.
    begun: BTreeMap<ObjectKey, Value>,
    /// Objects that the statements make.
    ready: BTreeSet<ObjectId>,
    depth: usize,
}

impl<'a, 'b> ObjectMaker<'a, 'b> {
    pub(super) fn new(builder: &'b mut Builder, sources: RecipeSources<'a>) -> ObjectMaker<'a, 'b> {
        ObjectMaker {
            builder,
            sources,
            statements: Vec::new(),
            begun: BTreeMap::new(),
            ready: BTreeSet::new(),
            depth: 0,
        }
    }

    /// What a statement can be given for a value that is held: made, if it is not there yet.
    pub(super) fn give(&mut self, held: StatePiece<'a>, value: &Value) -> Option<Value> {
        let Value::Reference(reference) = value else {
            return Some(value.clone());
        };
        match reference {
            Reference::Null
            | Reference::String(_)
            | Reference::StringBlob(_)
            | Reference::Class(_)
            | Reference::Boxed(_) => Some(value.clone()),
            Reference::Redacted | Reference::Unknown | Reference::Structure { .. } => None,
            Reference::Enum { class, ordinal } => {
                let constants = &self.type_def(*class)?.constants;
                let name = constants.get(*ordinal as usize).cloned();
                constants::give(self, *class, &name.unwrap_or_default(), value)
            }
            Reference::Constant { class, name } => constants::give(self, *class, name, value),
            Reference::Object { id, .. } if self.sources.made.contains(id) => Some(value.clone()),
            Reference::Array {
                id,
                contents: Contents::Unknown,
                ..
            } if self.sources.made.contains(id) => Some(value.clone()),
            Reference::Object { id, class } => {
                let told = StatePiece::object(self.sources, *id, *class)?;
                self.place(ObjectKey::Object(*id), told, |_| value.clone())
            }
            Reference::Array {
                id,
                class,
                length,
                contents,
            } => {
                let contents = self.contents(held, contents)?;
                let id = if id.0 == 0 { self.builder.fresh() } else { *id };
                Some(Value::Reference(Reference::Array {
                    id,
                    class: *class,
                    length: *length,
                    contents,
                }))
            }
            Reference::Piece(number) => self.give_piece(held, *number),
        }
    }

    fn give_piece(&mut self, held: StatePiece<'a>, number: u32) -> Option<Value> {
        let place = ObjectKey::Piece(held.of(), number);
        match held.piece(number)? {
            array @ Value::Reference(Reference::Array { .. }) => {
                if let Some(made) = self.begun.get(&place) {
                    return Some(made.clone());
                }
                let made = self.give(held, array)?;
                self.begun.insert(place, made.clone());
                Some(made)
            }
            structure => {
                let told = held.look(structure)?;
                self.place(place, told, |builder| builder.variable(told.class()))
            }
        }
    }

    fn contents(&mut self, held: StatePiece<'a>, contents: &Contents) -> Option<Contents> {
        match contents {
            Contents::Elements(elements) => {
                let given = elements.iter().map(|element| self.give(held, element));
                Some(Contents::Elements(given.collect::<Option<_>>()?))
            }
            Contents::Blob(blob) => Some(Contents::Blob(*blob)),
            Contents::Unknown | Contents::Part { .. } => None,
        }
    }

    /// The object that was told in a place. While it is made it can be given from when it is there.
    fn place(
        &mut self,
        place: ObjectKey,
        told: StatePiece<'a>,
        name: impl FnOnce(&mut Builder) -> Value,
    ) -> Option<Value> {
        if let Some(begun) = self.begun.get(&place) {
            let is_ready = object(begun).is_some_and(|id| self.ready.contains(&id));
            return is_ready.then(|| begun.clone());
        }
        let recipe = recipe(told.class())?;
        if self.depth == DEEPEST {
            return None;
        }
        let made = name(self.builder);
        self.begun.insert(place, made.clone());
        self.depth += 1;
        let done = self.follow(recipe, told, &made);
        self.depth -= 1;
        done.map(|()| made)
    }

    fn follow(&mut self, recipe: Recipe, held: StatePiece<'a>, made: &Value) -> Option<()> {
        match recipe {
            Recipe::Of(target, fields) => self.of(target, held, fields, made),
            Recipe::When(values, target, fields) => {
                let is_so = |(field, value): &(&str, i64)| held.int(field) == Some(*value);
                values.iter().all(is_so).then_some(())?;
                self.of(target, held, fields, made)
            }
            Recipe::On(target, fields) => {
                let (receiver, fields) = fields.split_first()?;
                let receiver = self.field(held, receiver)?;
                let given = self.fields(target, held, fields)?;
                self.send(target, &receiver, given, Some(made))
            }
            Recipe::Fill(items, by) => {
                self.make(&format!("{}.<init>()V", held.class()), vec![], made)?;
                self.fill(&format!("{}.{by}", held.class()), made, items(held)?)
            }
            Recipe::Field(owner, name, descriptor) => {
                self.read(MemberName::of(owner, name, descriptor), made)
            }
            Recipe::By(by) => by(self, held, made),
        }
    }

    /// Whether a value is an object that a recipe is being followed for.
    pub(super) fn is_being_made(&self, held: StatePiece<'a>, value: &Value) -> bool {
        let place = match value {
            Value::Reference(Reference::Object { id, .. }) => ObjectKey::Object(*id),
            Value::Reference(Reference::Piece(number)) => ObjectKey::Piece(held.of(), *number),
            _ => return false,
        };
        let begun = self.begun.get(&place).and_then(object);
        begun.is_some_and(|id| !self.ready.contains(&id))
    }

    /// A constructor or static method is given fields.
    pub(super) fn of(
        &mut self,
        target: &str,
        held: StatePiece<'a>,
        fields: &[&str],
        made: &Value,
    ) -> Option<()> {
        let given = self.fields(target, held, fields)?;
        self.make(target, given, made)
    }

    /// Fields, as the parameters of a method want them.
    fn fields(
        &mut self,
        target: &str,
        held: StatePiece<'a>,
        fields: &[&str],
    ) -> Option<Vec<Value>> {
        let (parameters, _) = split_descriptor(parts(target)?.descriptor)?;
        let mut given = Vec::with_capacity(fields.len());
        for (field, parameter) in fields.iter().zip(parameters) {
            let value = self.field(held, field)?;
            given.push(fit(value, Shape::of(parameter)?)?);
        }
        Some(given)
    }

    /// What a statement can be given for a field.
    pub(super) fn field(&mut self, held: StatePiece<'a>, name: &str) -> Option<Value> {
        self.give(held, held.get(name)?)
    }

    /// A constructor or a static method, which makes an object.
    pub(super) fn make(&mut self, target: &str, given: Vec<Value>, made: &Value) -> Option<()> {
        let MemberName {
            owner,
            name,
            descriptor,
        } = parts(target)?;
        let made = made.clone();
        let statement = match name {
            "<init>" => self.builder.construct(owner, descriptor, given, made),
            _ => {
                let target = MemberName::of(owner, name, descriptor);
                self.builder.call_static(target, given, Some(made))
            }
        };
        self.push(statement)
    }

    /// The same, of an object that nothing tells of.
    pub(super) fn fresh(&mut self, class: &str, target: &str, given: Vec<Value>) -> Option<Value> {
        let made = self.builder.variable(class);
        self.make(target, given, &made)?;
        Some(made)
    }

    /// A call of a method on an object.
    pub(super) fn send(
        &mut self,
        target: &str,
        receiver: &Value,
        given: Vec<Value>,
        made: Option<&Value>,
    ) -> Option<()> {
        let target = parts(target)?;
        let call = self
            .builder
            .call(target, receiver.clone(), given, made.cloned());
        self.push(call)
    }

    /// Calls of a method that takes items, as many at a time as it has parameters.
    pub(super) fn fill(
        &mut self,
        target: &str,
        receiver: &Value,
        items: Vec<Item<'a>>,
    ) -> Option<()> {
        let (parameters, _) = split_descriptor(parts(target)?.descriptor)?;
        for together in items.chunks_exact(parameters.len()) {
            let given = self.items(together)?;
            self.send(target, receiver, given, None)?;
        }
        Some(())
    }

    /// What a statement can be given for items.
    pub(super) fn items(&mut self, items: &[Item<'a>]) -> Option<Vec<Value>> {
        let given = items.iter().map(|(held, item)| self.give(*held, item));
        given.collect()
    }

    /// An array of a class.
    pub(super) fn array(&mut self, class: &str, elements: Vec<Value>) -> Value {
        self.builder.array(class, elements)
    }

    /// What a static field holds that never changes.
    pub(super) fn constant(&mut self, class: &str, name: &str) -> Value {
        Value::Reference(Reference::Constant {
            class: self.builder.class(class),
            name: name.to_owned(),
        })
    }

    /// What a static field holds becomes an object.
    pub(super) fn read(&mut self, target: MemberName<'_>, made: &Value) -> Option<()> {
        let read = self.builder.read(target.into(), None, made.clone());
        self.push(read)
    }

    /// The name of a class of the recording.
    pub(super) fn class_name(&self, class: culprit_model::TypeId) -> Option<&'a str> {
        self.type_def(class).map(|class| class.name.as_str())
    }

    fn type_def(&self, id: culprit_model::TypeId) -> Option<&'a culprit_model::site::TypeDef> {
        self.sources.tables.class(id)
    }

    fn push(&mut self, statement: Statement) -> Option<()> {
        self.ready.extend(statement.defines());
        self.statements.push(statement);
        Some(())
    }
}

/// A text as a value.
pub(super) fn text(units: &[u16]) -> Value {
    Value::Reference(Reference::String(units.to_vec()))
}

/// The same of a Rust string.
pub(super) fn string(text: &str) -> Value {
    Value::text(text)
}

pub(super) fn null() -> Value {
    Value::Reference(Reference::Null)
}

fn object(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. }) => Some(*id),
        _ => None,
    }
}

/// Owner, name and descriptor of `java/util/List.of()Ljava/util/List;`.
fn parts(target: &str) -> Option<MemberName<'_>> {
    let (member, _) = target.split_once('(')?;
    let (owner, name) = member.rsplit_once('.')?;
    Some(MemberName::of(owner, name, &target[member.len()..]))
}

/// A scalar as a parameter wants it: the JDK keeps months in bytes, and truths in numbers.
fn fit(value: Value, shape: Shape) -> Option<Value> {
    if value.shape() == shape {
        return Some(value);
    }
    let number = integer(&value)?;
    Some(match shape {
        Shape::Boolean => Value::Boolean(number != 0),
        Shape::Byte => Value::Byte(i8::try_from(number).ok()?),
        Shape::Short => Value::Short(i16::try_from(number).ok()?),
        Shape::Char => Value::Char(u16::try_from(number).ok()?),
        Shape::Int => Value::Int(i32::try_from(number).ok()?),
        Shape::Long => Value::Long(number),
        Shape::Float | Shape::Double | Shape::Reference => return None,
    })
}
