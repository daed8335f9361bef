//! Scripts as text: what the agent writes for a followed driver, and how tests write scripts.
//! `docs/script-text.md` is the specification. Calls and accesses are the steps of a scenario's text; the
//! other statements have a line each.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{
    Action, ByAlias, Expectation, Grouper, HandleKind, Lambda, LoopVariable, Mark, Operation,
    Operator, Script, Statement, StatementEnd, Wait,
};
use crate::scenario::text::cursor::{Cursor, Wrong};
use crate::scenario::text::names::ScenarioNames;
use crate::scenario::text::step::{Account, Columns};
use crate::scenario::text::{self, ParseError, table, word};
use crate::value::Shape;
use crate::{EventKind, ObjectId, SiteId, Step, Tables, ThreadId, Value};

/// Version of the form, in its first line.
pub const VERSION: u32 = 1;

/// The name of the form, in its first line.
const FORM: &str = "script";

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FORM} {VERSION}")?;
        let Tables {
            types,
            sites,
            blobs,
            ..
        } = &*self.tables;
        let classes = types.iter().map(table::class);
        let sites = sites.iter().map(table::site);
        let blobs = blobs.iter().map(|(id, bytes)| table::blob(*id, bytes));
        for line in classes.chain(sites).chain(blobs) {
            writeln!(f, "{line}")?;
        }
        if self.prelude > 0 {
            writeln!(f, "prelude {}", self.prelude)?;
        }
        for Wait { statement, on } in &self.waits {
            writeln!(f, "wait {statement} on {on}")?;
        }
        if !self.statements.is_empty() {
            writeln!(f)?;
        }
        let mut printer = Printer {
            names: ScenarioNames::of(&self.tables),
            account: Account::default(),
        };
        for statement in &self.statements {
            writeln!(f, "{}", printer.statement(statement))?;
        }
        Ok(())
    }
}

struct Printer {
    names: ScenarioNames,
    account: Account,
}

impl Printer {
    /// The lines of a statement.
    fn statement(&mut self, statement: &Statement) -> String {
        let mut out = String::new();
        match &statement.action {
            Action::Call(_) | Action::Read(_) | Action::Write(_) => {
                for step in steps(statement) {
                    if !out.is_empty() {
                        out.push('\n');
                    }
                    let columns = Columns::default();
                    self.names
                        .write_step(&step, columns, &mut self.account, &mut out);
                }
            }
            action => {
                out.push_str(&self.head(action));
                if !statement.given.is_empty() {
                    out.push_str(" (");
                    self.names.write_all(&statement.given, &mut out);
                    out.push(')');
                }
                let sign = match &statement.end {
                    StatementEnd::Threw(_) => " ! ",
                    StatementEnd::Returned(_) | StatementEnd::Open => " = ",
                };
                if let Some(value) = statement.end.value() {
                    out.push_str(sign);
                    self.names.write(value, &mut out);
                }
            }
        }
        if let Some(alias) = statement.alias {
            out.push_str(&format!("\nalias {alias}"));
        }
        for ByAlias { place, alias } in &statement.by_alias {
            out.push_str(&format!("\ngiven {place} by {alias}"));
        }
        out
    }

    /// The beginning of a line that is no step.
    fn head(&self, action: &Action) -> String {
        match action {
            Action::Operate(Operation { operator, shape }) => {
                format!("do {} {}", operator.name(), shape_word(*shape))
            }
            Action::Guard => "guard".to_owned(),
            Action::Expect(Expectation::Whole(class)) => {
                format!("expect {}", self.names.type_text(*class))
            }
            Action::Expect(Expectation::Next(class)) => {
                format!("tolerate {}", self.names.type_text(*class))
            }
            Action::Mark(Mark::Same) => "same".to_owned(),
            Action::Mark(Mark::Left) => "left".to_owned(),
            Action::Mark(Mark::OwnBranch) => "branch".to_owned(),
            Action::Loop(LoopVariable::Start(class)) => {
                format!("start {}", self.names.type_text(*class))
            }
            Action::Loop(LoopVariable::Each(class)) => {
                format!("each {}", self.names.type_text(*class))
            }
            Action::Lambda(lambda) => format!(
                "lambda {} {} {} {} in {} as {} {} {} exact {}",
                lambda.kind.name(),
                self.names.type_text(lambda.body_class),
                word::word(&lambda.body_name),
                word::word(&lambda.body_descriptor),
                self.names.type_text(lambda.written_in),
                self.names.type_text(lambda.interface),
                word::word(&lambda.method),
                word::word(&lambda.erased),
                word::word(&lambda.exact),
            ),
            Action::Call(_) | Action::Read(_) | Action::Write(_) => String::new(),
        }
    }
}

