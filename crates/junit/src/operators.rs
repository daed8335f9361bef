//! Java's operators, which scripts have as static methods of a class of the runtime.

use culprit_model::owner::asserting;
use culprit_model::value::Shape;
use culprit_model::{Member, Reference, Value};

use crate::error::Error;
use crate::expr::{Expr, Level, Typing};
use crate::lambda;
use crate::literal;
use crate::scope::{Scope, Throws};
use crate::story::{Action, Story, identity};
use crate::types::{Type, parameters, result};

/// The class whose methods are operators.
pub(crate) const OWNER: &str = "culprit/runtime/Operators";

/// What a method of the class is in Java.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    /// Between two numbers: the sign.
    Arithmetic(&'static str, Level),
    Shift(&'static str),
    Negate,
    Convert,
    /// The sign, and that of the opposite.
    Compare(&'static str, &'static str, Level),
    /// Of objects: the same.
    Identity(&'static str, &'static str),
    Null(&'static str, &'static str),
    True,
    False,
    Concat,
    Instance,
    Element,
    Length,
    Store,
    Array,
    Raise,
    Require,
    Tolerate,
    Expect,
    Lambda,
    /// What a variable has before a loop gives it other values.
    Start,
    /// What is another value in each round of a loop.
    Each,
}

impl Operator {
    /// The operator that a statement is.
    pub(crate) fn of(action: &Action<'_>) -> Option<Operator> {
        use Operator::{
            Arithmetic, Array, Compare, Concat, Convert, Each, Element, Expect, False, Identity,
            Instance, Lambda, Length, Negate, Null, Raise, Require, Shift, Start, Store, Tolerate,
            True,
        };
        let Member { owner, name, .. } = &action.site.target;
        if owner != OWNER {
            return None;
        }
        Some(match name.as_str() {
            "add" => Arithmetic("+", Level::Sum),
            "subtract" => Arithmetic("-", Level::Sum),
            "multiply" => Arithmetic("*", Level::Product),
            "divide" => Arithmetic("/", Level::Product),
            "remainder" => Arithmetic("%", Level::Product),
            "and" => Arithmetic("&", Level::And),
            "or" => Arithmetic("|", Level::Or),
            "xor" => Arithmetic("^", Level::Xor),
            "shiftLeft" => Shift("<<"),
            "shiftRight" => Shift(">>"),
            "shiftRightUnsigned" => Shift(">>>"),
            "negate" => Negate,
            "toInt" | "toLong" | "toFloat" | "toDouble" | "toByte" | "toChar" | "toShort" => {
                Convert
            }
            "isEqual" => Compare("==", "!=", Level::Equality),
            "isDifferent" => Compare("!=", "==", Level::Equality),
            "isLess" => Compare("<", ">=", Level::Relation),
            "isGreater" => Compare(">", "<=", Level::Relation),
            "isAtMost" => Compare("<=", ">", Level::Relation),
            "isAtLeast" => Compare(">=", "<", Level::Relation),
            "isSame" => Identity("==", "!="),
            "isOther" => Identity("!=", "=="),
            "isNull" => Null("==", "!="),
            "isNotNull" => Null("!=", "=="),
            "isTrue" => True,
            "isFalse" => False,
            "concat" => Concat,
            "isInstance" => Instance,
            "element" => Element,
            "length" => Length,
            "store" => Store,
            "array" => Array,
            "raise" => Raise,
            "require" => Require,
            "tolerate" => Tolerate,
            "expect" => Expect,
            "lambda" => Lambda,
            "start" => Start,
            "each" => Each,
            _ => return None,
        })
    }

    /// Whether it does nothing but give a value.
    pub(crate) fn is_pure(self) -> bool {
        match self {
            Operator::Arithmetic(sign, _) => sign != "/" && sign != "%",
            Operator::Concat
            | Operator::Element
            | Operator::Length
            | Operator::Store
            | Operator::Raise
            | Operator::Require
            | Operator::Tolerate
            | Operator::Expect => false,
            _ => true,
        }
    }
}

/// Whether a statement does nothing but fail: what it is given does not decide whether it does.
pub(crate) fn is_failure(action: &Action<'_>) -> bool {
    let target = &action.site.target;
    let asserts = asserting(&target.owner).is_some();
    let of_constants = || {
        action
            .arguments
            .iter()
            .all(|value| identity(value).is_none())
    };
    asserts && (target.name == "fail" || of_constants())
        || Operator::of(action) == Some(Operator::Raise)
}

/// The type that an operator gives, where its descriptor says less.
pub(crate) fn given(action: &Action<'_>, story: &Story<'_>) -> Option<Type> {
    let class = || {
        let array = identity(action.arguments.first()?)?;
        Some(Type::of_class(story.objects.get(&array)?.class))
    };
    match Operator::of(action)? {
        Operator::Lambda => lambda::interface(action, story),
        Operator::Start | Operator::Each => result(&action.site.target.descriptor),
        Operator::Array => match action.arguments.first()? {
            Value::Reference(Reference::Array { class, .. }) => {
                let class = story.class(*class, action.step).ok()?;
                Some(Type::of_class(class))
            }
            _ => class(),
        },
        Operator::Element => match class()? {
            Type::Array(component) => Some(*component),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an operator takes arrays alone, whatever its descriptor says.
pub(crate) fn wants_array(action: &Action<'_>) -> bool {
    matches!(
        Operator::of(action),
        Some(Operator::Length | Operator::Array | Operator::Element | Operator::Store)
    )
}

impl Scope<'_> {
    /// An operator as Java writes it.
    pub(crate) fn operator(&self, operator: Operator, action: &Action<'_>) -> Result<Expr, Error> {
        match operator {
            Operator::Lambda => return self.lambda_of(action),
            Operator::Each => return self.each(action),
            _ => {}
        }
        let descriptor = &action.site.target.descriptor;
        let wanted = parameters(descriptor);
        let mut all = Vec::new();
        for (place, value) in action.arguments.iter().enumerate() {
            let operand = match (operator, place) {
                (Operator::Store, 2) => break,
                _ => self.operand(value, action)?,
            };
            all.push(match wanted.get(place) {
                Some(wanted @ Type::Primitive(_)) => self.scalar(operand, value, wanted),
                _ => operand,
            });
        }
        let depth = all.iter().map(|value| value.depth).max().unwrap_or(0);
        let of = result(descriptor).unwrap_or(Type::Null);
        let unfit = || Error::Values { step: action.step };
        let mut operands = all.into_iter();
        let first = operands.next().ok_or_else(unfit)?;
        let mut second = || operands.next().ok_or_else(unfit);
        let expression = match operator {
            Operator::Arithmetic(sign, level) => {
                let (left, right) = self.promoted(first, second()?, &wanted[0]);
                binary(&left, sign, &right, level, of)
            }
            Operator::Shift(sign) => {
                let left = match promoted(&first.of, &first.of) == shape(&wanted[0]) {
                    true => first,
                    false => self.cast(&first, &wanted[0]),
                };
                binary(&left, sign, &second()?, Level::Shift, of)
            }
            Operator::Negate => {
                let text = match first.text.starts_with('-') {
                    true => format!("-({})", first.text),
                    false => format!("-{}", first.within(Level::Unary)),
                };
                Expr::new(text, of).at(Level::Unary)
            }
            Operator::Convert => {
                let widens = self.access.hierarchy.is_subtype(&first.of, &of);
                Expr {
                    implicit: widens.then(|| Box::new(first.clone())),
                    ..self.cast(&first, &of)
                }
            }
            Operator::Compare(sign, opposite, level) => {
                let right = second()?;
                let (left, right) = self.promoted(first, right, &wanted[0]);
                let is_real = matches!(wanted[0], Type::Primitive(Shape::Float | Shape::Double));
                // What is no number is neither less nor not less.
                let exact = level == Level::Equality || !is_real;
                let other = binary(&left, opposite, &right, level, of.clone());
                Expr {
                    opposite: exact.then_some((other.text, level)),
                    ..binary(&left, sign, &right, level, of)
                }
            }
            Operator::Identity(sign, opposite) => {
                let (left, right) = (self.boxed(first), self.boxed(second()?));
                let (left, right) = self.comparable(left, right);
                let other = binary(&left, opposite, &right, Level::Equality, of.clone());
                Expr {
                    opposite: Some((other.text, Level::Equality)),
                    ..binary(&left, sign, &right, Level::Equality, of)
                }
            }
            Operator::Null(sign, opposite) => {
                let null = Expr::new("null", Type::Null);
                let first = self.boxed(first);
                let other = binary(&first, opposite, &null, Level::Equality, of.clone());
                Expr {
                    opposite: Some((other.text, Level::Equality)),
                    ..binary(&first, sign, &null, Level::Equality, of)
                }
            }
            Operator::True => first,
            Operator::False => first.negated(),
            Operator::Concat => concat(first, second()?),
            Operator::Instance => self.instance(&first, &second()?, action)?,
            Operator::Element | Operator::Store => {
                let array = self.as_array(first, action, &wanted[0]);
                let component = match &array.of {
                    Type::Array(component) => (**component).clone(),
                    _ => of,
                };
                let index = second()?;
                let text = format!("{}[{}]", array.within(Level::Primary), index.text);
                match action.arguments.get(2) {
                    Some(value) if operator == Operator::Store => {
                        let value = self.stored(value, &component, action)?;
                        let text = format!("{text} = {}", value.text);
                        let depth = depth.max(value.depth);
                        return Ok(Expr::new(text, Type::Null).at(Level::Statement).deep(depth));
                    }
                    _ => Expr::new(text, component),
                }
            }
            Operator::Length => {
                let array = self.as_array(first, action, &wanted[0]);
                Expr::new(format!("{}.length", array.closed()), of)
            }
            Operator::Array => first,
            Operator::Raise => self.raise(first, action)?,
            Operator::Require
            | Operator::Tolerate
            | Operator::Expect
            | Operator::Start
            | Operator::Lambda
            | Operator::Each => first,
        };
        Ok(expression.deep(depth))
    }

    /// What an operator is given.
    fn operand(&self, value: &Value, action: &Action<'_>) -> Result<Expr, Error> {
        let expression = self.value(value, action.step)?;
        if expression.typing == Typing::Inferred {
            self.refuse(value);
        }
        Ok(expression)
    }

    /// A scalar or the box of one, where a method only says that it gives an object.
    fn scalar(&self, operand: Expr, value: &Value, wanted: &Type) -> Expr {
        if shape(&operand.of).is_some() || operand.of.unboxed().is_some() {
            return operand;
        }
        let object = identity(value).and_then(|id| self.story.objects.get(&id));
        let own = object.and_then(|object| Type::of_class(object.class).unboxed());
        self.cast(&operand, own.as_ref().unwrap_or(wanted))
    }

    /// Two numbers, so that what comes of them is of this type, with as few casts as that needs.
    pub(crate) fn promoted(&self, left: Expr, right: Expr, wanted: &Type) -> (Expr, Expr) {
        let short = |value: &Expr| match (&value.implicit, &value.of == wanted) {
            (Some(inner), true) if matches!(inner.of, Type::Primitive(_)) => (**inner).clone(),
            _ => value.clone(),
        };
        // Two boxes would be compared as objects.
        let fits = |left: &Expr, right: &Expr| {
            shape(&left.of).or(shape(&right.of)).is_some()
                && promoted(&left.of, &right.of) == shape(wanted)
        };
        let pairs = [
            (short(&left), short(&right)),
            (left.clone(), short(&right)),
            (short(&left), right.clone()),
            (left.clone(), right.clone()),
        ];
        let found = pairs.into_iter().find(|(left, right)| fits(left, right));
        found.unwrap_or_else(|| (self.cast(&left, wanted), right))
    }

    /// An object, where a scalar would be compared by its value.
    pub(crate) fn boxed(&self, value: Expr) -> Expr {
        let Type::Primitive(shape) = value.of else {
            return value;
        };
        let of = Type::boxed(shape);
        let name = self.imports.name(&of);
        Expr::new(format!("{name}.valueOf({})", value.text), of).deep(value.depth)
    }

    /// The compiler compares only what might be the same.
    pub(crate) fn comparable(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        match self.related(&left.of, &right.of) {
            true => (left, right),
            false => (self.cast(&left, &Type::object()), right),
        }
    }

    pub(crate) fn related(&self, one: &Type, other: &Type) -> bool {
        let hierarchy = self.access.hierarchy;
        hierarchy.is_subtype(one, other) || hierarchy.is_subtype(other, one)
    }

    fn instance(&self, value: &Expr, class: &Expr, action: &Action<'_>) -> Result<Expr, Error> {
        let boolean = Type::Primitive(Shape::Boolean);
        let of = match &action.arguments[1] {
            Value::Reference(Reference::Class(id)) => {
                Some(Type::of_class(self.story.class(*id, action.step)?))
            }
            _ => None,
        };
        let Some(of) = of.filter(|of| self.access.names(of)) else {
            let text = format!("{}.isInstance({})", class.closed(), value.text);
            return Ok(Expr::new(text, boolean));
        };
        let value = match self.related(&value.of, &of) {
            true => value.clone(),
            false => self.cast(value, &Type::object()),
        };
        let name = self.plain_name(&of);
        let text = format!("{} instanceof {name}", value.within(Level::Shift));
        Ok(Expr::new(text, boolean).at(Level::Relation))
    }

    /// An array of a type with these elements.
    fn as_array(&self, array: Expr, action: &Action<'_>, wanted: &Type) -> Expr {
        if let Type::Array(_) = array.of {
            return array;
        }
        let object = action.arguments.first().and_then(identity);
        let object = object.and_then(|id| self.story.objects.get(&id));
        let own = object.map(|object| Type::of_class(object.class));
        let own = own.filter(|own| matches!(own, Type::Array(_)) && self.access.names(own));
        self.cast(&array, own.as_ref().unwrap_or(wanted))
    }

    fn stored(&self, value: &Value, component: &Type, action: &Action<'_>) -> Result<Expr, Error> {
        if let Some(text) = literal::constant(value) {
            return Ok(Expr::new(text, component.clone()));
        }
        let value = self.operand(value, action)?;
        let unknown = Error::Unknown { step: action.step };
        self.fit(value, component).ok_or(unknown)
    }

    fn raise(&self, thrown: Expr, action: &Action<'_>) -> Result<Expr, Error> {
        let thrown = self.fit(thrown, &Type::class("java/lang/Throwable"));
        let thrown = thrown.ok_or(Error::Unknown { step: action.step })?;
        let text = format!("throw {}", thrown.text);
        let hierarchy = self.access.hierarchy;
        let throws = match &thrown.of {
            Type::Class(class) if hierarchy.is_checked(class) => {
                let line = hierarchy.lineage(class);
                self.throws(
                    match line.iter().any(|name| name == "java/lang/Exception") {
                        true => Throws::Exception,
                        false => Throws::Throwable,
                    },
                );
                vec![class.clone()]
            }
            _ => Vec::new(),
        };
        let raised = Expr::new(text, Type::Null).at(Level::Statement);
        Ok(raised.throwing(throws))
    }
}

/// One side and the other. What holds together less tightly gets brackets, and so does what few know
/// the rules of.
pub(crate) fn binary(left: &Expr, sign: &str, right: &Expr, level: Level, of: Type) -> Expr {
    let (least, above) = match level {
        Level::Sum => (Level::Sum, Level::Product),
        Level::Product => (Level::Product, Level::Unary),
        Level::Relation | Level::Equality => (Level::Shift, Level::Shift),
        _ => (Level::Unary, Level::Unary),
    };
    let text = format!("{} {sign} {}", left.within(least), right.within(above));
    Expr::new(text, of).at(level)
}

/// `+` of strings. One side must be one.
pub(crate) fn concat(left: Expr, right: Expr) -> Expr {
    let string = Type::class("java/lang/String");
    let plain = |value: Expr| match (&value.of, &value.implicit) {
        (Type::Class(_), Some(inner)) if matches!(inner.of, Type::Primitive(_)) => {
            (**inner).clone()
        }
        _ => value,
    };
    let (left, right) = (plain(left), plain(right));
    let is_string = left.of == string || right.of == string;
    let right = right.within(Level::Product);
    let text = match is_string {
        true => format!("{} + {right}", left.within(Level::Sum)),
        false => format!("\"\" + {} + {right}", left.within(Level::Product)),
    };
    Expr::new(text, string).at(Level::Sum)
}

pub(crate) fn shape(of: &Type) -> Option<Shape> {
    match of {
        Type::Primitive(shape) => Some(*shape),
        _ => None,
    }
}

/// The type of what an operator makes of two numbers.
fn promoted(left: &Type, right: &Type) -> Option<Shape> {
    let number = |of: &Type| match of {
        Type::Primitive(shape) => Some(*shape),
        of => shape(&of.unboxed()?),
    };
    let (left, right) = (number(left)?, number(right)?);
    if left == Shape::Boolean || right == Shape::Boolean {
        return (left == right).then_some(left);
    }
    let has = |shape: Shape| left == shape || right == shape;
    let widest = [Shape::Double, Shape::Float, Shape::Long];
    Some(
        widest
            .into_iter()
            .find(|shape| has(*shape))
            .unwrap_or(Shape::Int),
    )
}

#[cfg(test)]
mod tests {
    use culprit_classfile::access;
    use culprit_model::{Site, SiteId, SiteKind};

    use super::*;
    use crate::facts::ClassFacts;
    use crate::story::{End, Kind};

    const CLASS: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Operators.class");

    #[test]
    fn every_operator_of_the_runtime_is_known() {
        let facts = ClassFacts::parse(CLASS).unwrap();
        assert_eq!(facts.name, OWNER);
        let public = |access: u16| access & access::PUBLIC != 0;
        let mut known = 0;
        for method in facts.methods.iter().filter(|method| public(method.access)) {
            let target = Member {
                owner: OWNER.to_owned(),
                name: method.name.clone(),
                descriptor: method.descriptor.clone(),
            };
            let site = Site {
                id: SiteId(1),
                kind: SiteKind::Entry,
                class: OWNER.to_owned(),
                method: method.name.clone(),
                descriptor: method.descriptor.clone(),
                line: None,
                source: None,
                target,
                is_static: true,
            };
            let action = Action {
                place: 0,
                step: 0,
                kind: Kind::Call,
                site: &site,
                receiver: None,
                arguments: &[],
                end: End::Open,
            };
            assert!(Operator::of(&action).is_some(), "{}", method.name);
            known += 1;
        }
        assert!(known > 90, "{known} methods");
    }
}
