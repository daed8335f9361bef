//! The conditions that decide a failure which the driver finds: `if (wrong) throw ...`, `assertTrue(a < b)`.
//!
//! What fails is not given them, so the failing statement waits for them: on another version of the program they may not
//! hold, and the script has passed then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use culprit_model::script::{Builder, Missing, Operator};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, Reference, Value};

use crate::assertions::{actual, is_assertion, tells_fault};
use crate::containers::containers;
use crate::followed_run::thrown;
use crate::quiet::{QuietCall, require_quiet, require_tolerant};
use crate::{Script, Statement, closure, interactions, needs};

/// What led the driver on its path besides the guards of a script, by the number of the statement that follows.
#[derive(Default, Debug)]
pub(crate) struct DriverPath {
    /// Branches on values that the driver computed without the program.
    pub(crate) own_branches: BTreeSet<usize>,
    /// Conditions that the script cannot have, because no statement makes the objects they are about.
    pub(crate) lost: BTreeSet<usize>,
    /// Calls of the program that the script cannot have.
    pub(crate) lost_calls: BTreeSet<usize>,
    /// Calls that returned, and whose exception the driver would have noted.
    pub(crate) quiet: Vec<QuietCall>,
}

/// The condition that decides the failure cannot be in the script, which fails without it on every version of the program.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Undecided;

/// Finds the conditions that decide the failure of a script.
///
/// If the driver branched on a value of its own, if it asks a container that it filled, or if no value of the program
/// reaches the failing statement, then the program decided by the path that its answers led the driver, as where it
/// counts. All conditions decide then. That a call threw nothing is a condition too, if the driver would have noted it.
pub(crate) fn decide(script: &mut Script, path: &DriverPath) -> Result<(), Undecided> {
    let Some((last, earlier)) = script.statements.split_last() else {
        return Ok(());
    };
    let fails = earlier.len();
    let asserts = is_assertion(script, last);
    let target = script.target(last);
    let is_told = last.is_raise() || target.is_some_and(tells_fault);
    if !is_told && !asserts {
        return Ok(());
    }
    let origins = Origins::of(script);
    let made = last.uses().first().filter(|_| last.is_raise()).copied();
    let end = made.and_then(|id| origins.maker(id)).unwrap_or(fails);
    let start = start_of_test(script);
    let guards = |range: std::ops::Range<usize>| range.filter(|at| earlier[*at].is_guard());
    let calls =
        |mut range: std::ops::Range<usize>| range.any(|at| script.target(&earlier[at]).is_some());
    // Where an exception is made before it is thrown, something is closed in between: if it is not null.
    let is_late = |at: &usize| !origins.is_null_check(&earlier[*at]);
    let mut decide: Vec<usize> = guards(end..fails).filter(is_late).collect();
    let boolean = actual(script, last).and_then(|place| match last.given[place] {
        Value::Boolean(was) if !is_told => Some((place, was)),
        _ => None,
    });
    let missing = match script.missing() {
        Some(Missing::Of(number)) => thrown(&earlier[number]),
        Some(Missing::Last) | None => None,
    };
    let quiet = path.quiet.iter().copied();
    let mut quiet: Vec<QuietCall> = quiet.filter(|call| call.statement >= start).collect();
    let guard = guards(start..end).next_back();
    let since = guard.map_or(start, |guard| guard + 1);
    let is_own = path.own_branches.range(since..=end).next().is_some()
        || guard.is_some_and(|guard| origins.asks_container(&earlier[guard]));
    // A flag may have been set, or not, since the last condition.
    let is_flag = quiet.last().is_some_and(|call| {
        guard.is_none_or(|guard| call.statement > guard || calls(guard + 1..end))
    });
    let is_path = match boolean {
        None if !is_told => origins.asks_container(last) || is_without_program(script, fails),
        _ => is_own || is_flag || guard.is_some_and(|guard| is_without_program(script, guard)),
    };
    let lost = match boolean {
        _ if is_path => start..=end,
        None if !is_told => fails..=start,
        _ => since..=end,
    };
    if !lost.is_empty() && path.lost.range(lost).next().is_some() {
        return Err(Undecided);
    }
    let asks_program = |at: &usize| !origins.asks_container(&earlier[*at]);
    let mut condition = None;
    match (boolean, guard) {
        _ if is_path => decide.extend(guards(start..end).filter(asks_program)),
        (_, None) => {}
        // A flag that the driver set where it caught an exception, and not a value that it computed later.
        (Some(_), Some(guard))
            if !origins.exceptions(&earlier[guard]).is_empty() && calls(guard..fails) => {}
        (Some((place, was)), Some(guard)) => condition = Some((guard, place, was)),
        (None, Some(guard)) if is_told => decide.push(guard),
        (None, Some(_)) => {}
    }
    if is_told {
        let behind = exceptions_behind(script, decide.iter().copied().chain([fails]));
        let is_behind = |at: &usize| !origins.exceptions(&earlier[*at]).is_disjoint(&behind);
        decide.extend(guards(start..end).filter(is_behind));
    }
    decide.into_iter().for_each(|on| script.wait(fails, on));
    if let Some((guard, place, was)) = condition {
        assert_condition(script, guard, place, was);
    }
    match is_path {
        true => require_quiet(script, &quiet),
        // The driver takes an exception that is missing from each call of a block.
        false => {
            quiet.retain(|call| missing == Some(call.exception));
            require_tolerant(script, &quiet);
        }
    }
    Ok(())
}

