//! The body of a lambda as Java. A body is not printed if the test may not use a member of it, cannot name a type,
//! or if a call would mean another method.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use culprit_model::Member;
use culprit_model::value::{Shape, Value};

use crate::code::{Code, LambdaCode, Line};
use crate::decompile::lift;
use crate::expr::{Expr, Precedence};
use crate::literal;
use crate::names::{self, NameGenerator};
use crate::operators::{concat, negative};
use crate::scope::Scope;
use crate::tree::{LambdaNode, Lifted, NumberOperator, Statement, TextPiece, Tree};
use crate::types::Type;
use crate::values::scalar;

pub(crate) const BOOLEAN: Type = Type::Primitive(Shape::Boolean);
pub(crate) const INT: Type = Type::Primitive(Shape::Int);

/// Expressions within each other that are written.
const DEEPEST: usize = 40;

impl Scope<'_> {
    /// The body behind the arrow. `given` are the parameters of the body, `wanted` is the result type of the
    /// interface's method.
    pub(crate) fn lambda_code(
        &self,
        member: &Member,
        given: Vec<Expr>,
        names: NameGenerator,
        wanted: Option<Type>,
        depth: usize,
    ) -> Option<LambdaCode> {
        let bytes = self.access.hierarchy.bytes(&member.owner)?;
        let lifted = lift(&bytes, &member.name, &member.descriptor)?;
        if given.len() != lifted.parameters.len() || wanted.is_some() != lifted.result.is_some() {
            return None;
        }
        let printer = BodyPrinter {
            scope: self,
            lifted: &lifted,
            given,
            locals: RefCell::default(),
            names: RefCell::new(names),
            wanted,
            depth: Cell::new(depth),
        };
        printer.code()
    }
}

pub(crate) struct BodyPrinter<'p, 'a> {
    pub(crate) scope: &'p Scope<'a>,
    pub(crate) lifted: &'p Lifted,
    pub(crate) given: Vec<Expr>,
    pub(crate) locals: RefCell<BTreeMap<usize, Expr>>,
    pub(crate) names: RefCell<NameGenerator>,
    pub(crate) wanted: Option<Type>,
    /// The depth within expressions and lambdas.
    depth: Cell<usize>,
}

impl BodyPrinter<'_, '_> {
    fn code(&self) -> Option<LambdaCode> {
        Some(match self.lifted.statements.as_slice() {
            [Statement::Return(Some(value))] => LambdaCode::Value(self.returned(value)?),
            [Statement::Do(effect), Statement::Return(None)] => {
                LambdaCode::Value(self.effect(effect)?)
            }
            [Statement::Return(None)] => LambdaCode::Nothing,
            several => LambdaCode::Lines(self.statements(&without_return(several))?),
        })
    }

