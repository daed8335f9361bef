//! Writes the rounds of a repetition once: the last round remains, as the body of the loop. Variables from before
//! the loop have the results that one round gives the next.

use std::collections::BTreeMap;
use std::ops::Range;

use super::repetition::{Carried, Repetition, Varying};
use super::rounds::is_held;
use super::{Assignment, Column, Head, Loop, Looped};
use crate::script::{
    Action, Builder, LoopVariable, Object, ObjectOrigin, Script, Statement, StatementEnd,
};
use crate::value::Shape;
use crate::{ObjectId, Reference, Value};

impl Looped {
    /// The script with one more loop.
    pub fn rerolled(&self, repetition: &Repetition) -> Looped {
        let source = UnrolledScript {
            looped: self,
            objects: self.script.objects(),
            repetition,
        };
        let mut rewrite = Rewrite {
            builder: Builder::of(&self.script),
            statements: Vec::new(),
            origins: Vec::new(),
            renamed: BTreeMap::new(),
        };
        let end = repetition.start + repetition.rounds * repetition.period;
        rewrite.copy(self, 0..repetition.start);
        let mut variables = Vec::new();
        for carried in &repetition.carried {
            variables.push(source.variable(carried, &mut rewrite));
        }
        let start = rewrite.statements.len();
        let head = rewrite.head(repetition);
        let first = rewrite.statements.len();
        rewrite.copy(self, end - repetition.period..end);
        rewrite.fill(first, repetition, &head);
        let body = start..rewrite.statements.len();
        rewrite.copy(self, end..self.script.statements.len());

        // Other loops are before this one, after it or around it.
        let moved = |place: usize| match place <= repetition.start {
            true => place,
            false => place + body.end - end,
        };
        let mut loops = self.loops.clone();
        for each in &mut loops.all {
            each.body = moved(each.body.start)..moved(each.body.end);
        }
        for each in &mut loops.assignments {
            each.statement = moved(each.statement);
            // A later loop may begin with the result of this one, whose variable has another name now.
            let renamed = rewrite.renamed.get(&each.variable);
            each.variable = renamed.and_then(Value::identity).unwrap_or(each.variable);
        }
        for (carried, variable) in repetition.carried.iter().zip(variables) {
            let statement = first + carried.at;
            loops.assignments.push(Assignment {
                statement,
                variable,
            });
        }
        loops.all.push(Loop {
            body,
            rounds: repetition.rounds,
            head,
        });
        Looped {
            script: rewrite.builder.script(rewrite.statements),
            loops,
            origins: rewrite.origins,
        }
    }
}

/// The script before the loop is made.
struct UnrolledScript<'a> {
    looped: &'a Looped,
    objects: BTreeMap<ObjectId, Object<'a>>,
    repetition: &'a Repetition,
}

impl UnrolledScript<'_> {
    fn statement(&self, round: usize, at: usize) -> &Statement {
        let number = self.repetition.start + round * self.repetition.period + at;
        &self.looped.script.statements[number]
    }

    /// The variable of a loop-carried result. The value that the first round uses has one already, which is
    /// taken over where no other statement needs it.
    fn variable(&self, carried: &Carried, rewrite: &mut Rewrite) -> ObjectId {
        let rounds = self.repetition.rounds;
        let last = self.statement(rounds - 1, carried.at).result();
        let before = self.statement(rounds - 2, carried.at).result();
        let class = declared(&self.looped.script, self.statement(0, carried.at));
        let own = carried.first.as_ref();
        let own = own.filter(|own| self.is_taken_over(carried, own, class));
        let null = Value::Reference(Reference::Null);
        let variable = own.or(last).cloned().unwrap_or(null);
        for id in [last, before].into_iter().flatten() {
            if let Some(id) = id.identity() {
                rewrite.renamed.insert(id, variable.clone());
            }
        }
        if own.is_none() {
            let zero = || Value::zero(Shape::of_class(class));
            let first = carried.first.clone().unwrap_or_else(zero);
            let of = LoopVariable::Start(rewrite.builder.class(class));
            rewrite.add(of, vec![first], variable.clone());
        }
        variable.identity().unwrap_or_default()
    }

    /// The variable of the value that the first round uses can be that of the results.
    fn is_taken_over(&self, carried: &Carried, own: &Value, class: &str) -> bool {
        let Some(id) = own.identity() else {
            return false;
        };
        let object = &self.objects[&id];
        let ObjectOrigin::Result(maker) = object.origin else {
            return false;
        };
        let (script, loops) = (&self.looped.script, &self.looped.loops);
        let Repetition { start, period, .. } = *self.repetition;
        let round = start..start + period;
        // All that the first round does with it, later ones do with what comes of it.
        let uses = |id: ObjectId, round: Range<usize>| {
            let uses = self.objects.get(&id).map_or(&[][..], |object| &object.uses);
            let uses = uses.iter().filter(|each| round.contains(&each.statement));
            uses.count()
        };
        let made = self.statement(0, carried.at).defines();
        let next = round.end..round.end + period;
        let uses_of_result = made.map_or(0, |made| uses(made, next));
        let first = |it: &&Carried| it.first.as_ref().and_then(Value::identity) == Some(id);
        let sharing = self.repetition.carried.iter().filter(first).count();
        sharing == 1
            && uses(id, round.clone()) == uses_of_result
            && uses(id, round.end..usize::MAX) == 0
            && !is_held(script, object)
            && declared(script, &script.statements[maker]) == class
            && loops.are_together(maker, start)
            && loops.of_variable(id).is_none()
    }
}

