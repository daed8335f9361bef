//! Statements of a script.

use culprit_model::script::{
    Action, Answer, ByAlias, Call, Expectation, HandleKind, Lambda, LoopVariable, Mark, Operation,
    Operator, StatementEnd,
};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, SiteId, Statement, TypeId};

use crate::WireError;
use crate::codec::{Cursor, Put, Result};
use crate::value::{put_value, value};

const CALL: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const OPERATE: u8 = 4;
const LAMBDA: u8 = 5;
const GUARD: u8 = 6;
const EXPECT_WHOLE: u8 = 7;
const EXPECT_NEXT: u8 = 8;
const MARK_SAME: u8 = 9;
const MARK_LEFT: u8 = 10;
const LOOP_START: u8 = 11;
const LOOP_EACH: u8 = 12;
const MARK_OWN_BRANCH: u8 = 13;

const RETURNED_NOTHING: u8 = 0;
const RETURNED: u8 = 1;
const THREW: u8 = 2;
const OPEN: u8 = 3;

pub(crate) fn put_statement(out: &mut Vec<u8>, statement: &Statement) {
    put_action(out, &statement.action);
    out.put_list(&statement.given, put_value);
    put_end(out, &statement.end);
    out.put_option(statement.alias, |out, alias| out.put_varint(alias.0));
    out.put_list(&statement.by_alias, |out, by| {
        out.put_varint(by.place as u64);
        out.put_varint(by.alias.0);
    });
}

pub(crate) fn statement(cursor: &mut Cursor<'_>) -> Result<Statement> {
    Ok(Statement {
        action: action(cursor)?,
        given: cursor.list(value)?,
        end: end(cursor)?,
        alias: cursor.option(|cursor| cursor.varint().map(ObjectId))?,
        by_alias: cursor.list(|cursor| {
            Ok(ByAlias {
                place: cursor.varint_u32()? as usize,
                alias: ObjectId(cursor.varint()?),
            })
        })?,
    })
}

fn put_action(out: &mut Vec<u8>, action: &Action) {
    match action {
        Action::Call(Call { site, answers }) => {
            out.put_u8(CALL);
            out.put_varint(u64::from(site.0));
            out.put_list(answers, put_answer);
        }
        Action::Read(site) => put_numbered(out, READ, site.0),
        Action::Write(site) => put_numbered(out, WRITE, site.0),
        Action::Operate(Operation { operator, shape }) => {
            out.put_u8(OPERATE);
            out.put_u8(*operator as u8);
            out.put_u8(shape.code() as u8);
        }
        Action::Lambda(lambda) => {
            out.put_u8(LAMBDA);
            put_lambda(out, lambda);
        }
        Action::Guard => out.put_u8(GUARD),
        Action::Expect(Expectation::Whole(class)) => put_numbered(out, EXPECT_WHOLE, class.0),
        Action::Expect(Expectation::Next(class)) => put_numbered(out, EXPECT_NEXT, class.0),
        Action::Mark(Mark::Same) => out.put_u8(MARK_SAME),
        Action::Mark(Mark::Left) => out.put_u8(MARK_LEFT),
        Action::Mark(Mark::OwnBranch) => out.put_u8(MARK_OWN_BRANCH),
        Action::Loop(LoopVariable::Start(class)) => put_numbered(out, LOOP_START, class.0),
        Action::Loop(LoopVariable::Each(class)) => put_numbered(out, LOOP_EACH, class.0),
    }
}

fn put_numbered(out: &mut Vec<u8>, tag: u8, number: u32) {
    out.put_u8(tag);
    out.put_varint(u64::from(number));
}