    fn statements(&self, all: &[Statement]) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        for statement in all {
            match statement {
                Statement::Do(effect) => lines.push(Line::Do(self.effect(effect)?)),
                Statement::Declare(id, value) => lines.push(self.declaration(*id, value)?),
                Statement::Assign(to, Tree::Binary(NumberOperator::Add, Shape::Int, one, by))
                    if **one == *to && matches!((to, &**by), (Tree::Local(_), Tree::Int(1))) =>
                {
                    lines.push(Line::Increment(self.natural(to)?));
                }
                Statement::Assign(to, value) => {
                    let to = self.natural(to)?;
                    let value = self.wanted(value, &to.of)?;
                    let code = Code::Assign(Box::new(to), Box::new(value));
                    lines.push(Line::Do(Expr::new(code, Type::Null)));
                }
                Statement::Return(None) => lines.push(Line::Return(None)),
                Statement::Return(Some(value)) => {
                    lines.push(Line::Return(Some(self.returned(value)?)));
                }
                Statement::Throw(value) => {
                    let thrown = self.wanted(value, &Type::class("java/lang/Throwable"))?;
                    let code = Code::Throw(Box::new(thrown));
                    lines.push(Line::Do(Expr::new(code, Type::Null)));
                }
                Statement::If(condition, yes, no) => {
                    lines.push(Line::If {
                        condition: self.condition(condition)?,
                        yes: self.statements(yes)?,
                        no: self.statements(no)?,
                    });
                }
            }
        }
        Some(lines)
    }

    /// An expression that is a statement.
    fn effect(&self, tree: &Tree) -> Option<Expr> {
        let is_deed = matches!(tree, Tree::Call(..) | Tree::New(..));
        let effect = self.natural(tree)?;
        let text = effect.java();
        (is_deed && text.ends_with(')') && !text.starts_with('(')).then_some(effect)
    }

    fn declaration(&self, id: usize, value: &Tree) -> Option<Line> {
        let local = &self.lifted.locals[id];
        let of = match &local.of {
            Some(of) => of.clone(),
            None => self.natural(value)?.of,
        };
        if of == Type::Null || !self.scope.access.names(&of) {
            return None;
        }
        let value = self.wanted(value, &of)?;
        let wish = local.name.clone().unwrap_or_else(|| names::for_type(&of));
        let name = self.names.borrow_mut().give(&wish);
        let line = Line::Declare {
            of: self.scope.named(&of),
            name: name.clone(),
            value,
            is_short: false,
        };
        self.locals.borrow_mut().insert(id, Expr::name(name, of));
        Some(line)
    }

    fn returned(&self, value: &Tree) -> Option<Expr> {
        let own = self.lifted.result.as_ref()?;
        let wanted = self.wanted.as_ref()?;
        match (own, wanted) {
            (Type::Primitive(_), _) | (_, Type::Primitive(_)) => {
                let value = self.wanted(value, own)?;
                self.scope.fit(value, wanted)
            }
            _ => self.wanted(value, wanted),
        }
    }

    /// A value where this type is wanted.
    pub(crate) fn wanted(&self, tree: &Tree, wanted: &Type) -> Option<Expr> {
        if *wanted == BOOLEAN {
            return self.condition(tree);
        }
        let value = match (tree, wanted) {
            (Tree::Int(value), Type::Primitive(shape)) => constant(*value, *shape)?,
            (Tree::Conditional(condition, yes, no), _) => {
                self.conditional(condition, yes, no, Some(wanted))?
            }
            _ => self.natural(tree)?,
        };
        if value.of == BOOLEAN && matches!(wanted, Type::Primitive(_)) {
            return None;
        }
        // The compiler must be told what a lambda is.
        if value.is_lambda() && value.of != *wanted {
            let of = value.of.clone();
            let cast = self
                .scope
                .access
                .names(&of)
                .then(|| self.scope.cast(&value, &of));
            return self.scope.fit(cast?, wanted);
        }
        self.scope.fit(value, wanted)
    }

    /// Goes one deeper, if that is not too deep.
    pub(crate) fn deeper<T>(&self, write: impl FnOnce() -> Option<T>) -> Option<T> {
        let depth = self.depth.get();
        if depth >= DEEPEST {
            return None;
        }
        self.depth.set(depth + 1);
        let written = write();
        self.depth.set(depth);
        written
    }

    /// An expression, of the type that it has by itself.
    pub(crate) fn natural(&self, tree: &Tree) -> Option<Expr> {
        self.deeper(|| self.expression(tree))
    }

    fn expression(&self, tree: &Tree) -> Option<Expr> {
        let scope = self.scope;
        Some(match tree {
            Tree::Parameter(place) => self.given.get(*place)?.clone(),
            Tree::Local(id) => self.locals.borrow().get(id)?.clone(),
            Tree::Null => Expr::new(Code::Null, Type::Null),
            Tree::Int(value) => constant(*value, Shape::Int)?,
            Tree::Long(value) => scalar(&Value::Long(*value)),
            Tree::Float(bits) => scalar(&Value::Float(f32::from_bits(*bits))),
            Tree::Double(bits) => scalar(&Value::Double(f64::from_bits(*bits))),
            Tree::Text(text) => string(text),
            Tree::Class(of) => scope.access.names(of).then(|| scope.class_literal(of))?,
            Tree::Static(member) => self.field(None, member)?,
            Tree::Field(object, member) => self.field(Some(object), member)?,
            Tree::Call(receiver, member, arguments) => {
                self.call(receiver.as_deref(), member, arguments)?
            }
            Tree::New(member, arguments) => self.construction(member, arguments)?,
            Tree::Array(of, length, elements) => self.array(of, length, elements)?,
            Tree::Element(of, array, index) => {
                let array = self.array_value(array, of.as_ref())?;
                let Type::Array(component) = &array.of else {
                    return None;
                };
                let index = self.wanted(index, &INT)?;
                array.element(index, (**component).clone())
            }
            Tree::Length(array) => {
                let array = self.array_value(array, None)?;
                Expr::new(Code::Length(Box::new(array.closed())), INT)
            }
            Tree::Cast(of, value) => self.cast(of, value)?,
            Tree::Instance(of, value) => {
                let value = scope.boxed(self.natural(value)?);
                if !scope.access.names(of) || value.is_lambda() {
                    return None;
                }
                let value = match scope.related(&value.of, of) {
                    true => value,
                    false => scope.cast(&value, &Type::object()),
                };
                let value = Box::new(value.within(Precedence::Shift));
                let code = Code::Instance(value, scope.plainly_named(of));
                Expr::new(code, BOOLEAN).at(Precedence::Relation)
            }
            Tree::Convert(to, value) => {
                let of = Type::Primitive(*to);
                let value = unboxed(self.number(value)?);
                let widens = scope.access.hierarchy.is_subtype(&value.of, &of);
                Expr {
                    implicit: widens.then(|| Box::new(value.clone())),
                    ..scope.cast(&value, &of)
                }
            }
            Tree::Negate(shape, value) => {
                let value = unboxed(self.wanted(value, &Type::Primitive(*shape))?);
                negative(&value, Type::Primitive(*shape))
            }
            Tree::Binary(sign, shape, left, right) => self.binary(*sign, *shape, left, right)?,
            Tree::Concat(pieces) => self.concatenation(pieces)?,
            Tree::Lambda(made) => self.nested(made)?,
            Tree::Conditional(condition, yes, no) => self.conditional(condition, yes, no, None)?,
            Tree::Compare(..) | Tree::Not(_) | Tree::Both(..) | Tree::Either(..) => {
                self.condition(tree)?
            }
            Tree::Order(..) => return None,
        })
    }

    fn cast(&self, of: &Type, value: &Tree) -> Option<Expr> {
        let inner = match value {
            Tree::Conditional(condition, yes, no) => {
                self.conditional(condition, yes, no, Some(&Type::object()))?
            }
            value => self.natural(value)?,
        };
        if inner.is_lambda() {
            return None;
        }
        // Where the compiler knows the type, it need not be told.
        if self.scope.access.hierarchy.is_subtype(&inner.of, of) {
            return Some(inner);
        }
        let inner = explicit(inner);
        let names = self.scope.access.names(of);
        names.then(|| self.scope.cast(&inner, of))
    }

    pub(crate) fn array_value(&self, tree: &Tree, of: Option<&Type>) -> Option<Expr> {
        let value = self.natural(tree)?;
        if let Type::Array(_) = value.of {
            return Some(value);
        }
        let own = match tree {
            Tree::Parameter(place) => self.lifted.parameters.get(*place),
            _ => None,
        };
        let of = own.or(of).filter(|of| matches!(of, Type::Array(_)))?;
        let names = self.scope.access.names(of);
        names.then(|| self.scope.cast(&value, of))
    }

    fn array(&self, of: &Type, length: &Tree, elements: &[Tree]) -> Option<Expr> {
        let Type::Array(component) = of else {
            return None;
        };
        if !self.scope.access.names(of) {
            return None;
        }
        let count = i32::try_from(elements.len()).ok()?;
        let name = self.scope.named(of);
        if *length == Tree::Int(count) {
            let elements: Option<Vec<Expr>> = elements
                .iter()
                .map(|element| self.element(element, component))
                .collect();
            let code = Code::Array(name, elements?);
            return Some(Expr::new(code, of.clone()).at(Precedence::Creation));
        }
        if !elements.is_empty() {
            return None;
        }
        let length = self.wanted(length, &INT)?;
        let zeros = self.scope.zeros(of, component, length);
        Some(zeros.at(Precedence::Creation))
    }

    fn element(&self, element: &Tree, component: &Type) -> Option<Expr> {
        match (element, component) {
            (Tree::Int(value), Type::Primitive(shape)) => {
                let value = small(*value, *shape)?;
                literal::constant(&value)?;
                Some(Expr::new(Code::constant(value), component.clone()))
            }
            _ => self.wanted(element, component),
        }
    }

    fn concatenation(&self, pieces: &[TextPiece]) -> Option<Expr> {
        let mut all = Vec::new();
        for piece in pieces {
            all.push(match piece {
                TextPiece::Text(text) => string(text),
                TextPiece::Value(of @ Type::Primitive(_), tree) => {
                    let value = explicit(self.wanted(tree, of)?);
                    match value.of == *of {
                        true => value,
                        false => self.scope.cast(&value, of),
                    }
                }
                TextPiece::Value(_, tree) => {
                    let value = match plain_text(tree) {
                        Tree::Conditional(..) => self.wanted(tree, &Type::object())?,
                        tree => self.natural(tree)?,
                    };
                    (!value.is_lambda()).then_some(value)?
                }
            });
        }
        let mut all = all.into_iter();
        let first = all.next()?;
        let string = Type::class("java/lang/String");
        match all.next() {
            None if first.of == string => Some(first),
            None => Some(concat(Expr::new(Code::Text(Vec::new()), string), first)),
            Some(second) => Some(all.fold(concat(first, second), concat)),
        }
    }

    fn nested(&self, made: &LambdaNode) -> Option<Expr> {
        let mut given = Vec::new();
        for tree in &made.captured {
            let is_simple = matches!(
                tree,
                Tree::Parameter(_)
                    | Tree::Local(_)
                    | Tree::Int(_)
                    | Tree::Long(_)
                    | Tree::Text(_)
                    | Tree::Null
            );
            given.push(is_simple.then(|| self.natural(tree))??);
        }
        let names = self.names.borrow().clone();
        let access = self.scope.access.names(&made.site.interface);
        access.then(|| {
            self.scope
                .open_lambda(&made.site, given, names, self.depth.get())
        })?
    }
}

