//! Values as expressions.

use culprit_model::value::{Contents, Shape};
use culprit_model::{Member, Reference, Value};

use crate::code::{ArrayName, Code, Literal};
use crate::error::Error;
use crate::expr::{Expr, Precedence};
use crate::literal;
use crate::scope::Scope;
use crate::types::{Type, default_value};

/// Zeros and nulls that are written one by one.
const FEW: u32 = 3;

/// Elements that an initializer may have; the code of a method is limited.
const LONGEST: u32 = 2000;

impl Scope<'_> {
    /// The value of a statement. Scalars have their own type, whatever is wanted.
    pub(crate) fn value(&self, value: &Value, statement: usize) -> Result<Expr, Error> {
        if let Some(variable) = value.identity().and_then(|id| self.variables.get(&id)) {
            return Ok(Expr::name(&variable.name, variable.of.clone()));
        }
        if let Some(place) = value.identity().and_then(|id| self.inline.made_at(id)) {
            return self.expression(&self.graph.nodes[place]);
        }
        let Value::Reference(reference) = value else {
            return Ok(scalar(value));
        };
        Ok(match reference {
            Reference::Null => Expr::new(Code::Null, Type::Null),
            Reference::String(units) => {
                Expr::new(Code::Text(units.clone()), Type::class("java/lang/String"))
            }
            Reference::StringBlob(id) => {
                let blob = self.graph.script.tables.blobs.get(id);
                let bytes = blob.ok_or(Error::Tables { statement })?;
                let units: Vec<u16> = bytes
                    .chunks_exact(2)
                    .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                    .collect();
                Expr::new(Code::Text(units), Type::class("java/lang/String"))
            }
            Reference::Boxed(value) => scalar(value),
            Reference::Class(id) => {
                self.class_literal(&Type::of_class(self.graph.class(*id, statement)?))
            }
            Reference::Enum { class, ordinal } => {
                let class = self.graph.class(*class, statement)?;
                let name = self
                    .constant_name(class, *ordinal)
                    .ok_or(Error::Tables { statement })?;
                self.static_field(&self.enum_class(class), &name)
            }
            Reference::Constant { class, name } => {
                self.static_field(self.graph.class(*class, statement)?, name)
            }
            Reference::Array { .. } => {
                let array = self.array(value, statement)?;
                array.at(Precedence::Creation)
            }
            Reference::Object { class, .. } => {
                return Err(Error::NoStandIn {
                    class: self.graph.class(*class, statement)?.replace('/', "."),
                });
            }
            Reference::Redacted
            | Reference::Unknown
            | Reference::Structure { .. }
            | Reference::Piece(_) => return Err(Error::Unknown { statement }),
        })
    }

    /// An array with its elements, or an expression that makes it.
    pub(crate) fn array(&self, value: &Value, statement: usize) -> Result<Expr, Error> {
        let Value::Reference(Reference::Array {
            class,
            length,
            contents,
            ..
        }) = value
        else {
            return Err(Error::Values { statement });
        };
        let of = Type::of_class(self.graph.class(*class, statement)?);
        let Type::Array(component) = &of else {
            return Err(Error::Values { statement });
        };
        let Some(elements) = self.elements(component, *length, contents, statement)? else {
            return Err(Error::Unknown { statement });
        };
        let plain = default_value(component);
        if *length > FEW && elements.iter().all(|element| element.is_identical(&plain)) {
            // `new int[3][]`: the length goes into the first brackets.
            let length = Expr::new(
                Code::constant(Value::Int(*length as i32)),
                Type::Primitive(Shape::Int),
            );
            return Ok(self.zeros(&of, component, length));
        }
        if *length > LONGEST {
            return self.long_array(&of, component, &elements);
        }
        let mut all = Vec::new();
        for element in &elements {
            all.push(self.element(element, component, statement)?);
        }
        Ok(Expr::new(Code::Array(self.named(&of), all), of.clone()))
    }

    /// An array of this length: of zeros or nulls.
    pub(crate) fn zeros(&self, of: &Type, component: &Type, length: Expr) -> Expr {
        let element = self.named(of.element());
        let rest = self.imports.name(component)[element.java.len()..].to_owned();
        let name = ArrayName {
            element,
            of: of.clone(),
            rest,
        };
        Expr::new(Code::Zeros(name, Box::new(length)), of.clone())
    }

    pub(crate) fn element(
        &self,
        element: &Value,
        component: &Type,
        statement: usize,
    ) -> Result<Expr, Error> {
        if literal::constant(element).is_some() {
            let of = Type::Primitive(element.shape());
            return Ok(Expr::new(Code::constant(element.clone()), of));
        }
        let inline = element
            .identity()
            .is_none_or(|id| !self.variables.contains_key(&id));
        if inline && matches!(element, Value::Reference(Reference::Array { .. })) {
            let array = self.array(element, statement)?;
            if array.of == *component {
                return Ok(match array.code {
                    Code::Array(name, elements) => {
                        Expr::new(Code::Row(name.of, elements), array.of)
                    }
                    code => Expr::new(code, array.of),
                });
            }
        }
        let value = self.value(element, statement)?;
        let fitted = self.fit(value, component);
        fitted.ok_or(Error::Unknown { statement })
    }

    /// All elements; those that are not told are zeros. `None` where none are told.
    pub(crate) fn elements(
        &self,
        component: &Type,
        length: u32,
        contents: &Contents,
        statement: usize,
    ) -> Result<Option<Vec<Value>>, Error> {
        Ok(match contents {
            Contents::Unknown => (length == 0).then(Vec::new),
            Contents::Elements(elements) => Some(elements.clone()),
            Contents::Blob(id) => {
                let blob = self.graph.script.tables.blobs.get(id);
                let bytes = blob.ok_or(Error::Tables { statement })?;
                Some(scalars(component, bytes).ok_or(Error::Values { statement })?)
            }
            Contents::Part { from, known } => {
                let Some(known) = self.elements(component, length, known, statement)? else {
                    return Ok(None);
                };
                let mut all = vec![default_value(component); length as usize];
                for (place, value) in (*from as usize..).zip(known) {
                    *all.get_mut(place).ok_or(Error::Values { statement })? = value;
                }
                Some(all)
            }
        })
    }

    /// Long arrays of bytes and characters are written as strings.
    fn long_array(&self, of: &Type, component: &Type, elements: &[Value]) -> Result<Expr, Error> {
        let units: Option<Vec<u16>> = elements
            .iter()
            .map(|element| match (component, element) {
                (Type::Primitive(Shape::Byte), Value::Byte(byte)) => Some(u16::from(*byte as u8)),
                (Type::Primitive(Shape::Char), Value::Char(unit)) => Some(*unit),
                _ => None,
            })
            .collect();
        let Some(units) = units else {
            return Err(Error::TooLong {
                length: elements.len() as u32,
            });
        };
        let text = Expr::new(Code::Text(units), Type::class("java/lang/String"));
        let text = Box::new(text);
        let code = if *component == Type::Primitive(Shape::Char) {
            Code::Characters(text)
        } else {
            Code::Bytes(text, self.named_class("java/nio/charset/StandardCharsets"))
        };
        Ok(Expr::new(code, of.clone()))
    }

    fn static_field(&self, class: &str, name: &str) -> Expr {
        let found = self.access.hierarchy.field(class, name);
        let of = found.as_ref().map_or_else(
            || Type::of_class(class),
            |(_, field)| Type::of(&field.descriptor),
        );
        let member = Member {
            owner: class.to_owned(),
            name: name.to_owned(),
            descriptor: String::new(),
        };
        let open = self.access.names_class(class)
            && found
                .as_ref()
                .is_none_or(|(owner, field)| self.access.uses(owner, field.access));
        if !open {
            return self.reflective_get(&member, None);
        }
        self.imports
            .is_deprecated(found.is_some_and(|(_, field)| field.is_deprecated));
        // The compiler warns of what has no type arguments even where its type is not named.
        self.imports.is_named(&of);
        let class = self.plainly_named(&Type::class(class));
        Expr::new(Code::StaticField(class, member), of)
    }

    /// The enum itself, where a constant has a class of its own.
    fn enum_class(&self, class: &str) -> String {
        let above = self
            .access
            .hierarchy
            .class(class)
            .and_then(|facts| facts.superclass.clone());
        above
            .filter(|above| above != "java/lang/Enum")
            .unwrap_or_else(|| class.to_owned())
    }

    fn constant_name(&self, class: &str, ordinal: u32) -> Option<String> {
        let types = &self.graph.script.tables.types;
        let told = types.iter().find(|def| def.name == class);
        let told = told.and_then(|def| def.constants.get(ordinal as usize));
        told.cloned().or_else(|| {
            let facts = self.access.hierarchy.class(&self.enum_class(class))?;
            let mut constants = facts
                .fields
                .iter()
                .filter(|field| field.access & culprit_classfile::access::ENUM != 0);
            constants
                .nth(ordinal as usize)
                .map(|field| field.name.clone())
        })
    }
}

pub(crate) fn scalar(value: &Value) -> Expr {
    let text = literal::scalar(value).unwrap_or_default();
    let level = match text.starts_with(['-', '(']) {
        true => Precedence::Unary,
        false => Precedence::Primary,
    };
    let of = Type::Primitive(value.shape());
    Expr::new(Code::Scalar(Literal(value.clone())), of).at(level)
}

/// The elements of a primitive array, from a blob.
fn scalars(component: &Type, bytes: &[u8]) -> Option<Vec<Value>> {
    match component {
        Type::Primitive(shape) => Value::elements_from_le_bytes(*shape, bytes),
        _ => None,
    }
}
