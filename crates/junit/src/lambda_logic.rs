//! Conditions, choices and numbers in the body of a lambda.

use culprit_model::value::{Shape, Value};

use crate::code::Code;
use crate::expr::{Expr, Precedence};
use crate::lambda_body::{BOOLEAN, BodyPrinter, INT, constant, explicit, unboxed};
use crate::operators::{binary, shape, signed};
use crate::tree::{NumberOperator, Relation, Tree};
use crate::types::Type;

impl BodyPrinter<'_, '_> {
    /// A number of any type.
    pub(crate) fn number(&self, tree: &Tree) -> Option<Expr> {
        let value = self.natural(tree)?;
        let of = shape(&value.of).filter(|shape| *shape != Shape::Boolean);
        of.map(|_| value)
    }

    pub(crate) fn binary(
        &self,
        sign: NumberOperator,
        shape: Shape,
        left: &Tree,
        right: &Tree,
    ) -> Option<Expr> {
        let of = Type::Primitive(shape);
        let (text, level) = match sign {
            NumberOperator::Add => ("+", Precedence::Sum),
            NumberOperator::Subtract => ("-", Precedence::Sum),
            NumberOperator::Multiply => ("*", Precedence::Product),
            NumberOperator::Divide => ("/", Precedence::Product),
            NumberOperator::Remainder => ("%", Precedence::Product),
            NumberOperator::And => ("&", Precedence::And),
            NumberOperator::Or => ("|", Precedence::Or),
            NumberOperator::Xor => ("^", Precedence::Xor),
            NumberOperator::ShiftLeft => ("<<", Precedence::Shift),
            NumberOperator::ShiftRight => (">>", Precedence::Shift),
            NumberOperator::ShiftRightUnsigned => (">>>", Precedence::Shift),
        };
        if level == Precedence::Shift {
            let left = unboxed(self.wanted(left, &of)?);
            // A short one of a long type would not be shifted as a long.
            let left = match left.of == of || shape == Shape::Int {
                true => left,
                false => self.scope.cast(&left, &of),
            };
            let right = unboxed(self.wanted(right, &INT)?);
            return Some(binary(&left, text, &right, level, of));
        }
        let of_bits = matches!(
            sign,
            NumberOperator::And | NumberOperator::Or | NumberOperator::Xor
        );
        if of_bits && shape == Shape::Int && (self.is_boolean(left) || self.is_boolean(right)) {
            let (left, right) = (self.condition(left)?, self.condition(right)?);
            return Some(binary(&left, text, &right, level, BOOLEAN));
        }
        let left = unboxed(self.wide(left, &of)?);
        if sign == NumberOperator::Xor
            && matches!(right, Tree::Int(-1) | Tree::Long(-1))
            && left.of == of
        {
            let code = Code::Unary("~", Box::new(left.within(Precedence::Unary)));
            return Some(Expr::new(code, of).at(Precedence::Unary));
        }
        let right = unboxed(self.wide(right, &of)?);
        let (left, right) = self.scope.promoted(left, right, &of);
        Some(binary(&left, text, &right, level, of))
    }

    /// A number of this type, with the conversion that it needs, if any.
    fn wide(&self, tree: &Tree, of: &Type) -> Option<Expr> {
        match tree {
            Tree::Conditional(..) => self.wanted(tree, of),
            _ => self.number(tree),
        }
    }

