//! Makes statements and the definitions that they refer to. Names of objects and variables come from here
//! alone, so that none is given twice.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Action, Call, Expectation, Lambda, Mark, Operation, Operator, Script, Statement, StatementEnd,
};
use crate::site::TypeDef;
use crate::value::{Contents, Shape, method_shapes};
use crate::{Member, ObjectId, Reference, Site, SiteId, SiteKind, Tables, TypeId, Value};

/// Makes statements; the tables grow with what they refer to.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    tables: Tables,
    types: HashMap<String, TypeId>,
    sites: HashMap<SiteKey, SiteId>,
    last: u64,
}

/// What makes two uses of a member one site.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct SiteKey {
    kind: SiteKind,
    target: Member,
    is_static: bool,
}

/// A member by its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberName<'a> {
    pub owner: &'a str,
    pub name: &'a str,
    pub descriptor: &'a str,
}

impl<'a> MemberName<'a> {
    pub const fn of(owner: &'a str, name: &'a str, descriptor: &'a str) -> MemberName<'a> {
        MemberName {
            owner,
            name,
            descriptor,
        }
    }
}

impl From<MemberName<'_>> for Member {
    fn from(target: MemberName<'_>) -> Member {
        Member {
            owner: target.owner.to_owned(),
            name: target.name.to_owned(),
            descriptor: target.descriptor.to_owned(),
        }
    }
}

impl Builder {
    /// Adds to existing tables; new names are larger than `largest`.
    pub fn with(tables: Tables, largest: ObjectId) -> Builder {
        let types = tables.types.iter().rev();
        Builder {
            types: types.map(|class| (class.name.clone(), class.id)).collect(),
            sites: HashMap::new(),
            tables,
            last: largest.0,
        }
    }