/// The statement behind the last assertion that failed before the end of the script: what comes before belongs to
/// another test of the same driver.
pub fn start_of_test(script: &Script) -> usize {
    let Some((_, earlier)) = script.statements.split_last() else {
        return 0;
    };
    let has_failed =
        |statement: &Statement| statement.thrown().is_some() && is_assertion(script, statement);
    let end = earlier.iter().rposition(has_failed);
    end.map_or(0, |end| end + 1)
}

/// True if a statement depends on no call of the program.
fn is_without_program(script: &Script, statement: usize) -> bool {
    interactions(script, &closure(&needs(script), statement)) == 0
}

/// The exceptions of calls that statements depend on: they are null if they were not thrown.
fn exceptions_behind(
    script: &Script,
    statements: impl Iterator<Item = usize>,
) -> BTreeSet<ObjectId> {
    let needs = needs(script);
    let behind: BTreeSet<usize> = statements.flat_map(|at| closure(&needs, at)).collect();
    let used = behind.iter().flat_map(|at| script.statements[*at].uses());
    used.collect()
}

/// The statements that make the values of a script.
struct Origins<'s> {
    script: &'s Script,
    makers: BTreeMap<ObjectId, usize>,
    /// The containers of the driver.
    containers: BTreeSet<ObjectId>,
    /// The exceptions of calls that the driver may have caught.
    exceptions: BTreeSet<ObjectId>,
}

impl Origins<'_> {
    fn of(script: &Script) -> Origins<'_> {
        let statements = script.statements.iter().enumerate().rev();
        Origins {
            script,
            makers: statements
                .filter_map(|(at, statement)| Some((statement.defines()?, at)))
                .collect(),
            containers: containers(script),
            exceptions: script
                .statements
                .iter()
                .filter_map(Statement::catches)
                .collect(),
        }
    }

    /// The statement that made a value first.
    fn maker(&self, id: ObjectId) -> Option<usize> {
        self.makers.get(&id).copied()
    }

    /// The statements that made the values which a statement is given.
    fn makers<'a>(&'a self, statement: &Statement) -> impl Iterator<Item = &'a Statement> + 'a {
        let uses = statement.uses().into_iter();
        let makers = uses.filter_map(|id| self.maker(id));
        makers.map(|at| &self.script.statements[at])
    }

    /// The statement that computes the condition of a guard compares with null.
    fn is_null_check(&self, guard: &Statement) -> bool {
        let null = [Operator::IsNull, Operator::IsNotNull];
        let mut conditions = self.makers(guard);
        conditions.any(|it| it.operator().is_some_and(|it| null.contains(&it)))
    }

    /// The exceptions that a guard requires to have been thrown.
    fn exceptions(&self, guard: &Statement) -> BTreeSet<ObjectId> {
        let required = |condition: &&Statement| condition.operator() == Some(Operator::IsNotNull);
        let conditions = self.makers(guard).filter(required);
        let required = conditions.flat_map(Statement::uses);
        required.filter(|id| self.exceptions.contains(id)).collect()
    }

    /// A statement is given only what a container of the driver said about itself, such as its size. The script fills
    /// the container with the same number of elements on every version of the program.
    fn asks_container(&self, statement: &Statement) -> bool {
        let mut makers = self.makers(statement).peekable();
        makers.peek().is_some() && makers.all(|maker| self.is_of_container(maker))
    }

    fn is_of_container(&self, statement: &Statement) -> bool {
        match self.script.receiver(statement) {
            Some(on) => self.containers.contains(&on) && gives_number(self.script, statement),
            None => statement.is_pure() && self.asks_container(statement),
        }
    }
}

