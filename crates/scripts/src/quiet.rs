//! Calls that returned where the driver is ready for an exception: `try { parse(text); } catch (E e) { failures++; }`.
//!
//! What the driver finds wrong later may be that nothing was thrown. A fixed version throws, and has passed then.

use std::sync::Arc;

use culprit_model::script::{Builder, Expectation, Operator, StatementEnd};
use culprit_model::value::Shape;
use culprit_model::{Script, Statement, TypeId};

use crate::needs;

/// A call that returned, and might have thrown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuietCall {
    /// The number of its statement.
    pub(crate) statement: usize,
    /// The class of the exception.
    pub(crate) exception: TypeId,
}

/// Makes the last statement of a script depend on calls that throw nothing, in their order.
pub(crate) fn require_quiet(script: &mut Script, calls: &[QuietCall]) {
    let needs = needs(script);
    let is_used = |call: &QuietCall| needs.iter().any(|needs| needs.contains(&call.statement));
    let (used, unused): (Vec<QuietCall>, Vec<QuietCall>) = calls.iter().copied().partition(is_used);
    for call in &unused {
        require_missing(script, call);
    }
    require_tolerant(script, &used);
}

/// Makes the last statement of a script depend on calls, in their order. The script has passed if one of them throws.
pub(crate) fn require_tolerant(script: &mut Script, calls: &[QuietCall]) {
    // From the end, since each adds a statement.
    for call in calls.iter().rev() {
        let last = script.statements.len() - 1;
        script.wait(last, call.statement);
        tolerate(script, call);
    }
}

/// The script fails only if the exception of a call, whose result nothing uses, is missing.
fn require_missing(script: &mut Script, call: &QuietCall) {
    let class = script.class_name(call.exception).to_owned();
    let mut builder = Builder::of(script);
    let exception = builder.variable(&class);
    let is_null = Operator::IsNull.of(Shape::Reference);
    let is_missing = builder.operate(is_null, vec![exception.clone()]);
    let guard = builder.guard(is_missing.made);
    script.tables = Arc::new(builder.finish());
    let statement = &mut script.statements[call.statement];
    statement.end = StatementEnd::Threw(exception);
    statement.alias = None;
    let last = script.statements.len() - 1;
    insert(script, last, is_missing.statement);
    insert(script, last + 1, guard);
    script.wait(last + 2, last + 1);
}

/// The script has passed if a call throws the exception.
pub(crate) fn tolerate(script: &mut Script, call: &QuietCall) {
    let mut builder = Builder::of(script);
    let tolerance = builder.expect(Expectation::Next(call.exception));
    script.tables = Arc::new(builder.finish());
    insert(script, call.statement, tolerance);
    script.wait(call.statement + 1, call.statement);
}

/// Inserts a statement before another one.
fn insert(script: &mut Script, at: usize, statement: Statement) {
    script.statements.insert(at, statement);
    let moved = |number: usize| number + usize::from(number >= at);
    let waits = std::mem::take(&mut script.waits);
    for wait in waits {
        script.wait(moved(wait.statement), moved(wait.on));
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::script::Missing;

    use super::*;

    const SCRIPT: &str = "\
script 1
type 1 int
type 2 boolean
type 3 shop/Cart
type 4 java/lang/IllegalStateException
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total()I
site 3 entry shop/Cart.add(I)V
site 8 entry static org/junit/Assert.assertTrue(Z)V
=> @1()
<= @1 = #1:@3
=> @2() on #1:@3
<= @2 = #2:@1
=> @3(#2:@1) on #1:@3
<= @3
=> @8(false)
<= @8
";

    fn quiet(statements: &[usize]) -> Script {
        let mut script: Script = SCRIPT.parse().unwrap();
        let call = |statement: &usize| QuietCall {
            statement: *statement,
            exception: TypeId(4),
        };
        let calls: Vec<QuietCall> = statements.iter().map(call).collect();
        require_quiet(&mut script, &calls);
        script
    }

    #[test]
    fn an_exception_is_missing() {
        insta::assert_snapshot!(quiet(&[2]).pruned());
    }

    #[test]
    fn a_call_whose_result_is_used_may_throw() {
        insta::assert_snapshot!(quiet(&[1, 2]).pruned());
    }

    /// A call whose result is used has no exception that could be missing.
    #[test]
    fn the_statement_that_should_have_thrown_is_known() {
        let plain: Script = SCRIPT.parse().unwrap();
        assert_eq!(plain.missing(), None);
        assert_eq!(quiet(&[2]).missing(), Some(Missing::Of(2)));
        assert_eq!(quiet(&[1]).missing(), None);
    }
}
