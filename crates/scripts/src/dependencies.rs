//! Dependencies between the statements of a script, and the number of statements that call the program.

use std::collections::BTreeMap;

use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Action, ObjectOrigin};
use culprit_model::{ObjectId, Reference, Script, Statement, Value};

use crate::assertions::{finds_fault, is_for_assertions};
use crate::containers::containers;
use crate::predicate::CONDITION_CLASS;

/// By statement, the earlier ones that it depends on.
pub fn needs(script: &Script) -> Vec<Vec<usize>> {
    let mut made: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut needs = Vec::with_capacity(script.statements.len());
    // What is found wrong of a result is wrong of no other name of the object.
    let finds_fault = finds_fault(script);
    let containers = containers(script);
    let captured = captured(script);
    let mut aliases: BTreeMap<ObjectId, usize> = BTreeMap::new();
    for (number, statement) in script.statements.iter().enumerate() {
        let uses = statement.uses();
        let mut of_this: Vec<usize> = uses.iter().filter_map(|id| made.get(id).copied()).collect();
        let answered = answered(statement, &made);
        of_this.extend(answered.iter().filter_map(|id| made.get(id)));
        let by_alias = statement.by_alias.iter().filter(|_| finds_fault);
        of_this.extend(by_alias.filter_map(|by| aliases.get(&by.alias)));
        // A container of the driver gives back what was put into it.
        let of = script.receiver(statement);
        let gives_back = of.is_some_and(|of| containers.contains(&of));
        // Assertions that are made step by step return what they are called on.
        let is_step = |owner: &str| is_for_assertions(owner);
        let target = script.target(statement);
        let alias = statement
            .alias
            .filter(|_| !gives_back && target.is_none_or(|target| !is_step(&target.owner)));
        aliases.extend(alias.map(|alias| (alias, number)));
        of_this.sort_unstable();
        of_this.dedup();
        needs.push(of_this);
        if let Some(id) = statement.defines() {
            // A method that returns its receiver makes nothing, nor does one that returns what a static field holds.
            let is_constant = |made: &usize| is_constant(&script.statements[*made]);
            let is_known = match gives_back {
                true => made.contains_key(&id),
                false => made.get(&id).is_some_and(is_constant),
            };
            if !uses.contains(&id) && !is_known {
                made.insert(id, number);
            }
        }
        if let Some(id) = statement.catches() {
            made.insert(id, number);
        }
        let captured = captured.get(&number).into_iter().flatten();
        made.extend(captured.map(|id| (*id, number)));
    }
    for wait in &script.waits {
        if let Some(needs) = needs.get_mut(wait.statement) {
            needs.push(wait.on);
        }
    }
    needs
}

/// By statement, the objects that the program gives to a stand-in while it runs, and that the script has from nowhere else.
fn captured(script: &Script) -> BTreeMap<usize, Vec<ObjectId>> {
    let mut found: BTreeMap<usize, Vec<ObjectId>> = BTreeMap::new();
    for (id, object) in script.objects() {
        if let ObjectOrigin::Captured { question, .. } = object.origin {
            found.entry(question.statement).or_default().push(id);
        }
    }
    found
}

/// True if a statement reads a static field.
fn is_constant(statement: &Statement) -> bool {
    matches!(statement.action, Action::Read(_)) && statement.given.is_empty()
}

/// The objects that stand-ins answer with while a statement runs.
fn answered(statement: &Statement, made: &BTreeMap<ObjectId, usize>) -> Vec<ObjectId> {
    let mut found = Vec::new();
    for answer in statement.answers() {
        let asked = answer.asked.first().and_then(Value::identity);
        let is_stand_in = asked.is_some_and(|id| !made.contains_key(&id));
        if let (true, Some(value)) = (is_stand_in, answer.end.value()) {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } = reference {
                    found.push(*id);
                }
            });
        }
    }
    found
}

/// A statement, and all earlier ones that it depends on, directly or not.
pub fn closure(needs: &[Vec<usize>], of: usize) -> Vec<usize> {
    let mut found = vec![of];
    let mut is_found = vec![false; needs.len()];
    is_found[of] = true;
    let mut at = 0;
    while let Some(next) = found.get(at).copied() {
        at += 1;
        for need in &needs[next] {
            if !std::mem::replace(&mut is_found[*need], true) {
                found.push(*need);
            }
        }
    }
    found.sort_unstable();
    found
}

/// How many of some statements call into the program, or use a field of it. Calls of the library
/// and assertions are not counted, nor what sets up the surroundings. A lambda counts: its body is the
/// program's.
pub fn interactions(script: &Script, statements: &[usize]) -> usize {
    let of_program = |number: &&usize| {
        let statement = &script.statements[**number];
        statement.lambda().is_some() || is_of_program(script, statement)
    };
    statements.iter().filter(of_program).count()
}