/// True if the result of a statement is a number or a boolean.
fn gives_number(script: &Script, statement: &Statement) -> bool {
    let result = statement.result();
    result.is_some_and(|result| match result {
        Value::Reference(Reference::Object { class, .. }) => {
            let shapes = [Shape::Boolean, Shape::Int];
            let name = script.class_name(*class);
            shapes.iter().any(|shape| shape.class_name() == name)
        }
        _ => false,
    })
}

/// Gives an assertion the condition that it was compiled from, which was true or not.
fn assert_condition(script: &mut Script, guard: usize, place: usize, was: bool) {
    let Some(condition) = guard.checked_sub(1) else {
        return;
    };
    let statement = &script.statements[condition];
    let operation = statement.operation();
    let operation = operation.and_then(|of| if was { Some(of) } else { of.opposite() });
    let Some(operation) = operation else {
        return;
    };
    let given = statement.given.clone();
    let mut builder = Builder::of(script);
    let holds = builder.operate(operation, given);
    script.tables = Arc::new(builder.finish());
    let last = script.statements.len() - 1;
    script.statements[last].given[place] = holds.made;
    script.statements.insert(last, holds.statement);
}

#[cfg(test)]
mod tests {
    use culprit_model::TypeId;

    use super::*;

    const HEAD: &str = "\
script 1
type 1 int
type 2 boolean
type 3 shop/Cart
type 4 java/lang/IllegalStateException
type 5 long
type 6 java/util/ArrayList
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total()I
site 3 entry java/util/ArrayList.<init>()V
site 4 entry java/util/ArrayList.size()I
site 5 entry static org/junit/Assert.fail()V
site 6 entry java/lang/IllegalStateException.<init>()V
site 7 entry static org/junit/Assert.assertEquals(JJ)V
site 8 entry static org/junit/Assert.assertTrue(Z)V
site 9 entry static java/lang/Boolean.getBoolean()Z
site 10 entry java/lang/IllegalStateException.hashCode()I
=> @1()
<= @1 = #1:@3
=> @2() on #1:@3
<= @2 = #2:@1
=> @3()
<= @3 = #3:@6
";
    /// Statements 3 and 4, then 5 and 6.
    const FIRST: &str = "do isLess int (#2:@1, 0) = #4:@2\nguard (#4:@2)\n";
    const SECOND: &str = "do isLess int (#2:@1, 1) = #5:@2\nguard (#5:@2)\n";
    const EXCEPTION: &str = "=> @6()\n<= @6 = #9:@4\n";
    const RAISE: &str = "do raise object (#9:@4) ! #9:@4\n";
    const FAIL: &str = "=> @5()\n<= @5\n";

    /// The script of two conditions and some statements, decided.
    fn decided(statements: &str, own_branches: &[usize]) -> Script {
        let text = format!("{HEAD}{FIRST}{SECOND}{statements}");
        let mut script: Script = text.parse().unwrap();
        let path = DriverPath {
            own_branches: own_branches.iter().copied().collect(),
            ..DriverPath::default()
        };
        assert_eq!(decide(&mut script, &path), Ok(()));
        script
    }

