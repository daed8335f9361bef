//! The state that all parts of the printer share: the graph, the view from the package of the test, names, and the
//! imports, exceptions and methods used so far, which are declared around the statements.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use culprit_model::owner::asserting;
use culprit_model::script::loops::Loops;
use culprit_model::{Member, ObjectId, Value};

use crate::access::Access;
use crate::code::{Code, TypeName};
use crate::condition::Condition;
use crate::expr::{Expr, Precedence};
use crate::flow::Flow;
use crate::graph::Graph;
use crate::hierarchy::DeclaredMethod;
use crate::imports::Imports;
use crate::inline::Inline;
use crate::names::NameGenerator;
use crate::overload::converts;
use crate::reflect::Helper;
use crate::types::Type;

pub(crate) struct Scope<'a> {
    pub(crate) graph: &'a Graph<'a>,
    /// The condition of the user that a statement checks.
    pub(crate) condition: Option<&'a Condition>,
    pub(crate) access: Access<'a>,
    pub(crate) imports: Imports<'a>,
    pub(crate) variables: BTreeMap<ObjectId, Variable>,
    pub(crate) names: RefCell<NameGenerator>,
    pub(crate) throws: Cell<Throws>,
    pub(crate) helpers: RefCell<BTreeSet<Helper>>,
    pub(crate) flow: Flow,
    pub(crate) loops: &'a Loops,
    /// For what differs between the rounds of a loop, the array that has it.
    pub(crate) rows: BTreeMap<ObjectId, String>,
    /// Results that are written where they are used.
    pub(crate) inline: Inline,
    /// Inlined results that need a variable after all.
    pub(crate) refused: RefCell<BTreeSet<ObjectId>>,
    /// Variables for results without by the place of the statement.
    pub(crate) results: RefCell<BTreeMap<usize, Expr>>,
}

/// A variable of the test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) of: Type,
    /// It is a field of the test class: a stand-in refers to it before it has its value.
    pub(crate) is_field: bool,
}

/// The exceptions that the test method declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Throws {
    Nothing,
    Exception,
    Throwable,
}

impl Scope<'_> {
    pub(crate) fn cast(&self, value: &Expr, to: &Type) -> Expr {
        // `(Object) -1` would be a difference.
        let is_primitive = matches!(to, Type::Primitive(_));
        let operand = match value.is_negative() && !is_primitive {
            true => value.in_brackets(),
            false => value.within(Precedence::Unary),
        };
        Expr::new(Code::Cast(self.named(to), Box::new(operand)), to.clone())
            .at(Precedence::Unary)
            .deep(value.depth)
            .throwing(value.throws.clone())
    }

    /// The name of a type.
    pub(crate) fn named(&self, of: &Type) -> TypeName {
        TypeName {
            of: of.clone(),
            java: self.imports.name(of),
        }
    }

    /// The name of a type where its type arguments are not missed.
    pub(crate) fn plainly_named(&self, of: &Type) -> TypeName {
        TypeName {
            of: of.clone(),
            java: self.imports.plain(of),
        }
    }

    /// The name of a class.
    pub(crate) fn named_class(&self, name: &str) -> TypeName {
        TypeName {
            of: Type::class(name),
            java: self.imports.class(name),
        }
    }

    /// The value where this type is wanted. `None` where it does not fit and the type cannot be
    /// named.
    pub(crate) fn fit(&self, value: Expr, wanted: &Type) -> Option<Expr> {
        let value = value.shortened(wanted);
        if converts(self.access.hierarchy, &value.of, wanted) {
            return Some(value);
        }
        self.access.names(wanted).then(|| self.cast(&value, wanted))
    }

    /// A result that is written where it is used had better be a variable.
    pub(crate) fn refuse(&self, value: &Value) {
        let made = value
            .identity()
            .filter(|id| self.inline.made_at(*id).is_some());
        self.refused.borrow_mut().extend(made);
    }

    /// The test method throws at least this.
    pub(crate) fn throws(&self, what: Throws) {
        self.throws.set(self.throws.get().max(what));
    }

    /// A call of this method: what it declares to throw, the test throws.
    pub(crate) fn calls(&self, found: Option<&DeclaredMethod>) -> Vec<String> {
        let Some(found) = found else {
            self.throws(Throws::Exception);
            return vec!["java/lang/Exception".to_owned()];
        };
        self.imports.is_deprecated(found.method.is_deprecated);
        for exception in &found.method.exceptions {
            let hierarchy = self.access.hierarchy;
            if hierarchy.is_checked(exception) {
                let line = hierarchy.lineage(exception);
                let is_exception = line.iter().any(|name| name == "java/lang/Exception");
                self.throws(if is_exception {
                    Throws::Exception
                } else {
                    Throws::Throwable
                });
            }
        }
        found.method.exceptions.clone()
    }

    /// A method of a class whose static methods assert.
    pub(crate) fn is_assertion(member: &Member) -> bool {
        asserting(&member.owner).is_some()
    }
}