/// Whether a statement calls the program, or uses a field of it.
fn is_of_program(script: &Script, statement: &Statement) -> bool {
    script.target(statement).is_some_and(|target| {
        let owner = &target.owner;
        !is_jdk_name(owner) && !owner.ends_with(CONDITION_CLASS) && !is_for_assertions(owner)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use culprit_model::Tables;
    use culprit_model::script::{Builder, MemberName, StatementEnd};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Writes calls to one class, whose objects are told by number.
    struct Pen {
        builder: Builder,
        statements: Vec<Statement>,
    }

    impl Pen {
        fn new() -> Pen {
            Pen {
                builder: Builder::with(Tables::default(), ObjectId(100)),
                statements: Vec::new(),
            }
        }

        fn object(&mut self, id: u64) -> Value {
            let class = self.builder.class("T");
            let id = ObjectId(id);
            Value::Reference(Reference::Object { id, class })
        }

        fn make(&mut self, made: u64, given: &[u64]) {
            let given = given.iter().map(|id| self.object(*id)).collect();
            let made = self.object(made);
            let made = self.builder.construct("T", "()V", given, made);
            self.statements.push(made);
        }

        fn call(&mut self, descriptor: &str, on: u64, made: Option<u64>) {
            let receiver = self.object(on);
            let made = made.map(|id| self.object(id));
            let target = MemberName::of("T", "m", descriptor);
            let call = self.builder.call(target, receiver, Vec::new(), made);
            self.statements.push(call);
        }

        fn script(self) -> Script {
            self.builder.script(self.statements)
        }
    }

    #[test]
    fn a_statement_needs_those_that_make_what_it_is_given() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.make(2, &[]);
        pen.make(3, &[2, 1, 2]);
        pen.call("()V", 3, None);
        assert_eq!(
            needs(&pen.script()),
            [vec![], vec![], vec![0, 1], vec![2]] as [Vec<usize>; 4]
        );
    }

    #[test]
    fn a_call_that_returns_its_receiver_makes_nothing() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()LT;", 1, Some(1));
        pen.call("()V", 1, None);
        assert_eq!(
            needs(&pen.script()),
            [vec![], vec![0], vec![0]] as [Vec<usize>; 3]
        );
    }

    #[test]
    fn of_two_that_return_an_object_the_later_one_is_needed() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()LT;", 1, Some(2));
        pen.call("()LT;", 1, Some(2));
        pen.call("()V", 2, None);
        assert_eq!(needs(&pen.script())[3], [2]);
    }

    #[test]
    fn what_a_static_field_holds_is_made_by_no_call() {
        let text = "script 1\n\
                    type 1 shop/Side\n\
                    site 1 field static shop/Side.LEFT:Lshop/Side;\n\
                    site 2 entry shop/Side.turned()Lshop/Side;\n\
                    => get @1 = #1:@1\n\
                    => @2() on #1:@1\n\
                    <= @2 = #2:@1\n\
                    => @2() on #2:@1\n\
                    <= @2 = #1:@1\n\
                    => @2() on #1:@1\n\
                    <= @2\n";
        let script: Script = text.parse().unwrap();
        assert_eq!(needs(&script)[3], [0]);
    }

    #[test]
    fn a_command_returns_nothing_or_its_receiver() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()V", 1, None);
        pen.call("()LT;", 1, Some(1));
        pen.call("()LT;", 1, Some(2));
        pen.call("()I", 1, None);
        let script = pen.script();
        let statements = script.statements.iter();
        let commands = statements.map(|statement| script.is_command(statement));
        let commands: Vec<bool> = commands.collect();
        assert_eq!(commands, [false, true, true, false, false]);
    }

    #[test]
    fn a_call_that_threw_is_a_command_without_a_result() {
        let mut pen = Pen::new();
        pen.call("()I", 1, None);
        let mut script = pen.script();
        script.statements[0].end = StatementEnd::Threw(Value::Reference(Reference::Null));
        let statement = &script.statements[0];
        assert_eq!(statement.result(), None);
        assert!(script.is_command(statement));
    }

    /// The closure as it is defined: what is needed is added until nothing is missing.
    fn naive(needs: &[Vec<usize>], of: usize) -> Vec<usize> {
        let mut found = BTreeSet::from([of]);
        loop {
            let added: Vec<usize> = found.iter().flat_map(|at| needs[*at].clone()).collect();
            let before = found.len();
            found.extend(added);
            if found.len() == before {
                return found.into_iter().collect();
            }
        }
    }

    proptest! {
        #[test]
        fn a_closure_has_each_needed_statement_once(
            needs in vec(vec(0usize..30, 0..4), 30..=30),
            of in 0usize..30,
        ) {
            prop_assert_eq!(closure(&needs, of), naive(&needs, of));
        }
    }
}
