//! Checks that a script can be run and printed: statements refer to what is defined, have the values that
//! their sites and operators take, and use no object before the statement that makes it.
//!
//! A name fits every shape, since a primitive value may have one. An object that no statement makes is a
//! stand-in, and may be used from the beginning.

mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Action, Answer, Form, Operation, Script, Statement, StatementEnd, Wait};
use crate::value::{Shape, method_shapes};
use crate::{BlobId, EventKind, ObjectId, Reference, SiteId, TypeId, Value};

/// Something in a script does not fit the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconsistency {
    /// The statement, from 0; `None` where the script as a whole is wrong.
    pub statement: Option<usize>,
    pub problem: Problem,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    UnknownSite(SiteId),
    UnknownType(TypeId),
    /// The site is of another kind than the statement.
    Kind(SiteId),
    Count {
        found: usize,
        wanted: usize,
    },
    /// The value at this place is not of this shape.
    Shape {
        place: usize,
        wanted: Shape,
    },
    /// The operator has no such shape.
    Operation(Operation),
    /// The statement cannot end this way.
    End,
    /// An object is used before the statement that makes it.
    Early(ObjectId),
    Wait(Wait),
    Prelude,
    UnknownBlob(BlobId),
    /// An element of an array is not of this shape.
    Element(Shape),
    /// The class of an array is not one of arrays.
    NoArray(TypeId),
    /// An array of this length has other contents.
    Length(u32),
    /// A string in a blob has half a unit at its end.
    HalfUnit(BlobId),
    /// The enum has no such constant.
    Constant(TypeId, u32),
    /// A boxed value is not primitive.
    Boxed,
    /// A state has other fields than its class.
    Fields(TypeId),
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(statement) = self.statement {
            write!(f, "statement {statement}: ")?;
        }
        write!(f, "{}", self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnknownSite(id) => write!(f, "{id} is not defined"),
            Problem::UnknownType(id) => write!(f, "{id} is not defined"),
            Problem::Kind(id) => write!(f, "{id} is of another kind"),
            Problem::Count { found, wanted } => write!(f, "{found} values instead of {wanted}"),
            Problem::Shape { place, wanted } => {
                write!(f, "value {place} is not of the shape {}", wanted.code())
            }
            Problem::Operation(Operation { operator, shape }) => {
                write!(
                    f,
                    "no operator {} of {}",
                    operator.name(),
                    shape.class_name()
                )
            }
            Problem::End => write!(f, "it cannot end this way"),
            Problem::Early(id) => write!(f, "{id} is used before it is made"),
            Problem::Wait(Wait { statement, on }) => {
                write!(f, "statement {statement} waits for {on}")
            }
            Problem::Prelude => write!(f, "the prelude is longer than the script"),
            Problem::UnknownBlob(id) => write!(f, "{id} is not defined"),
            Problem::Element(shape) => {
                let shape = shape.code();
                write!(f, "an element of an array is not of the shape {shape}")
            }
            Problem::NoArray(id) => write!(f, "{id} is not one of arrays"),
            Problem::Length(length) => write!(f, "an array of length {length} has other contents"),
            Problem::HalfUnit(id) => write!(f, "{id} has half a character at its end"),
            Problem::Constant(id, ordinal) => write!(f, "{id} has no constant {ordinal}"),
            Problem::Boxed => write!(f, "a boxed value is not primitive"),
            Problem::Fields(id) => write!(f, "a state has other fields than {id}"),
        }
    }
}

impl std::error::Error for Inconsistency {}