/// The class of the variable for a result.
fn declared<'s>(script: &'s Script, statement: &'s Statement) -> &'s str {
    let class = script.result_class(statement);
    class.unwrap_or(Shape::Reference.class_name())
}

/// The script with the loop, as far as it is rewritten.
struct Rewrite {
    builder: Builder,
    statements: Vec<Statement>,
    origins: Vec<Option<usize>>,
    renamed: BTreeMap<ObjectId, Value>,
}

impl Rewrite {
    /// Adds statements, with the new names of what they use.
    fn copy(&mut self, from: &Looped, range: Range<usize>) {
        for statement in &from.script.statements[range.clone()] {
            let mut statement = statement.clone();
            for value in statement.values_mut() {
                rename(value, &self.renamed);
            }
            self.statements.push(statement);
        }
        self.origins.extend_from_slice(&from.origins[range]);
    }

    /// Adds a variable of the loop.
    fn add(&mut self, of: LoopVariable, given: Vec<Value>, variable: Value) {
        let end = StatementEnd::Returned(Some(variable));
        self.statements
            .push(Statement::new(Action::Loop(of), given, end));
        self.origins.push(None);
    }

    /// Adds the variables that have another value in each round.
    fn head(&mut self, repetition: &Repetition) -> Head {
        let columns = repetition.varying.iter().map(|it| self.column(it));
        let mut columns: Vec<Column> = columns.collect();
        match columns.pop() {
            None => Head::Nothing,
            Some(only) if columns.is_empty() => match first_of_count(&only.values) {
                Some(first) => Head::Count {
                    variable: only.variable,
                    first,
                },
                None => Head::Each(only),
            },
            Some(last) => {
                columns.push(last);
                Head::Rows(columns)
            }
        }
    }

    fn column(&mut self, varying: &Varying) -> Column {
        let variable = self.builder.variable(&varying.class);
        let of = LoopVariable::Each(self.builder.class(&varying.class));
        let column = Column {
            variable: variable.identity().unwrap_or_default(),
            values: varying.values.clone(),
        };
        self.add(of, Vec::new(), variable);
        column
    }

    /// Replaces the literals that differ by the variables of the loop. The round begins at `first`.
    fn fill(&mut self, first: usize, repetition: &Repetition, head: &Head) {
        for (varying, id) in repetition.varying.iter().zip(head.variables()) {
            let class = self.builder.class(&varying.class);
            for slot in &varying.slots {
                let given = &mut self.statements[first + slot.at].given;
                given[slot.place] = Value::Reference(Reference::Object { id, class });
            }
        }
    }
}

/// The first of some numbers, if each is one more than that before.
fn first_of_count(values: &[Value]) -> Option<i32> {
    let numbers = values.iter().map(|value| match value {
        Value::Int(number) => Some(*number),
        Value::Reference(Reference::Boxed(inner)) => match **inner {
            Value::Int(number) => Some(number),
            _ => None,
        },
        _ => None,
    });
    let numbers = numbers.collect::<Option<Vec<i32>>>()?;
    let first = *numbers.first()?;
    let end = first.checked_add(i32::try_from(numbers.len()).ok()?)?;
    numbers.into_iter().eq(first..end).then_some(first)
}

fn rename(value: &mut Value, names: &BTreeMap<ObjectId, Value>) {
    if let Some(name) = value.identity().and_then(|id| names.get(&id)) {
        *value = name.clone();
    } else if let Value::Reference(Reference::Array { contents, .. }) = value {
        for element in contents.elements_mut() {
            rename(element, names);
        }
    }
}