    /// An `int` of the class file that is certainly a `boolean` of the source.
    fn is_boolean(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Compare(..) | Tree::Not(_) | Tree::Both(..) | Tree::Either(..) => true,
            Tree::Instance(..) => true,
            Tree::Parameter(place) => self.lifted.parameters.get(*place) == Some(&BOOLEAN),
            Tree::Local(id) => {
                let locals = self.locals.borrow();
                locals.get(id).is_some_and(|local| local.of == BOOLEAN)
            }
            Tree::Static(member) | Tree::Field(_, member) => member.descriptor == "Z",
            Tree::Call(_, member, _) => member.descriptor.ends_with(")Z"),
            Tree::Element(None, array, _) => {
                let of = self.array_value(array, None).map(|array| array.of);
                of == Some(Type::Array(Box::new(BOOLEAN)))
            }
            Tree::Conditional(_, one, other)
            | Tree::Binary(
                NumberOperator::And | NumberOperator::Or | NumberOperator::Xor,
                Shape::Int,
                one,
                other,
            ) => self.is_boolean(one) || self.is_boolean(other),
            _ => false,
        }
    }

    /// A value that is true or false.
    pub(crate) fn condition(&self, tree: &Tree) -> Option<Expr> {
        self.deeper(|| self.truth(tree))
    }

    fn truth(&self, tree: &Tree) -> Option<Expr> {
        let both = |left: Expr, right: Expr| {
            let left = match left.level {
                Precedence::Both => left,
                _ => left.within(Precedence::Equality),
            };
            let right = right.within(Precedence::Equality);
            signed(left, "&&", right, BOOLEAN).at(Precedence::Both)
        };
        let either = |left: Expr, right: Expr| {
            let left = match left.level {
                Precedence::Either => left,
                _ => left.within(Precedence::Equality),
            };
            let right = right.within(Precedence::Equality);
            signed(left, "||", right, BOOLEAN).at(Precedence::Either)
        };
        Some(match tree {
            Tree::Int(0) => Expr::new(Code::constant(Value::Boolean(false)), BOOLEAN),
            Tree::Int(1) => Expr::new(Code::constant(Value::Boolean(true)), BOOLEAN),
            Tree::Not(inner) => self.condition(inner)?.negated(),
            Tree::Both(left, right) => both(self.condition(left)?, self.condition(right)?),
            Tree::Either(left, right) => either(self.condition(left)?, self.condition(right)?),
            Tree::Compare(relation, shape, left, right) => {
                self.comparison(*relation, *shape, left, right)?
            }
            Tree::Conditional(condition, yes, no) => {
                let condition = self.condition(condition)?;
                match (&**yes, &**no) {
                    (Tree::Int(1), Tree::Int(0)) => condition,
                    (Tree::Int(0), Tree::Int(1)) => condition.negated(),
                    (Tree::Int(1), no) => either(condition, self.condition(no)?),
                    (Tree::Int(0), no) => both(condition.negated(), self.condition(no)?),
                    (yes, Tree::Int(0)) => both(condition, self.condition(yes)?),
                    (yes, Tree::Int(1)) => either(condition.negated(), self.condition(yes)?),
                    (yes, no) => {
                        let (yes, no) = (self.condition(yes)?, self.condition(no)?);
                        choice(&condition, &yes, &no, BOOLEAN)
                    }
                }
            }
            tree => {
                let value = unboxed(self.natural(tree)?);
                let of = value.of == BOOLEAN || value.of.unboxed() == Some(BOOLEAN);
                of.then_some(Expr {
                    of: BOOLEAN,
                    ..value
                })?
            }
        })
    }

    fn comparison(
        &self,
        relation: Relation,
        shape: Shape,
        left: &Tree,
        right: &Tree,
    ) -> Option<Expr> {
        let is_equality = matches!(relation, Relation::Equal | Relation::Different);
        if shape == Shape::Reference {
            let (left, right) = (self.object(left)?, self.object(right)?);
            let (left, right) = self.scope.comparable(left, right);
            return Some(related(relation, &left, &right, true));
        }
        if is_equality && shape == Shape::Int && (self.is_boolean(left) || self.is_boolean(right)) {
            let value = self.condition(left)?;
            return Some(match (right, relation) {
                (Tree::Int(0), Relation::Equal) | (Tree::Int(1), Relation::Different) => {
                    value.negated()
                }
                (Tree::Int(0 | 1), _) => value,
                _ => related(relation, &value, &self.condition(right)?, true),
            });
        }
        let of = Type::Primitive(shape);
        let (mut one, mut other) = (self.wide(left, &of)?, self.wide(right, &of)?);
        let character = |value: &Expr, tree: &Tree| match (&value.of, tree) {
            (Type::Primitive(Shape::Char), Tree::Int(value)) => constant(*value, Shape::Char),
            _ => None,
        };
        if let Some(value) = character(&one, right) {
            other = value;
        } else if let Some(value) = character(&other, left) {
            one = value;
        }
        let is_box = |value: &Expr| unboxed(value.clone()) != *value;
        // Two boxes would be compared as objects.
        if !(is_equality && is_box(&one) && is_box(&other)) {
            one = unboxed(one);
        }
        other = unboxed(other);
        let (one, other) = self.scope.promoted(one, other, &of);
        let is_real = matches!(shape, Shape::Float | Shape::Double);
        Some(related(relation, &one, &other, is_equality || !is_real))
    }

    /// An object that is compared.
    fn object(&self, tree: &Tree) -> Option<Expr> {
        let value = self.natural(tree)?;
        (!value.is_lambda()).then(|| self.scope.boxed(value))
    }

    pub(crate) fn conditional(
        &self,
        condition: &Tree,
        yes: &Tree,
        no: &Tree,
        wanted: Option<&Type>,
    ) -> Option<Expr> {
        let condition = self.condition(condition)?;
        let branch = |tree: &Tree| match wanted {
            Some(wanted) => self.wanted(tree, wanted),
            None => self.natural(tree),
        };
        let (mut yes, mut no) = (branch(yes)?, branch(no)?);
        if wanted.is_none() && (yes.is_lambda() || no.is_lambda()) {
            return None;
        }
        if let Some(wanted @ Type::Primitive(_)) = wanted {
            (yes, no) = (explicit(yes), explicit(no));
            if yes.of != no.of {
                yes = self.scope.cast(&yes, wanted);
            }
            let of = match yes.of == no.of {
                true => yes.of.clone(),
                false => wanted.clone(),
            };
            return Some(choice(&condition, &yes, &no, of));
        }
        // A scalar on one side makes the compiler unbox the other.
        let is_number = |of: &Type| matches!(of, Type::Primitive(_)) || of.unboxed().is_some();
        if is_number(&yes.of) && is_number(&no.of) && yes.of != no.of {
            (yes, no) = (explicit(yes), explicit(no));
            (yes, no) = (self.scope.boxed(yes), self.scope.boxed(no));
            if yes.of != no.of {
                yes = self.scope.cast(&yes, wanted.unwrap_or(&Type::object()));
            }
        }
        let hierarchy = self.scope.access.hierarchy;
        let reference = |of: &Type| match of {
            Type::Primitive(shape) => Type::boxed(*shape),
            of => of.clone(),
        };
        let of = if yes.of == no.of {
            yes.of.clone()
        } else {
            let (one, other) = (reference(&yes.of), reference(&no.of));
            if hierarchy.is_subtype(&one, &other) {
                other
            } else if hierarchy.is_subtype(&other, &one) {
                one
            } else {
                wanted?.clone()
            }
        };
        let typing = yes.typing.max(no.typing);
        let signature = yes
            .signature
            .clone()
            .filter(|it| no.signature.as_ref() == Some(it));
        Some(Expr {
            typing,
            signature,
            ..choice(&condition, &yes, &no, of)
        })
    }
}

fn related(relation: Relation, left: &Expr, right: &Expr, is_exact: bool) -> Expr {
    let sign = |relation: Relation| match relation {
        Relation::Equal => "==",
        Relation::Different => "!=",
        Relation::Less => "<",
        Relation::AtLeast => ">=",
        Relation::Greater => ">",
        Relation::AtMost => "<=",
    };
    let level = match relation {
        Relation::Equal | Relation::Different => Precedence::Equality,
        _ => Precedence::Relation,
    };
    let other = binary(left, sign(relation.opposite()), right, level, BOOLEAN);
    Expr {
        opposite: is_exact.then(|| Box::new((other.code, level))),
        ..binary(left, sign(relation), right, level, BOOLEAN)
    }
}

fn choice(condition: &Expr, yes: &Expr, no: &Expr, of: Type) -> Expr {
    let [condition, yes, no] =
        [condition, yes, no].map(|each| Box::new(each.within(Precedence::Either)));
    Expr::new(Code::Choice(condition, yes, no), of).at(Precedence::Choice)
}