impl Script {
    /// Checks the script; the first problem found.
    pub fn check(&self) -> Result<(), Inconsistency> {
        let whole = |problem| Inconsistency {
            statement: None,
            problem,
        };
        if self.prelude > self.statements.len() {
            return Err(whole(Problem::Prelude));
        }
        let is_wrong =
            |wait: &&Wait| wait.on >= wait.statement || wait.statement >= self.statements.len();
        if let Some(wait) = self.waits.iter().find(is_wrong) {
            return Err(whole(Problem::Wait(*wait)));
        }
        let mut checking = Checking {
            script: self,
            made: BTreeSet::new(),
            makers: BTreeMap::new(),
        };
        for (number, statement) in self.statements.iter().enumerate() {
            let made = statement.defines().or(statement.catches());
            if let Some(id) = made {
                checking.makers.entry(id).or_insert(number);
            }
        }
        for (number, statement) in self.statements.iter().enumerate() {
            let checked = checking.statement(number, statement);
            checked.map_err(|problem| Inconsistency {
                statement: Some(number),
                problem,
            })?;
        }
        Ok(())
    }
}

struct Checking<'s> {
    script: &'s Script,
    made: BTreeSet<ObjectId>,
    /// The first statement that makes an object.
    makers: BTreeMap<ObjectId, usize>,
}

impl Checking<'_> {
    fn statement(&mut self, number: usize, statement: &Statement) -> Result<(), Problem> {
        for value in statement.values() {
            self.script.tables.check(value)?;
        }
        let undefined = |class: &TypeId| self.script.tables.class(*class).is_none();
        if let Some(class) = statement.classes().into_iter().find(undefined) {
            return Err(Problem::UnknownType(class));
        }
        for id in statement.uses() {
            let later = self.makers.get(&id).is_some_and(|maker| *maker >= number);
            // A call that returns its receiver makes nothing.
            if later
                && !self.made.contains(&id)
                && statement.defines() != Some(id)
                && !statement.is_raise()
            {
                return Err(Problem::Early(id));
            }
        }
        self.script.check_shapes(statement)?;
        self.made.extend(statement.defines());
        self.made.extend(statement.catches());
        Ok(())
    }
}

impl Script {
    /// Checks that a statement has the values that its site or operator takes.
    pub fn check_shapes(&self, statement: &Statement) -> Result<(), Problem> {
        let returned = match &statement.end {
            StatementEnd::Returned(value) => Some(value.as_ref()),
            StatementEnd::Threw(_) => None,
            StatementEnd::Open if matches!(statement.action, Action::Call(_)) => None,
            StatementEnd::Open => return Err(Problem::End),
        };
        let given = statement.given.as_slice();
        match &statement.action {
            Action::Call(call) => {
                self.check_site(call.site, EventKind::IncomingCall, given.iter())?;
                if let Some(value) = returned {
                    self.check_site(call.site, EventKind::IncomingReturn, value.into_iter())?;
                }
                call.answers
                    .iter()
                    .try_for_each(|answer| self.check_answer(answer))
            }
            Action::Read(site) => {
                let values = given.iter().chain(statement.end.value());
                self.check_site(*site, EventKind::IncomingRead, values)
            }
            Action::Write(site) => self.check_site(*site, EventKind::IncomingWrite, given.iter()),
            Action::Operate(operation) => {
                if !operation.operator.over().contains(&operation.shape) {
                    return Err(Problem::Operation(*operation));
                }
                let shapes = method_shapes(&operation.descriptor());
                let (mut parameters, result) = shapes.unwrap_or_default();
                if operation.operator.form() == Form::Concat {
                    // Its operands may be scalars.
                    parameters = given.iter().take(2).map(Value::shape).collect();
                    parameters.resize(2, Shape::Reference);
                }
                fit(&parameters, given.iter())?;
                match returned {
                    Some(value) => fit(result.as_slice(), value.into_iter()),
                    None => Ok(()),
                }
            }
            Action::Lambda(_) => {
                let captured = vec![Shape::Reference; given.len()];
                fit(&captured, given.iter())?;
                fit(&[Shape::Reference], statement.end.value().into_iter())
            }
            Action::Guard => {
                fit(&[Shape::Boolean], given.iter())?;
                fit(&[], statement.end.value().into_iter())
            }
            Action::Expect(_) => fit(&[], given.iter().chain(statement.end.value())),
            Action::Mark(_) | Action::Loop(_) => Ok(()),
        }
    }