/// Statements without the `return` at their end.
fn without_return(all: &[Statement]) -> Vec<Statement> {
    match all {
        [before @ .., Statement::Return(None)] => before.to_vec(),
        [before @ .., Statement::If(condition, yes, no)] => {
            let no = without_return(no);
            let yes = match no.is_empty() {
                true => without_return(yes),
                false => yes.clone(),
            };
            let last = Statement::If(condition.clone(), yes, no);
            [before, &[last]].concat()
        }
        all => all.to_vec(),
    }
}

/// A scalar that the compiler takes out of its box.
pub(crate) fn unboxed(value: Expr) -> Expr {
    match &value.implicit {
        Some(inner) if inner.of.unboxed().as_ref() == Some(&value.of) => Expr {
            of: value.of.clone(),
            ..(**inner).clone()
        },
        _ => value,
    }
}

/// With the conversion that the compiler would add.
pub(crate) fn explicit(value: Expr) -> Expr {
    match value.explicit {
        Some(explicit) => *explicit,
        None => value,
    }
}

fn string(text: &str) -> Expr {
    let units: Vec<u16> = text.encode_utf16().collect();
    Expr::new(Code::Text(units), Type::class("java/lang/String"))
}

/// The operand of a conversion to a string, which `+` does by itself: some compilers write the call.
fn plain_text(tree: &Tree) -> &Tree {
    match tree {
        Tree::Call(None, member, arguments)
            if member.owner == "java/lang/String"
                && member.name == "valueOf"
                && member.descriptor.starts_with("(Ljava/lang/Object;)") =>
        {
            &arguments[0]
        }
        tree => tree,
    }
}

/// A scalar of a small type, which class files have as an `int`.
fn small(value: i32, shape: Shape) -> Option<Value> {
    Some(match shape {
        Shape::Boolean => Value::Boolean(match value {
            0 => false,
            1 => true,
            _ => return None,
        }),
        Shape::Byte => Value::Byte(i8::try_from(value).ok()?),
        Shape::Short => Value::Short(i16::try_from(value).ok()?),
        Shape::Char => Value::Char(u16::try_from(value).ok()?),
        Shape::Int => Value::Int(value),
        _ => return None,
    })
}

pub(crate) fn constant(value: i32, shape: Shape) -> Option<Expr> {
    small(value, shape).map(|value| scalar(&value))
}
