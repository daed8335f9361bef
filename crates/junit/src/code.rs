//! The statements and expressions of a test as a tree, without the syntax of a language: [`crate::java`] and
//! [`crate::kotlin`] write them.

use culprit_model::{Member, Value};

use crate::expr::Expr;
use crate::types::Type;

/// A type that the source names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypeName {
    pub(crate) of: Type,
    /// Its name in Java, with the imports of the file.
    pub(crate) java: String,
}

/// A scalar. Two are equal if they have the same bits.
#[derive(Clone, Debug)]
pub(crate) struct Literal(pub(crate) Value);

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.0.is_identical(&other.0)
    }
}

impl Eq for Literal {}

/// An expression. Operands that need brackets in Java have them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A variable or a parameter.
    Name(String),
    This,
    Null,
    /// A scalar that says its type: `(byte) 5`.
    Scalar(Literal),
    /// A scalar where its type is wanted.
    Constant(Literal),
    /// A string, in UTF-16.
    Text(Vec<u16>),
    /// The name of a member or a class as a string.
    Quoted(String),
    /// A class as a value.
    Class(TypeName),
    /// The class of this name, which the source cannot name.
    ClassForName(TypeName, String),
    /// The classes of parameters.
    Classes(Vec<Expr>),
    Brackets(Box<Expr>),
    StaticField(TypeName, Member),
    Field(Box<Expr>, Member),
    Call(Box<Call>),
    /// A call of a method at the end of the test class.
    Helper(&'static str, Vec<Expr>),
    New(TypeName, Member, Vec<Expr>),
    /// An object within another one.
    NewWithin(Box<Expr>, TypeName, Member, Vec<Expr>),
    /// An array with its elements.
    Array(TypeName, Vec<Expr>),
    /// The same as an element of another array.
    Row(Type, Vec<Expr>),
    /// An array of a length: of zeros or nulls.
    Zeros(ArrayName, Box<Expr>),
    /// The characters of a string, as an array.
    Characters(Box<Expr>),
    /// The bytes of a string in ISO 8859-1, as an array. The class has the character sets.
    Bytes(Box<Expr>, TypeName),
    Element(Box<Expr>, Box<Expr>),
    Length(Box<Expr>),
    /// A scalar in its box.
    Boxed(TypeName, Box<Expr>),
    Cast(TypeName, Box<Expr>),
    Instance(Box<Expr>, TypeName),
    Unary(&'static str, Box<Expr>),
    Binary(Box<Expr>, &'static str, Box<Expr>),
    /// A choice between two values: the condition, and both.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Lambda(Vec<String>, Box<LambdaCode>),
    Proxy(Box<Proxy>),
    Assign(Box<Expr>, Box<Expr>),
    Throw(Box<Expr>),
    /// An exception thrown where the compiler wants it declared and it cannot be: by a method of this test class.
    Sneak(String, TypeName, Box<Expr>),
}

impl Code {
    /// A scalar where its type is wanted.
    pub(crate) fn constant(value: Value) -> Code {
        Code::Constant(Literal(value))
    }
}

/// A call of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) member: Member,
    pub(crate) arguments: Vec<Expr>,
}

/// The object or class that a method is called on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Object(Box<Expr>),
    Class(TypeName),
    /// A static method that the file imports, by its name there.
    Imported(String),
}

/// The name of an array type whose length is given: `new int[3][]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ArrayName {
    /// The type of what is at the bottom.
    pub(crate) element: TypeName,
    pub(crate) of: Type,
    /// The brackets behind those with the length.
    pub(crate) rest: String,
}

/// The body of a lambda.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LambdaCode {
    /// A value, or a call whose value nobody needs.
    Value(Expr),
    Nothing,
    /// The same in a stand-in.
    NoAnswer,
    /// One statement.
    Line(Line),
    Lines(Vec<Line>),
}

