//! Expressions, with the types and precedence that decide where they can be used.

use crate::code::Code;
use crate::java;
use crate::types::Type;

/// The precedence of an expression, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Precedence {
    Statement,
    Lambda,
    /// `a ? b : c`.
    Choice,
    Either,
    Both,
    Or,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    /// A cast, a negative number.
    Unary,
    /// `new int[3]`: a bracket after it would be one more dimension.
    Creation,
    Primary,
}

/// The knowledge of the compiler about an expression besides its class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Typing {
    Plain,
    /// Its type has arguments, which are not known here.
    Parameterized,
    /// The compiler works its type out: it may be narrower than the one that is known here.
    Inferred,
}

/// An expression of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expr {
    pub(crate) code: Code,
    pub(crate) of: Type,
    pub(crate) level: Precedence,
    pub(crate) typing: Typing,
    /// The type with its arguments, as class files have it, where the compiler knows those.
    pub(crate) signature: Option<String>,
    /// Classes of exceptions that it declares to throw.
    pub(crate) throws: Vec<String>,
    /// Calls that are arguments of calls, so many at most within each other.
    pub(crate) depth: usize,
    /// The opposite condition, and its precedence.
    pub(crate) opposite: Option<Box<(Code, Precedence)>>,
    /// The operand, where the compiler converts by itself: `size` of `(long) size`.
    pub(crate) implicit: Option<Box<Expr>>,
    /// The whole conversion, where this is its operand.
    pub(crate) explicit: Option<Box<Expr>>,
}

impl Expr {
    pub(crate) fn new(code: Code, of: Type) -> Expr {
        Expr {
            code,
            of,
            level: Precedence::Primary,
            typing: Typing::Plain,
            signature: None,
            throws: Vec::new(),
            depth: 0,
            opposite: None,
            implicit: None,
            explicit: None,
        }
    }

    /// A variable or a parameter.
    pub(crate) fn name(name: impl Into<String>, of: Type) -> Expr {
        Expr::new(Code::Name(name.into()), of)
    }

    /// In the syntax of Java.
    pub(crate) fn java(&self) -> String {
        java::expression(self)
    }

    /// Its first sign is a minus.
    pub(crate) fn is_negative(&self) -> bool {
        self.java().starts_with('-')
    }

    pub(crate) fn at(self, level: Precedence) -> Expr {
        Expr { level, ..self }
    }

    pub(crate) fn deep(self, depth: usize) -> Expr {
        Expr { depth, ..self }
    }

    pub(crate) fn throwing(self, throws: Vec<String>) -> Expr {
        Expr { throws, ..self }
    }

    /// The compiler must be told of which type it is.
    pub(crate) fn is_lambda(&self) -> bool {
        self.level == Precedence::Lambda
    }

    /// So that `.member` can follow.
    pub(crate) fn closed(&self) -> Expr {
        self.within(Precedence::Creation)
    }

    /// As an operand of something that holds together so tightly.
    pub(crate) fn within(&self, level: Precedence) -> Expr {
        match self.level < level {
            true => self.in_brackets(),
            false => self.clone(),
        }
    }

    pub(crate) fn in_brackets(&self) -> Expr {
        Expr::new(Code::Brackets(Box::new(self.clone())), self.of.clone())
    }

    /// The opposite condition.
    pub(crate) fn negated(&self) -> Expr {
        let (code, level) = match &self.opposite {
            Some(opposite) => (**opposite).clone(),
            None => (
                Code::Unary("!", Box::new(self.within(Precedence::Unary))),
                Precedence::Unary,
            ),
        };
        Expr {
            code,
            level,
            opposite: Some(Box::new((self.code.clone(), self.level))),
            ..self.clone()
        }
    }

    /// The operand, where the compiler converts it to the wanted type by itself.
    pub(crate) fn shortened(self, wanted: &Type) -> Expr {
        let same = |inner: &Expr| match (&self.of, &inner.of) {
            // A box may stand for its class and all above it.
            (Type::Class(_), Type::Primitive(_)) => !matches!(wanted, Type::Primitive(_)),
            _ => self.of == *wanted,
        };
        match self.implicit.clone() {
            Some(inner) if same(&inner) => Expr {
                explicit: Some(Box::new(self)),
                ..*inner
            },
            _ => self,
        }
    }
}
