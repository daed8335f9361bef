//! Operators of scripts in the notation of Java.

use culprit_model::owner::asserting;
use culprit_model::script::{Form, LoopVariable, Operation, Operator};
use culprit_model::value::Shape;
use culprit_model::{Member, Reference, Value};

use crate::code::{Code, Target};
use crate::error::Error;
use crate::expr::{Expr, Precedence, Typing};
use crate::graph::Node;
use crate::literal;
use crate::scope::{Scope, Throws};
use crate::types::{Type, parameters, result};

/// The notation of an operator in Java.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Notation {
    /// A sign between two numbers.
    Arithmetic(&'static str, Precedence),
    Shift(&'static str),
    Negate,
    Cast,
    /// A relation of numbers.
    Relation(&'static str, Precedence),
    /// `==` or `!=` of objects.
    Identity(&'static str),
    /// `==` or `!=` with `null`.
    Null(&'static str),
    /// The operand itself.
    Plain,
    Not,
    Concat,
    Instance,
    /// To a class, not to the type of a number.
    ClassCast,
    Element,
    Store,
    Length,
    Raise,
}

/// The notation of every operator. A new one has to be added here.
fn notation(operator: Operator) -> Notation {
    use Notation::{Arithmetic, Cast, Identity, Null, Relation, Shift};
    match operator {
        Operator::Add => Arithmetic("+", Precedence::Sum),
        Operator::Subtract => Arithmetic("-", Precedence::Sum),
        Operator::Multiply => Arithmetic("*", Precedence::Product),
        Operator::Divide => Arithmetic("/", Precedence::Product),
        Operator::Remainder => Arithmetic("%", Precedence::Product),
        Operator::And => Arithmetic("&", Precedence::And),
        Operator::Or => Arithmetic("|", Precedence::Or),
        Operator::Xor => Arithmetic("^", Precedence::Xor),
        Operator::ShiftLeft => Shift("<<"),
        Operator::ShiftRight => Shift(">>"),
        Operator::ShiftRightUnsigned => Shift(">>>"),
        Operator::Negate => Notation::Negate,
        Operator::ToInt
        | Operator::ToLong
        | Operator::ToFloat
        | Operator::ToDouble
        | Operator::ToByte
        | Operator::ToChar
        | Operator::ToShort => Cast,
        Operator::IsEqual => Relation("==", Precedence::Equality),
        Operator::IsDifferent => Relation("!=", Precedence::Equality),
        Operator::IsLess => Relation("<", Precedence::Relation),
        Operator::IsAtLeast => Relation(">=", Precedence::Relation),
        Operator::IsGreater => Relation(">", Precedence::Relation),
        Operator::IsAtMost => Relation("<=", Precedence::Relation),
        Operator::IsSame => Identity("=="),
        Operator::IsOther => Identity("!="),
        Operator::IsNull => Null("=="),
        Operator::IsNotNull => Null("!="),
        Operator::IsTrue => Notation::Plain,
        Operator::IsFalse => Notation::Not,
        Operator::IsInstance => Notation::Instance,
        Operator::Cast => Notation::ClassCast,
        Operator::Concat => Notation::Concat,
        Operator::Element => Notation::Element,
        Operator::Store => Notation::Store,
        Operator::Length => Notation::Length,
        Operator::Array => Notation::Plain,
        Operator::Raise => Notation::Raise,
    }
}

/// The sign between two numbers or strings, which an assignment can include: `a += b`.
pub(crate) fn sign(operator: Operator) -> Option<&'static str> {
    match notation(operator) {
        Notation::Arithmetic(sign, _) => Some(sign),
        Notation::Concat => Some("+"),
        _ => None,
    }
}

/// The sign of the opposite relation.
fn opposite(operator: Operator) -> Option<&'static str> {
    match notation(operator.opposite()?) {
        Notation::Relation(sign, _) | Notation::Identity(sign) | Notation::Null(sign) => Some(sign),
        _ => None,
    }
}

/// A statement that always fails, whatever it is given.
pub(crate) fn is_failure(node: &Node<'_>) -> bool {
    let Some(target) = node.target() else {
        return node.operator() == Some(Operator::Raise);
    };
    let is_constant = || {
        node.arguments
            .iter()
            .all(|value| value.identity().is_none())
    };
    asserting(&target.owner).is_some() && (target.name == "fail" || is_constant())
}

/// An operator whose first operand is an array, whatever its descriptor declares.
pub(crate) fn wants_array(node: &Node<'_>) -> bool {
    let form = node.operator().map(Operator::form);
    matches!(
        form,
        Some(Form::Length | Form::Array | Form::Element | Form::Store)
    )
}

impl Scope<'_> {
    /// The condition of a guard.
    pub(crate) fn condition_of(&self, node: &Node<'_>) -> Result<Expr, Error> {
        self.only_operand(node, &Type::Primitive(Shape::Boolean))
    }

    /// The value of a loop's variable: the first, or that of the round.
    pub(crate) fn loop_variable(
        &self,
        variable: LoopVariable,
        node: &Node<'_>,
    ) -> Result<Expr, Error> {
        match variable {
            LoopVariable::Start(_) => self.only_operand(node, &self.graph.result_type(node)),
            LoopVariable::Each(_) => self.each(node),
        }
    }

    fn only_operand(&self, node: &Node<'_>, wanted: &Type) -> Result<Expr, Error> {
        let statement = node.number;
        let value = node.arguments.first();
        let value = value.ok_or(Error::Values { statement })?;
        let operand = self.operand(value, node)?;
        Ok(match wanted {
            Type::Primitive(_) => self.scalar(operand, value, wanted),
            _ => operand,
        })
    }

    /// An operator in the notation of Java.
    pub(crate) fn operator(&self, operation: Operation, node: &Node<'_>) -> Result<Expr, Error> {
        let Operation { operator, .. } = operation;
        let descriptor = operation.descriptor();
        let wanted = parameters(&descriptor);
        let mut all = Vec::new();
        for (place, value) in node.arguments.iter().enumerate() {
            let operand = match (operator, place) {
                (Operator::Store, 2) => break,
                _ => self.operand(value, node)?,
            };
            all.push(match wanted.get(place) {
                Some(wanted @ Type::Primitive(_)) => self.scalar(operand, value, wanted),
                _ => operand,
            });
        }
        let depth = all.iter().map(|value| value.depth).max().unwrap_or(0);
        let of = result(&descriptor).unwrap_or(Type::Null);
        let unfit = || Error::Values {
            statement: node.number,
        };
        let mut operands = all.into_iter();
        let first = operands.next().ok_or_else(unfit)?;
        let mut second = || operands.next().ok_or_else(unfit);
        let opposite = opposite(operator);
        let expression = match notation(operator) {
            Notation::Arithmetic(sign, level) => {
                let (left, right) = self.promoted(first, second()?, &wanted[0]);
                binary(&left, sign, &right, level, of)
            }
            Notation::Shift(sign) => {
                let left = match promoted(&first.of, &first.of) == shape(&wanted[0]) {
                    true => first,
                    false => self.cast(&first, &wanted[0]),
                };
                binary(&left, sign, &second()?, Precedence::Shift, of)
            }
            Notation::Negate => negative(&first, of),
            Notation::Cast => {
                let widens = self.access.hierarchy.is_subtype(&first.of, &of);
                Expr {
                    implicit: widens.then(|| Box::new(first.clone())),
                    ..self.cast(&first, &of)
                }
            }
            Notation::Relation(sign, level) => {
                let right = second()?;
                let (left, right) = self.promoted(first, right, &wanted[0]);
                let is_real = matches!(wanted[0], Type::Primitive(Shape::Float | Shape::Double));
                // NaN is neither less nor at least.
                let opposite = opposite.filter(|_| level == Precedence::Equality || !is_real);
                relation(&left, &right, sign, opposite, level, of)
            }
            Notation::Identity(sign) => {
                let (left, right) = (self.boxed(first), self.boxed(second()?));
                let (left, right) = self.comparable(left, right);
                relation(&left, &right, sign, opposite, Precedence::Equality, of)
            }
            Notation::Null(sign) => {
                let null = Expr::new(Code::Null, Type::Null);
                let first = self.boxed(first);
                relation(&first, &null, sign, opposite, Precedence::Equality, of)
            }
            Notation::Plain => first,
            Notation::Not => first.negated(),
            Notation::Concat => concat(first, second()?),
            Notation::Instance => self.instance(&first, &second()?, node)?,
            Notation::ClassCast => self.class_cast(&first, &second()?, node)?,
            Notation::Element | Notation::Store => {
                let array = self.as_array(first, node, &wanted[0]);
                let component = match &array.of {
                    Type::Array(component) => (**component).clone(),
                    _ => of,
                };
                let index = second()?;
                let element = array.element(index, component.clone());
                match node.arguments.get(2) {
                    Some(value) if operator == Operator::Store => {
                        let value = self.stored(value, &component, node)?;
                        let depth = depth.max(value.depth);
                        let code = Code::Assign(Box::new(element), Box::new(value));
                        return Ok(Expr::new(code, Type::Null)
                            .at(Precedence::Statement)
                            .deep(depth));
                    }
                    _ => element,
                }
            }
            Notation::Length => {
                let array = self.as_array(first, node, &wanted[0]);
                Expr::new(Code::Length(Box::new(array.closed())), of)
            }
            Notation::Raise => self.raise(first, node)?,
        };
        Ok(expression.deep(depth))
    }

    /// An operand of an operator.
    fn operand(&self, value: &Value, node: &Node<'_>) -> Result<Expr, Error> {
        let expression = self.value(value, node.number)?;
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
        let object = value.identity().and_then(|id| self.graph.objects.get(&id));
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
        let name = self.named(&of);
        let depth = value.depth;
        Expr::new(Code::Boxed(name, Box::new(value)), of).deep(depth)
    }

    /// The compiler compares only what might be the same.
    pub(crate) fn comparable(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        (self.castable(&left, &right.of), right)
    }

    pub(crate) fn related(&self, one: &Type, other: &Type) -> bool {
        let hierarchy = self.access.hierarchy;
        hierarchy.is_subtype(one, other) || hierarchy.is_subtype(other, one)
    }

    fn instance(&self, value: &Expr, class: &Expr, node: &Node<'_>) -> Result<Expr, Error> {
        let boolean = Type::Primitive(Shape::Boolean);
        let Some(of) = self.class_operand(node)? else {
            return Ok(of_class(class, "isInstance", value, boolean));
        };
        let value = Box::new(self.castable(value, &of).within(Precedence::Shift));
        let code = Code::Instance(value, self.plainly_named(&of));
        Ok(Expr::new(code, boolean).at(Precedence::Relation))
    }

    /// A cast to the class of the second operand.
    fn class_cast(&self, value: &Expr, class: &Expr, node: &Node<'_>) -> Result<Expr, Error> {
        let Some(of) = self.class_operand(node)? else {
            return Ok(of_class(class, "cast", value, Type::object()));
        };
        Ok(self.cast(&self.castable(value, &of), &of))
    }

    /// A value that the compiler lets be of a type: it refuses what can never be.
    fn castable(&self, value: &Expr, of: &Type) -> Expr {
        match self.related(&value.of, of) {
            true => value.clone(),
            false => self.cast(value, &Type::object()),
        }
    }

    /// The class that is the second operand, if the test can name it.
    fn class_operand(&self, node: &Node<'_>) -> Result<Option<Type>, Error> {
        let Some(Value::Reference(Reference::Class(id))) = node.arguments.get(1) else {
            return Ok(None);
        };
        let of = Type::of_class(self.graph.class(*id, node.number)?);
        Ok(Some(of).filter(|of| self.access.names(of)))
    }

    /// An array of a type with these elements.
    fn as_array(&self, array: Expr, node: &Node<'_>, wanted: &Type) -> Expr {
        if let Type::Array(_) = array.of {
            return array;
        }
        let object = node.arguments.first().and_then(Value::identity);
        let object = object.and_then(|id| self.graph.objects.get(&id));
        let own = object.map(|object| Type::of_class(object.class));
        let own = own.filter(|own| matches!(own, Type::Array(_)) && self.access.names(own));
        self.cast(&array, own.as_ref().unwrap_or(wanted))
    }

    fn stored(&self, value: &Value, component: &Type, node: &Node<'_>) -> Result<Expr, Error> {
        if literal::constant(value).is_some() {
            return Ok(Expr::new(Code::constant(value.clone()), component.clone()));
        }
        let value = self.operand(value, node)?;
        let unknown = Error::Unknown {
            statement: node.number,
        };
        self.fit(value, component).ok_or(unknown)
    }

    fn raise(&self, thrown: Expr, node: &Node<'_>) -> Result<Expr, Error> {
        let thrown = self.fit(thrown, &Type::class("java/lang/Throwable"));
        let thrown = thrown.ok_or(Error::Unknown {
            statement: node.number,
        })?;
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
        let raised = Expr::new(Code::Throw(Box::new(thrown)), Type::Null).at(Precedence::Statement);
        Ok(raised.throwing(throws))
    }
}

/// A method of `Class` that takes an object.
fn of_class(class: &Expr, name: &str, value: &Expr, of: Type) -> Expr {
    let result = match of {
        Type::Primitive(_) => "Z",
        _ => "Ljava/lang/Object;",
    };
    let member = Member {
        owner: "java/lang/Class".to_owned(),
        name: name.to_owned(),
        descriptor: format!("(Ljava/lang/Object;){result}"),
    };
    let target = Target::Object(Box::new(class.closed()));
    Expr::call(target, &member, vec![value.clone()], of)
}

/// A relation, with the sign that it has where it is negated.
fn relation(
    left: &Expr,
    right: &Expr,
    sign: &'static str,
    opposite: Option<&'static str>,
    level: Precedence,
    of: Type,
) -> Expr {
    let opposite = opposite.map(|sign| binary(left, sign, right, level, of.clone()).code);
    Expr {
        opposite: opposite.map(|code| Box::new((code, level))),
        ..binary(left, sign, right, level, of)
    }
}

/// Two operands with a sign between them. An operand of a lower level gets brackets, and so does one whose
/// precedence few readers know.
pub(crate) fn binary(
    left: &Expr,
    sign: &'static str,
    right: &Expr,
    level: Precedence,
    of: Type,
) -> Expr {
    let (least, above) = match level {
        Precedence::Sum => (Precedence::Sum, Precedence::Product),
        Precedence::Product => (Precedence::Product, Precedence::Unary),
        Precedence::Relation | Precedence::Equality => (Precedence::Shift, Precedence::Shift),
        _ => (Precedence::Unary, Precedence::Unary),
    };
    signed(left.within(least), sign, right.within(above), of).at(level)
}

/// Two operands with a sign between them, as they are.
pub(crate) fn signed(left: Expr, sign: &'static str, right: Expr, of: Type) -> Expr {
    Expr::new(Code::Binary(Box::new(left), sign, Box::new(right)), of)
}

/// A number with a minus before it.
pub(crate) fn negative(value: &Expr, of: Type) -> Expr {
    let value = match value.is_negative() {
        true => value.in_brackets(),
        false => value.within(Precedence::Unary),
    };
    Expr::new(Code::Unary("-", Box::new(value)), of).at(Precedence::Unary)
}

impl Expr {
    /// An element of an array.
    pub(crate) fn element(&self, index: Expr, of: Type) -> Expr {
        let array = Box::new(self.within(Precedence::Primary));
        Expr::new(Code::Element(array, Box::new(index)), of)
    }
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
    let left = match is_string {
        true => left.within(Precedence::Sum),
        false => {
            let empty = Expr::new(Code::Text(Vec::new()), string.clone());
            signed(empty, "+", left.within(Precedence::Product), string.clone())
        }
    };
    signed(left, "+", right.within(Precedence::Product), string).at(Precedence::Sum)
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