    /// Adds to a script; none of its names is given again.
    pub fn of(script: &Script) -> Builder {
        Builder::with((*script.tables).clone(), script.largest())
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables, with everything that was referred to.
    pub fn finish(self) -> Tables {
        self.tables
    }

    /// The script of some statements.
    pub fn script(self, statements: Vec<Statement>) -> Script {
        Script {
            tables: Arc::new(self.tables),
            statements,
            ..Script::default()
        }
    }

    /// The class of a name.
    pub fn class(&mut self, name: &str) -> TypeId {
        if let Some(known) = self.types.get(name) {
            return *known;
        }
        let id = TypeId(self.tables.types.last().map_or(0, |class| class.id.0) + 1);
        self.tables.types.insert(TypeDef {
            id,
            name: name.to_owned(),
            loader: 0,
            constants: Vec::new(),
            fields: Vec::new(),
        });
        self.types.insert(name.to_owned(), id);
        id
    }

    /// A name that nothing has.
    pub fn fresh(&mut self) -> ObjectId {
        self.last += 1;
        ObjectId(self.last)
    }

    /// A new name for a value of a class; `int` is a class here.
    pub fn variable(&mut self, class: &str) -> Value {
        Value::Reference(Reference::Object {
            id: self.fresh(),
            class: self.class(class),
        })
    }

    /// An array literal with a new name.
    pub fn array(&mut self, class: &str, elements: Vec<Value>) -> Value {
        Value::Reference(Reference::Array {
            id: self.fresh(),
            class: self.class(class),
            length: elements.len() as u32,
            contents: Contents::Elements(elements),
        })
    }

    fn site(&mut self, kind: SiteKind, target: Member, is_static: bool) -> SiteId {
        let key = SiteKey {
            kind,
            target,
            is_static,
        };
        if let Some(known) = self.sites.get(&key) {
            return *known;
        }
        let id = SiteId(self.tables.sites.last().map_or(0, |site| site.id.0) + 1);
        self.tables.sites.insert(Site {
            id,
            kind,
            class: key.target.owner.clone(),
            method: key.target.name.clone(),
            descriptor: key.target.descriptor.clone(),
            line: None,
            source: None,
            target: key.target.clone(),
            is_static,
        });
        self.sites.insert(key, id);
        id
    }

    /// A call of a method or constructor, and its end. The receiver comes first among the given values.
    pub fn called(
        &mut self,
        target: Member,
        is_static: bool,
        given: Vec<Value>,
        end: StatementEnd,
    ) -> Statement {
        let site = self.site(SiteKind::Entry, target, is_static);
        let answers = Vec::new();
        Statement::new(Action::Call(Call { site, answers }), given, end)
    }

    /// `new owner(given)`, which is the object `made`.
    pub fn construct(
        &mut self,
        owner: &str,
        descriptor: &str,
        given: Vec<Value>,
        made: Value,
    ) -> Statement {
        let target = MemberName::of(owner, "<init>", descriptor);
        self.called(
            target.into(),
            false,
            given,
            StatementEnd::Returned(Some(made)),
        )
    }

    /// `owner.name(given)`, whose result is `made`.
    pub fn call_static(
        &mut self,
        target: MemberName<'_>,
        given: Vec<Value>,
        made: Option<Value>,
    ) -> Statement {
        self.called(target.into(), true, given, StatementEnd::Returned(made))
    }

    /// `receiver.name(given)`; a result without a name is some value of its type.
    pub fn call(
        &mut self,
        target: MemberName<'_>,
        receiver: Value,
        given: Vec<Value>,
        made: Option<Value>,
    ) -> Statement {
        let result = method_shapes(target.descriptor).and_then(|(_, result)| result);
        let made = made.or_else(|| result.map(Value::zero));
        let given = std::iter::once(receiver).chain(given).collect();
        self.called(target.into(), false, given, StatementEnd::Returned(made))
    }

    /// A field is read; without a receiver it is static.
    pub fn read(&mut self, target: Member, on: Option<Value>, found: Value) -> Statement {
        let site = self.site(SiteKind::Field, target, on.is_none());
        let given = on.into_iter().collect();
        Statement::new(
            Action::Read(site),
            given,
            StatementEnd::Returned(Some(found)),
        )
    }

    /// A field is written; without a receiver it is static.
    pub fn write(&mut self, target: Member, on: Option<Value>, value: Value) -> Statement {
        let site = self.site(SiteKind::Field, target, on.is_none());
        let given = on.into_iter().chain([value]).collect();
        Statement::new(Action::Write(site), given, StatementEnd::Returned(None))
    }

    /// An operator whose result is a new variable.
    pub fn operate(&mut self, operation: Operation, operands: Vec<Value>) -> Operated {
        let made = self.variable(operation.result_class());
        let statement = self.operate_to(operation, operands, Some(made.clone()));
        Operated { statement, made }
    }

    /// An operator whose result, if it has one, is `made`.
    pub fn operate_to(
        &mut self,
        operation: Operation,
        operands: Vec<Value>,
        made: Option<Value>,
    ) -> Statement {
        Statement::new(
            Action::Operate(operation),
            operands,
            StatementEnd::Returned(made),
        )
    }

    /// An operator that ends with the exception `thrown`.
    pub fn operate_throwing(
        &mut self,
        operation: Operation,
        operands: Vec<Value>,
        thrown: Value,
    ) -> Statement {
        let action = Action::Operate(operation);
        Statement::new(action, operands, StatementEnd::Threw(thrown))
    }

    /// A lambda, which captures values and is the object `made`.
    pub fn lambda(&mut self, lambda: Lambda, captured: Vec<Value>, made: Value) -> Statement {
        Statement::new(
            Action::Lambda(lambda),
            captured,
            StatementEnd::Returned(Some(made)),
        )
    }

    /// The script continues only if a boolean is true.
    pub fn guard(&mut self, holds: Value) -> Statement {
        Statement::new(Action::Guard, vec![holds], StatementEnd::Returned(None))
    }

    /// Throws an object.
    pub fn raise(&mut self, thrown: Value) -> Statement {
        let raise = Operator::Raise.of(Shape::Reference);
        self.operate_throwing(raise, vec![thrown.clone()], thrown)
    }

    pub fn expect(&mut self, expectation: Expectation) -> Statement {
        Statement::new(
            Action::Expect(expectation),
            Vec::new(),
            StatementEnd::Returned(None),
        )
    }

    pub fn mark(&mut self, mark: Mark, given: Vec<Value>) -> Statement {
        Statement::new(Action::Mark(mark), given, StatementEnd::Returned(None))
    }
}

/// An operator as a statement, and the variable that has its result.
#[derive(Clone, Debug)]
pub struct Operated {
    pub statement: Statement,
    pub made: Value,
}