fn shape_word(shape: Shape) -> &'static str {
    match shape {
        Shape::Reference => "object",
        scalar => scalar.class_name(),
    }
}

/// The steps that a call or access is written as.
pub(super) fn steps(statement: &Statement) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = |kind: EventKind, site: SiteId, values: Vec<Value>, depth: u32| {
        steps.push(Step {
            thread: ThreadId(0),
            kind,
            site,
            values,
            depth,
            origin: None,
        });
    };
    let given = statement.given.clone();
    let value = |end: &StatementEnd| end.value().cloned().into_iter().collect::<Vec<Value>>();
    match &statement.action {
        Action::Read(site) => {
            let values = given.into_iter().chain(value(&statement.end)).collect();
            step(EventKind::IncomingRead, *site, values, 0);
        }
        Action::Write(site) => step(EventKind::IncomingWrite, *site, given, 0),
        Action::Call(call) => {
            step(EventKind::IncomingCall, call.site, given, 0);
            for answer in &call.answers {
                step(
                    EventKind::OutgoingCall,
                    answer.site,
                    answer.asked.clone(),
                    1,
                );
                for array in &answer.filled {
                    step(
                        EventKind::ArrayContents,
                        answer.site,
                        vec![array.clone()],
                        2,
                    );
                }
                let kind = match &answer.end {
                    StatementEnd::Returned(_) => EventKind::OutgoingReturn,
                    StatementEnd::Threw(_) => EventKind::OutgoingThrow,
                    StatementEnd::Open => continue,
                };
                step(kind, answer.site, value(&answer.end), 2);
            }
            match &statement.end {
                StatementEnd::Returned(_) => step(
                    EventKind::IncomingReturn,
                    call.site,
                    value(&statement.end),
                    1,
                ),
                StatementEnd::Threw(_) => step(
                    EventKind::IncomingThrow,
                    call.site,
                    value(&statement.end),
                    1,
                ),
                StatementEnd::Open => {}
            }
        }
        _ => {}
    }
    steps
}

impl FromStr for Script {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Script, ParseError> {
        let mut parser = Parser::default();
        for (number, line) in text.lines().enumerate() {
            let Some(line) = text::content(line) else {
                continue;
            };
            let read = parser.line(line);
            read.map_err(|wrong| text::error(number + 1, line, wrong))?;
        }
        if !parser.begun {
            let expected = text::first_line(FORM, VERSION);
            let wrong = Wrong { at: 0, expected };
            return Err(text::error(text.lines().count() + 1, "", wrong));
        }
        parser.script.statements.extend(parser.grouper.finish());
        parser.script.tables = Arc::new(parser.tables);
        Ok(parser.script)
    }
}

