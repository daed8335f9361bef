//! Types of source code, as far as class files know them: without type arguments.

use culprit_model::value::{Shape, Value, split_descriptor};

/// The type of an expression, a variable or a parameter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Type {
    Primitive(Shape),
    /// By its internal name.
    Class(String),
    Array(Box<Type>),
    /// The type of `null`.
    Null,
}

impl Type {
    /// The type of a field descriptor. What is malformed becomes `Object`.
    pub(crate) fn of(descriptor: &str) -> Type {
        if let Some(component) = descriptor.strip_prefix('[') {
            return Type::Array(Box::new(Type::of(component)));
        }
        match Shape::of(descriptor) {
            Some(Shape::Reference) => Type::Class(descriptor[1..].trim_end_matches(';').to_owned()),
            Some(shape) => Type::Primitive(shape),
            None => Type::object(),
        }
    }

    /// The type of a run-time class: `java/lang/String`, `[I`, `int`.
    pub(crate) fn of_class(name: &str) -> Type {
        if name.starts_with('[') {
            return Type::of(name);
        }
        Shape::named(name).map_or_else(|| Type::class(name), Type::Primitive)
    }

    pub(crate) fn object() -> Type {
        Type::class("java/lang/Object")
    }

    pub(crate) fn class(name: &str) -> Type {
        Type::Class(name.to_owned())
    }

    pub(crate) fn is_object(&self) -> bool {
        self.name() == Some("java/lang/Object")
    }

    /// The internal name of a class.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Type::Class(name) => Some(name),
            _ => None,
        }
    }

    /// The class or primitive type at the bottom of an array.
    pub(crate) fn element(&self) -> &Type {
        match self {
            Type::Array(component) => component.element(),
            other => other,
        }
    }

    /// The class that boxes a primitive type.
    pub(crate) fn boxed(shape: Shape) -> Type {
        Type::class(shape.box_name())
    }

    /// The primitive type that a class boxes.
    pub(crate) fn unboxed(&self) -> Option<Type> {
        Shape::boxed_by(self.name()?).map(Type::Primitive)
    }
}

/// Types of the parameters of a method.
pub(crate) fn parameters(descriptor: &str) -> Vec<Type> {
    split_descriptor(descriptor)
        .map_or_else(Vec::new, |(all, _)| all.into_iter().map(Type::of).collect())
}

/// The type of what a method returns; `None` for `void`.
pub(crate) fn result(descriptor: &str) -> Option<Type> {
    let (_, result) = split_descriptor(descriptor)?;
    (result != "V").then(|| Type::of(result))
}

/// A primitive zero, `false`, or `null`.
pub(crate) fn default_value(of: &Type) -> Value {
    match of {
        Type::Primitive(shape) => Value::zero(*shape),
        _ => Value::zero(Shape::Reference),
    }
}
