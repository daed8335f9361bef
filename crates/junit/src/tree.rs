//! The body of a lambda as a tree: what [`crate::lift`] reads from a class file, and
//! [`crate::lambda_body`] prints.

use culprit_model::Member;
use culprit_model::script::HandleKind;
use culprit_model::value::Shape;

use crate::types::Type;

/// A body, and what it declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lifted {
    pub(crate) statements: Vec<Statement>,
    pub(crate) locals: Vec<Local>,
    /// Types of its parameters; those that it captures come first.
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Option<Type>,
}

/// A variable of a body, as far as the class file tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Local {
    pub(crate) name: Option<String>,
    pub(crate) of: Option<Type>,
    /// The instruction at which its scope begins.
    pub(crate) start: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Statement {
    Do(Tree),
    Declare(usize, Tree),
    Assign(Tree, Tree),
    Return(Option<Tree>),
    Throw(Tree),
    If(Tree, Vec<Statement>, Vec<Statement>),
}

/// An expression. Of the small scalars, only those who use one know which it is: `0` may be `false`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Tree {
    Parameter(usize),
    Local(usize),
    Null,
    Int(i32),
    Long(i64),
    /// By their bits.
    Float(u32),
    Double(u64),
    Text(String),
    Class(Type),
    Static(Member),
    Field(Box<Tree>, Member),
    /// Without a receiver if the method is static.
    Call(Option<Box<Tree>>, Member, Vec<Tree>),
    New(Member, Vec<Tree>),
    /// An array of this type: its length, and the elements that are told.
    Array(Type, Box<Tree>, Vec<Tree>),
    /// The type of the array, where the instruction tells.
    Element(Option<Type>, Box<Tree>, Box<Tree>),
    Length(Box<Tree>),
    Cast(Type, Box<Tree>),
    Instance(Type, Box<Tree>),
    Convert(Shape, Box<Tree>),
    Negate(Shape, Box<Tree>),
    Binary(NumberOperator, Shape, Box<Tree>, Box<Tree>),
    /// Of numbers, or of objects.
    Compare(Relation, Shape, Box<Tree>, Box<Tree>),
    /// Less than, equal or greater, as a number; the last says what comes of what is no number.
    Order(Shape, Box<Tree>, Box<Tree>, i32),
    Not(Box<Tree>),
    Both(Box<Tree>, Box<Tree>),
    Either(Box<Tree>, Box<Tree>),
    Conditional(Box<Tree>, Box<Tree>, Box<Tree>),
    /// Texts and values with their types.
    Concat(Vec<TextPiece>),
    Lambda(Box<LambdaNode>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TextPiece {
    Text(String),
    Value(Type, Tree),
}

/// A lambda within a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LambdaNode {
    pub(crate) site: LambdaSite,
    pub(crate) captured: Vec<Tree>,
}

/// The call site of a lambda.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LambdaSite {
    pub(crate) body: Member,
    pub(crate) kind: HandleKind,
    pub(crate) interface: Type,
    /// The method of the interface.
    pub(crate) method: String,
    /// Its descriptor, as it is and as it is used.
    pub(crate) erased: String,
    pub(crate) exact: String,
}

/// A binary operator of numbers, in the order of the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    And,
    Or,
    Xor,
}

/// A relation of two values, in the order of the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    Different,
    Less,
    AtLeast,
    Greater,
    AtMost,
}

impl Relation {
    pub(crate) const ALL: [Relation; 6] = [
        Relation::Equal,
        Relation::Different,
        Relation::Less,
        Relation::AtLeast,
        Relation::Greater,
        Relation::AtMost,
    ];

    pub(crate) fn opposite(self) -> Relation {
        match self {
            Relation::Equal => Relation::Different,
            Relation::Different => Relation::Equal,
            Relation::Less => Relation::AtLeast,
            Relation::AtLeast => Relation::Less,
            Relation::Greater => Relation::AtMost,
            Relation::AtMost => Relation::Greater,
        }
    }
}

/// The opposite condition.
pub(crate) fn negated(condition: Tree) -> Tree {
    match condition {
        Tree::Not(inner) => *inner,
        Tree::Compare(relation, shape, left, right)
            if !matches!(shape, Shape::Float | Shape::Double)
                || matches!(relation, Relation::Equal | Relation::Different) =>
        {
            Tree::Compare(relation.opposite(), shape, left, right)
        }
        other => Tree::Not(Box::new(other)),
    }
}

/// A choice between two things. Where one of them is a choice that has the other, too, both
/// conditions become one: `a ? (b ? x : y) : y` is `a && b ? x : y`.
pub(crate) fn choice<T: PartialEq>(
    condition: Tree,
    yes: T,
    no: T,
    split: impl Fn(&T) -> Option<(Tree, T, T)>,
) -> (Tree, T, T) {
    let both = |one, other| Tree::Both(Box::new(one), Box::new(other));
    let either = |one, other| Tree::Either(Box::new(one), Box::new(other));
    if let Some((inner, inner_yes, inner_no)) = split(&yes) {
        if inner_no == no {
            return (both(condition, inner), inner_yes, no);
        }
        if inner_yes == no {
            return (either(negated(condition), inner), no, inner_no);
        }
    }
    if let Some((inner, inner_yes, inner_no)) = split(&no) {
        if inner_yes == yes {
            return (either(condition, inner), yes, inner_no);
        }
        if inner_no == yes {
            return (both(negated(condition), inner), inner_yes, yes);
        }
    }
    (condition, yes, no)
}

impl Tree {
    pub(crate) fn choice(condition: Tree, yes: Tree, no: Tree) -> Tree {
        let (condition, yes, no) = choice(condition, yes, no, |tree| match tree {
            Tree::Conditional(condition, yes, no) => {
                Some(((**condition).clone(), (**yes).clone(), (**no).clone()))
            }
            _ => None,
        });
        Tree::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
    }
}

impl Statement {
    pub(crate) fn choice(condition: Tree, yes: Vec<Statement>, no: Vec<Statement>) -> Statement {
        let (condition, yes, no) = choice(condition, yes, no, |all| match all.as_slice() {
            [Statement::If(condition, yes, no)] => {
                Some((condition.clone(), yes.clone(), no.clone()))
            }
            _ => None,
        });
        match (yes.as_slice(), no.as_slice()) {
            ([Statement::Return(Some(yes))], [Statement::Return(Some(no))]) => {
                Statement::Return(Some(Tree::choice(condition, yes.clone(), no.clone())))
            }
            ([], [_, ..]) => Statement::If(negated(condition), no, yes),
            _ => Statement::If(condition, yes, no),
        }
    }
}