fn action(cursor: &mut Cursor<'_>) -> Result<Action> {
    let site = |cursor: &mut Cursor<'_>| cursor.varint_u32().map(SiteId);
    let class = |cursor: &mut Cursor<'_>| cursor.varint_u32().map(TypeId);
    Ok(match cursor.u8()? {
        CALL => Action::Call(Call {
            site: site(cursor)?,
            answers: cursor.list(answer)?,
        }),
        READ => Action::Read(site(cursor)?),
        WRITE => Action::Write(site(cursor)?),
        OPERATE => Action::Operate(operation(cursor)?),
        LAMBDA => Action::Lambda(lambda(cursor)?),
        GUARD => Action::Guard,
        EXPECT_WHOLE => Action::Expect(Expectation::Whole(class(cursor)?)),
        EXPECT_NEXT => Action::Expect(Expectation::Next(class(cursor)?)),
        MARK_SAME => Action::Mark(Mark::Same),
        MARK_LEFT => Action::Mark(Mark::Left),
        MARK_OWN_BRANCH => Action::Mark(Mark::OwnBranch),
        LOOP_START => Action::Loop(LoopVariable::Start(class(cursor)?)),
        LOOP_EACH => Action::Loop(LoopVariable::Each(class(cursor)?)),
        _ => return Err(WireError::Malformed("a known kind of statement")),
    })
}

fn operation(cursor: &mut Cursor<'_>) -> Result<Operation> {
    let operator = Operator::ALL.get(usize::from(cursor.u8()?));
    let operator = operator.ok_or(WireError::Malformed("a known operator"))?;
    let code = cursor.u8()?;
    let over = operator.over().iter();
    let shape = over
        .copied()
        .find(|shape: &Shape| shape.code() as u8 == code);
    let shape = shape.ok_or(WireError::Malformed("a shape of the operator"))?;
    Ok(operator.of(shape))
}

fn put_lambda(out: &mut Vec<u8>, lambda: &Lambda) {
    let Lambda {
        body_class,
        body_name,
        body_descriptor,
        kind,
        written_in,
        interface,
        method,
        erased,
        exact,
    } = lambda;
    out.put_varint(u64::from(body_class.0));
    out.put_str(body_name);
    out.put_str(body_descriptor);
    out.put_u8(*kind as u8);
    out.put_varint(u64::from(written_in.0));
    out.put_varint(u64::from(interface.0));
    out.put_str(method);
    out.put_str(erased);
    out.put_str(exact);
}

fn lambda(cursor: &mut Cursor<'_>) -> Result<Lambda> {
    Ok(Lambda {
        body_class: TypeId(cursor.varint_u32()?),
        body_name: cursor.string()?,
        body_descriptor: cursor.string()?,
        kind: HandleKind::from_code(cursor.u8()?)
            .ok_or(WireError::Malformed("a known kind of method handle"))?,
        written_in: TypeId(cursor.varint_u32()?),
        interface: TypeId(cursor.varint_u32()?),
        method: cursor.string()?,
        erased: cursor.string()?,
        exact: cursor.string()?,
    })
}

fn put_answer(out: &mut Vec<u8>, answer: &Answer) {
    out.put_varint(u64::from(answer.site.0));
    out.put_list(&answer.asked, put_value);
    put_end(out, &answer.end);
    out.put_list(&answer.filled, put_value);
}

fn answer(cursor: &mut Cursor<'_>) -> Result<Answer> {
    Ok(Answer {
        site: SiteId(cursor.varint_u32()?),
        asked: cursor.list(value)?,
        end: end(cursor)?,
        filled: cursor.list(value)?,
    })
}

fn put_end(out: &mut Vec<u8>, end: &StatementEnd) {
    match end {
        StatementEnd::Returned(None) => out.put_u8(RETURNED_NOTHING),
        StatementEnd::Returned(Some(value)) => {
            out.put_u8(RETURNED);
            put_value(out, value);
        }
        StatementEnd::Threw(value) => {
            out.put_u8(THREW);
            put_value(out, value);
        }
        StatementEnd::Open => out.put_u8(OPEN),
    }
}

fn end(cursor: &mut Cursor<'_>) -> Result<StatementEnd> {
    Ok(match cursor.u8()? {
        RETURNED_NOTHING => StatementEnd::Returned(None),
        RETURNED => StatementEnd::Returned(Some(value(cursor)?)),
        THREW => StatementEnd::Threw(value(cursor)?),
        OPEN => StatementEnd::Open,
        _ => return Err(WireError::Malformed("a known end of a statement")),
    })
}
