//! Expressions as source text, with the types and precedence that decide where they can be used.

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

/// A piece of source that has a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expr {
    pub(crate) text: String,
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
    pub(crate) opposite: Option<(String, Precedence)>,
    /// The operand, where the compiler converts by itself: `size` of `(long) size`.
    pub(crate) implicit: Option<Box<Expr>>,
    /// The whole conversion, where this is its operand.
    pub(crate) explicit: Option<Box<Expr>>,
}

impl Expr {
    pub(crate) fn new(text: impl Into<String>, of: Type) -> Expr {
        Expr {
            text: text.into(),
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
    pub(crate) fn closed(&self) -> String {
        self.within(Precedence::Creation)
    }

    /// As an operand of something that holds together so tightly.
    pub(crate) fn within(&self, level: Precedence) -> String {
        within(&self.text, self.level, level)
    }

    /// The opposite condition.
    pub(crate) fn negated(&self) -> Expr {
        let (text, level) = match &self.opposite {
            Some((text, level)) => (text.clone(), *level),
            None => (
                format!("!{}", self.within(Precedence::Unary)),
                Precedence::Unary,
            ),
        };
        Expr {
            text,
            level,
            opposite: Some((self.text.clone(), self.level)),
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

fn within(text: &str, is: Precedence, wanted: Precedence) -> String {
    if is < wanted {
        format!("({text})")
    } else {
        text.to_owned()
    }
}