    fn check_answer(&self, answer: &Answer) -> Result<(), Problem> {
        self.check_site(answer.site, EventKind::OutgoingCall, answer.asked.iter())?;
        match &answer.end {
            StatementEnd::Returned(value) => {
                self.check_site(answer.site, EventKind::OutgoingReturn, value.iter())
            }
            StatementEnd::Threw(_) | StatementEnd::Open => Ok(()),
        }
    }

    fn check_site<'v>(
        &self,
        id: SiteId,
        kind: EventKind,
        values: impl Iterator<Item = &'v Value>,
    ) -> Result<(), Problem> {
        let site = self.tables.site(id).ok_or(Problem::UnknownSite(id))?;
        fit(&site.shapes(kind).ok_or(Problem::Kind(id))?, values)
    }
}

/// Checks that values have these shapes, or names.
fn fit<'v>(shapes: &[Shape], values: impl Iterator<Item = &'v Value>) -> Result<(), Problem> {
    let values: Vec<&Value> = values.collect();
    if values.len() != shapes.len() {
        return Err(Problem::Count {
            found: values.len(),
            wanted: shapes.len(),
        });
    }
    for (place, (value, wanted)) in values.into_iter().zip(shapes).enumerate() {
        let is_name = matches!(value, Value::Reference(Reference::Object { .. }));
        if value.shape() != *wanted && !is_name {
            let wanted = *wanted;
            return Err(Problem::Shape { place, wanted });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "\
script 1
type 1 shop/Cart
type 2 int
type 3 boolean
type 4 int[]
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total(I)I
";

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let script: Script = format!("{TABLES}{text}").parse().unwrap();
        let found = script.check().err().map(|error| error.to_string());
        assert_eq!(found.unwrap_or_default(), expect, "{text}");
    }

    #[test]
    fn statements_fit_their_sites_and_operators() {
        let made = "=> new Cart@1()\n<= new Cart@1 = #1:Cart\n";
        check(
            &format!(
                "{made}=> @2(5) on #1:Cart\n<= @2 = #2:int\ndo isLess int (#2:int, 3) = #3:boolean\nguard (#3:boolean)\n"
            ),
            "",
        );
        check("=> @9()\n<= @9", "statement 0: site 9 is not defined");
        check("=> get @1 = 5", "statement 0: site 1 is of another kind");
        check("=> @2(5)", "statement 0: 1 values instead of 2");
        check(
            "=> @2(5L) on #1:Cart",
            "statement 0: value 1 is not of the shape I",
        );
        check(
            "do isNull int (5) = true",
            "statement 0: no operator isNull of int",
        );
        check("do add int (5) = 6", "statement 0: 1 values instead of 2");
        check("do concat object (\"a\", 6) = \"a6\"", "");
        check(
            "do concat object (\"a\") = \"a\"",
            "statement 0: 1 values instead of 2",
        );
        check("guard (5)", "statement 0: value 0 is not of the shape Z");
        check("tolerate @7", "statement 0: type 7 is not defined");
        check(
            &format!(
                "{made}=> @2(5) on #1:Cart\n<= @2 = #2:int\ndo array object (#3:@4{{1, #2:int}}) = #4:@4\n"
            ),
            "",
        );
        check(
            "do array object (#3:@4{1, 2L}) = #4:@4",
            "statement 0: an element of an array is not of the shape I",
        );
        check(
            &format!("wait 0 on 1\n{made}{made}"),
            "statement 0 waits for 1",
        );
        check(
            &format!("prelude 2\n{made}"),
            "the prelude is longer than the script",
        );
        check(
            &format!("=> @2(5) on #1:Cart\n<= @2 = 1\n{made}"),
            "statement 0: #1 is used before it is made",
        );
    }
}