/// A proxy of the JDK for an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Proxy {
    pub(crate) interface: TypeName,
    /// The class that makes proxies.
    pub(crate) maker: TypeName,
    /// The parameters: the proxy, the method, its arguments.
    pub(crate) parameters: [String; 3],
    pub(crate) answer: Expr,
    /// The only method that gives the answer, if others give none.
    pub(crate) only: Option<String>,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    Do(Expr),
    Declare {
        of: TypeName,
        name: String,
        value: Expr,
        /// Java allows the elements alone as the value, which is an array.
        is_short: bool,
    },
    /// A variable gets another value.
    Assign {
        name: String,
        of: Type,
        value: Expr,
    },
    /// The same where the value comes from the last one: `+=`.
    AssignBy {
        name: String,
        of: Type,
        sign: &'static str,
        by: Expr,
    },
    /// `++`.
    Increment(Expr),
    /// An element of an array gets another value.
    AssignElement {
        name: String,
        place: usize,
        of: Type,
        value: Expr,
    },
    Return(Option<Expr>),
    If {
        condition: Expr,
        yes: Vec<Line>,
        no: Vec<Line>,
    },
    /// The check of a condition of the user, in Java.
    Check {
        condition: String,
        error: TypeName,
        message: Vec<u16>,
    },
    Try {
        body: Vec<Line>,
        caught: TypeName,
        name: String,
        handler: Vec<Line>,
    },
    For(Box<Head>, Vec<Line>),
    Comment(&'static str),
    /// An object of a class of its own, which has no name.
    StandIn(Box<StandInCode>),
    /// Copies an array into a parameter.
    Fill {
        system: TypeName,
        from: Expr,
        into: String,
        length: u32,
    },
}

impl Line {
    /// Nothing is done after it.
    pub(crate) fn is_end(&self) -> bool {
        match self {
            Line::Return(_) => true,
            Line::Do(it) => matches!(it.code, Code::Throw(_) | Code::Sneak(..)),
            _ => false,
        }
    }
}

/// The head of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    Count {
        name: &'static str,
        from: i64,
        end: i64,
    },
    Each {
        /// The type of the variable.
        of: TypeName,
        name: String,
        values: Vec<Expr>,
    },
    Rows {
        /// The type of an element of a row.
        of: TypeName,
        name: String,
        rows: Vec<Vec<Expr>>,
    },
}

/// A variable that gets a stand-in with a class of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StandInCode {
    pub(crate) of: TypeName,
    pub(crate) variable: String,
    /// The variable is a field, which is declared elsewhere.
    pub(crate) is_field: bool,
    /// The name of the class if it has several supertypes.
    pub(crate) name: Option<String>,
    /// The class that it extends, with the arguments of its constructor.
    pub(crate) extends: Option<(TypeName, Vec<Expr>)>,
    pub(crate) implements: Vec<TypeName>,
    pub(crate) fields: Vec<StandInField>,
    pub(crate) methods: Vec<StandInMethod>,
}

/// A field of a stand-in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StandInField {
    /// The number of calls so far.
    Calls(String),
    /// The answers, in order, and the type of one.
    Answers(TypeName, String, Vec<Expr>),
}

/// A method of a stand-in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StandInMethod {
    /// The class or interface that declares it.
    pub(crate) member: Member,
    /// `public` and so on, with a space, as Java has it.
    pub(crate) visible: &'static str,
    pub(crate) parameters: Vec<(TypeName, String)>,
    pub(crate) result: Option<TypeName>,
    pub(crate) throws: Vec<String>,
    pub(crate) body: Answers,
}

/// The body of a stand-in's method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    /// Always the same.
    Same(Vec<Line>),
    /// The elements of an array, the last one from then on. `math` is the class with `min`.
    Listed {
        calls: String,
        answers: String,
        math: TypeName,
    },
    /// For each number of calls the answer up to it, and the answer from then on.
    Counted {
        calls: String,
        earlier: Vec<(usize, Vec<Line>)>,
        last: Vec<Line>,
    },
}