    /// The statements that the last of a script waits for.
    fn decided_by(statements: &str, own_branches: &[usize]) -> Vec<usize> {
        let script = decided(statements, own_branches);
        let last = script.statements.len() - 1;
        let waits = script.waits.iter();
        assert!(waits.clone().all(|wait| wait.statement == last));
        waits.map(|wait| wait.on).collect()
    }

    #[test]
    fn what_the_driver_says_is_wrong_depends_on_its_last_condition() {
        assert_eq!(decided_by(FAIL, &[]), [6]);
        assert_eq!(decided_by(&format!("{EXCEPTION}{RAISE}"), &[]), [6]);
    }

    #[test]
    fn what_is_closed_before_an_exception_is_thrown_decides_nothing() {
        let close = "do isNotNull object (#1:@3) = #6:@2\nguard (#6:@2)\n";
        let script = format!("{EXCEPTION}{close}{RAISE}");
        assert_eq!(decided_by(&script, &[]), [6]);
        let late = "do isLess int (#2:@1, 2) = #7:@2\nguard (#7:@2)\n";
        let script = format!("{EXCEPTION}{close}{late}{RAISE}");
        assert_eq!(decided_by(&script, &[]), [6, 11]);
    }

    #[test]
    fn what_the_driver_counted_depends_on_all_conditions() {
        let script = format!("{EXCEPTION}{RAISE}");
        assert_eq!(decided_by(&script, &[5]), [6]);
        assert_eq!(decided_by(&script, &[7]), [4, 6]);
        let counted = "=> @7(3L, 2L)\n<= @7\n";
        assert_eq!(decided_by(counted, &[]), [4, 6]);
        let told = "do toLong int (#2:@1) = #7:@5\n=> @7(3L, #7:@5)\n<= @7\n";
        assert_eq!(decided_by(told, &[7]), []);
    }

    #[test]
    fn what_the_driver_collected_depends_on_all_conditions_of_the_program() {
        let size = "=> @4() on #3:@6\n<= @4 = #6:@1\n";
        let sum = format!("{size}do toLong int (#6:@1) = #7:@5\n=> @7(3L, #7:@5)\n<= @7\n");
        assert_eq!(decided_by(&sum, &[]), [4, 6]);
        let empty = format!("{size}do isEqual int (#6:@1, 0) = #7:@2\nguard (#7:@2)\n");
        assert_eq!(decided_by(&format!("{empty}{FAIL}"), &[]), [4, 6]);
    }

    #[test]
    fn what_the_driver_wrote_depends_on_all_conditions() {
        let empty = "=> @9()\n<= @9 = #6:@2\ndo isTrue boolean (#6:@2) = #7:@2\nguard (#7:@2)\n";
        assert_eq!(decided_by(&format!("{empty}{FAIL}"), &[]), [4, 6, 9]);
    }

    #[test]
    fn an_assertion_that_was_compiled_to_a_branch_is_given_its_condition() {
        for (given, operator) in [(true, Operator::IsLess), (false, Operator::IsAtLeast)] {
            let script = decided(&format!("=> @8({given})\n<= @8\n"), &[]);
            let [.., condition, assertion] = script.statements.as_slice() else {
                panic!("{script:?}");
            };
            assert_eq!(condition.operator(), Some(operator));
            assert_eq!(assertion.uses(), [condition.defines().unwrap()]);
            assert_eq!(script.waits, BTreeSet::new());
        }
        assert_eq!(decided_by("=> @8(false)\n<= @8\n", &[7]), [4, 6]);
    }

    #[test]
    fn what_the_driver_says_about_an_exception_depends_on_it() {
        let thrown = "=> @2() on #1:@3\n<=! @2 = #10:@4\n";
        let caught = "do isNotNull object (#10:@4) = #11:@2\nguard (#11:@2)\n";
        assert_eq!(decided_by(&format!("{thrown}{caught}{FAIL}"), &[]), [9]);
        let question = "=> @10() on #10:@4\n<= @10 = #12:@1\n";
        let answer = "do isLess int (#12:@1, 2) = #13:@2\nguard (#13:@2)\n";
        let script = format!("{thrown}{caught}{question}{answer}{FAIL}");
        assert_eq!(decided_by(&script, &[]), [9, 12]);
    }