#[derive(Default)]
struct Parser {
    script: Script,
    tables: Tables,
    begun: bool,
    /// Names from the tables, which are complete once there is a statement.
    names: Option<ScenarioNames>,
    account: Account,
    grouper: Grouper,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        let cursor = &mut Cursor::new(line);
        if !self.begun {
            text::read_first_line(cursor, FORM, VERSION)?;
            self.begun = true;
            return Ok(());
        }
        if self.definition(cursor)? || self.addition(cursor)? {
            return Ok(());
        }
        let tables = &self.tables;
        let names = self.names.get_or_insert_with(|| ScenarioNames::of(tables));
        let done = &mut self.script.statements;
        if let Some(action) = names.action(cursor)? {
            done.extend(std::mem::take(&mut self.grouper).finish());
            let given = match cursor.eat_next("(") {
                true => names.read_all(cursor, ")")?,
                false => Vec::new(),
            };
            let end = match (cursor.eat_next("="), cursor.eat_next("!")) {
                (true, _) => StatementEnd::Returned(Some(names.read(cursor)?)),
                (_, true) => StatementEnd::Threw(names.read(cursor)?),
                _ => StatementEnd::Returned(None),
            };
            cursor.expect_end("values in brackets, `=`, `!` or the end of the line")?;
            done.push(Statement::new(action, given, end));
            return Ok(());
        }
        let step = names.read_step(cursor, &mut self.account)?;
        let step = Step {
            thread: ThreadId(0),
            ..step
        };
        match self.grouper.step(step, done) {
            Ok(()) => Ok(()),
            Err(_) => cursor.wrong_at(
                0,
                "a statement, which starts with `=>` at depth 0, or its end",
            ),
        }
    }

    /// Reads a line of the tables, or of the script as a whole.
    fn definition(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Wrong> {
        let words = ["type", "site", "blob", "prelude", "wait"];
        let Some(word) = words.into_iter().find(|word| cursor.eat_word(word)) else {
            return Ok(false);
        };
        if self.names.is_some() {
            return cursor.wrong_at(0, "a statement: definitions come before the first one");
        }
        match word {
            "type" | "site" | "blob" => self.tables.read_entry(word, cursor)?,
            "prelude" => self.script.prelude = cursor.number("a number of statements")?,
            _ => {
                let statement = cursor.number("the number of a statement")?;
                if !cursor.eat_word("on") {
                    return cursor.wrong("`on` and the number of a statement");
                }
                let on = cursor.number("the number of a statement")?;
                self.script.wait(statement, on);
            }
        }
        cursor.expect_end("the end of the line")?;
        Ok(true)
    }

    /// Reads a line that belongs to the statement before it.
    fn addition(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Wrong> {
        let word = ["alias", "given"]
            .into_iter()
            .find(|word| cursor.eat_word(word));
        let (Some(word), Some(names)) = (word, &self.names) else {
            return Ok(false);
        };
        let grouper = std::mem::take(&mut self.grouper);
        self.script.statements.extend(grouper.finish());
        let place = match word {
            "given" => Some(cursor.number("the place of a value")?),
            _ => None,
        };
        if place.is_some() && !cursor.eat_word("by") {
            return cursor.wrong("`by` and a name");
        }
        let alias = names.object_name(cursor)?;
        cursor.expect_end("the end of the line")?;
        let Some(last) = self.script.statements.last_mut() else {
            return cursor.wrong_at(0, "a statement");
        };
        match place {
            Some(place) => last.by_alias.push(ByAlias { place, alias }),
            None => last.alias = Some(alias),
        }
        Ok(true)
    }
}

impl ScenarioNames {
    /// `#5`
    fn object_name(&self, cursor: &mut Cursor<'_>) -> Result<ObjectId, Wrong> {
        cursor.expect("#")?;
        Ok(ObjectId(cursor.number("the number of an object")?))
    }

    /// The action at the beginning of a line, unless the line is a step.
    fn action(&self, cursor: &mut Cursor<'_>) -> Result<Option<Action>, Wrong> {
        let words = [
            "do", "guard", "lambda", "expect", "tolerate", "same", "left", "branch", "start",
            "each",
        ];
        let Some(word) = words.into_iter().find(|word| cursor.eat_word(word)) else {
            return Ok(None);
        };
        cursor.space();
        Ok(Some(match word {
            "do" => Action::Operate(operation(cursor)?),
            "guard" => Action::Guard,
            "lambda" => Action::Lambda(self.lambda(cursor)?),
            "expect" => Action::Expect(Expectation::Whole(self.read_type(cursor)?)),
            "tolerate" => Action::Expect(Expectation::Next(self.read_type(cursor)?)),
            "same" => Action::Mark(Mark::Same),
            "left" => Action::Mark(Mark::Left),
            "branch" => Action::Mark(Mark::OwnBranch),
            "start" => Action::Loop(LoopVariable::Start(self.read_type(cursor)?)),
            _ => Action::Loop(LoopVariable::Each(self.read_type(cursor)?)),
        }))
    }

    fn lambda(&self, cursor: &mut Cursor<'_>) -> Result<Lambda, Wrong> {
        let kinds = HandleKind::ALL.iter();
        let kind = kinds.copied().find(|kind| cursor.eat_word(kind.name()));
        let Some(kind) = kind else {
            return cursor.wrong("the kind of a method handle");
        };
        cursor.space();
        let body_class = self.read_type(cursor)?;
        let text = |cursor: &mut Cursor<'_>| {
            cursor.space();
            word::read_word(cursor, "a name or descriptor")
        };
        let (body_name, body_descriptor) = (text(cursor)?, text(cursor)?);
        cursor.expect("in")?;
        cursor.space();
        let written_in = self.read_type(cursor)?;
        cursor.expect("as")?;
        cursor.space();
        let interface = self.read_type(cursor)?;
        let (method, erased) = (text(cursor)?, text(cursor)?);
        cursor.expect("exact")?;
        Ok(Lambda {
            body_class,
            body_name,
            body_descriptor,
            kind,
            written_in,
            interface,
            method,
            erased,
            exact: text(cursor)?,
        })
    }
}

fn operation(cursor: &mut Cursor<'_>) -> Result<Operation, Wrong> {
    let start = cursor.at;
    let name = word::read_word(cursor, "the name of an operator")?;
    let Some(operator) = Operator::named(&name) else {
        return cursor.wrong_at(start, "the name of an operator");
    };
    let shape = Shape::ALL.into_iter().find(|shape| {
        let before = cursor.at;
        let is = cursor.eat_next(shape_word(*shape))
            && cursor.peek().is_none_or(|c| matches!(c, ' ' | '(' | '='));
        if !is {
            cursor.at = before;
        }
        is
    });
    match shape {
        Some(shape) => Ok(operator.of(shape)),
        None => cursor.wrong("the type of the operands, or `object`"),
    }
}