    #[test]
    fn a_flag_is_set_where_an_exception_is_caught() {
        let caught = "=> @2() on #1:@3\n<=! @2 = #10:@4\n\
                      do isNotNull object (#10:@4) = #11:@2\nguard (#11:@2)\n";
        let script = decided(&format!("{caught}=> @8(true)\n<= @8\n"), &[]);
        let condition = &script.statements[script.statements.len() - 2];
        assert_eq!(condition.operator(), Some(Operator::IsNotNull));
        let later = "=> @3()\n<= @3 = #12:@6\n";
        let script = decided(&format!("{caught}{later}=> @8(true)\n<= @8\n"), &[]);
        assert_eq!(
            script.statements.last().unwrap().given,
            [Value::Boolean(true)]
        );
    }

    #[test]
    fn without_a_condition_nothing_is_decided() {
        let mut script: Script = format!("{HEAD}=> @8(false)\n<= @8\n").parse().unwrap();
        let before = script.clone();
        let path = DriverPath::default();
        assert_eq!(decide(&mut script, &path), Ok(()));
        assert_eq!(script, before);
    }

    /// The decision on two conditions and some statements, where the driver had another condition before one of them.
    fn without_condition(statements: &str, lost: usize) -> Result<(), Undecided> {
        let text = format!("{HEAD}{FIRST}{SECOND}{statements}");
        let mut script: Script = text.parse().unwrap();
        let path = DriverPath {
            lost: BTreeSet::from([lost]),
            ..DriverPath::default()
        };
        decide(&mut script, &path)
    }

    #[test]
    fn a_condition_that_the_script_cannot_have_decides_nothing_else() {
        assert_eq!(without_condition(FAIL, 7), Err(Undecided));
        assert_eq!(without_condition(FAIL, 5), Ok(()));
        let counted = "=> @7(3L, 2L)\n<= @7\n";
        assert_eq!(without_condition(counted, 5), Err(Undecided));
        let told = "do toLong int (#2:@1) = #7:@5\n=> @7(3L, #7:@5)\n<= @7\n";
        assert_eq!(without_condition(told, 7), Ok(()));
        assert_eq!(
            without_condition("=> @8(false)\n<= @8\n", 7),
            Err(Undecided)
        );
        assert_eq!(without_condition("=> @8(false)\n<= @8\n", 5), Ok(()));
    }

    /// The names of what follows the conditions, decided where the first call after them might have thrown.
    fn ready(statements: &str) -> Vec<String> {
        let text = format!("{HEAD}{FIRST}{SECOND}{statements}");
        let mut script: Script = text.parse().unwrap();
        let path = DriverPath {
            quiet: vec![QuietCall {
                statement: 7,
                exception: TypeId(4),
            }],
            ..DriverPath::default()
        };
        assert_eq!(decide(&mut script, &path), Ok(()));
        let waits: Vec<usize> = script.waits.iter().map(|wait| wait.on).collect();
        let name = |statement: &Statement| match (statement.operator(), script.target(statement)) {
            (Some(operator), _) => operator.name().to_owned(),
            (None, Some(target)) => target.name.clone(),
            _ => "guard".to_owned(),
        };
        let names = script.statements[7..].iter().map(name);
        names.chain([format!("{waits:?}")]).collect()
    }

    #[test]
    fn a_flag_may_say_that_nothing_was_thrown() {
        let call = "=> @2() on #1:@3\n<= @2 = #20:@1\n";
        let flag = format!("{call}=> @8(false)\n<= @8\n");
        let asserted = ["total", "isNull", "guard", "assertTrue", "[4, 6, 9]"];
        assert_eq!(ready(&flag), asserted);
        // A condition that was computed after the call.
        let other = "do isLess int (#2:@1, 2) = #21:@2\nguard (#21:@2)\n";
        let condition = format!("{call}{other}=> @8(false)\n<= @8\n");
        let asserted = ["total", "isLess", "guard", "isAtLeast", "assertTrue", "[]"];
        assert_eq!(ready(&condition), asserted);
    }
}
