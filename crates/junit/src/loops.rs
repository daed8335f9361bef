//! Loops of a test: statements that are written once and done several times.

use std::ops::Range;

use culprit_model::{ObjectId, Value};

use crate::blocks::indented;
use crate::error::Error;
use crate::expr::Expr;
use crate::scope::Scope;
use crate::statements::Progress;
use crate::story::{Action, End, identity};
use crate::types::{Type, result};

/// Counters, from the outermost loop inwards.
pub(crate) const COUNTERS: [&str; 3] = ["i", "j", "k"];

/// The loops of a scenario. Each is within another or apart from it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Loops {
    pub(crate) all: Vec<Loop>,
    /// Statements that give a variable of before their loop its next value.
    pub(crate) assigned: Vec<(usize, ObjectId)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// The statements that are written in it.
    pub(crate) body: Range<usize>,
    pub(crate) rounds: usize,
    pub(crate) head: Head,
}

/// What differs between the rounds.
#[derive(Clone, Debug)]
pub(crate) enum Head {
    Nothing,
    /// A number that the rounds count, from its first value on.
    Count(ObjectId, i32),
    /// A value for each round.
    Each(ObjectId, Vec<Value>),
    /// Several values for each round: a column for each of the objects.
    Rows(Vec<(ObjectId, Vec<Value>)>),
}

impl Loops {
    /// The loops around a statement, the outermost first.
    pub(crate) fn around(&self, place: usize) -> Vec<&Loop> {
        let mut found: Vec<&Loop> = self.all.iter().collect();
        found.retain(|each| each.body.contains(&place));
        found.sort_by_key(|each| std::cmp::Reverse(each.body.len()));
        found
    }

    /// Whether two statements are done equally often.
    pub(crate) fn are_together(&self, one: usize, other: usize) -> bool {
        let bodies = |place| self.around(place).last().map(|each| each.body.clone());
        bodies(one) == bodies(other)
    }

    /// The statement that gives a variable its next value.
    pub(crate) fn assigns(&self, id: ObjectId) -> Option<usize> {
        let mut all = self.assigned.iter();
        all.find(|(_, given)| *given == id).map(|(place, _)| *place)
    }

    /// Whether a statement gives a variable its next value.
    pub(crate) fn is_assigned(&self, place: usize) -> bool {
        self.assigned.iter().any(|(at, _)| *at == place)
    }

    /// The counter that an object is.
    pub(crate) fn counter(&self, id: ObjectId) -> Option<&'static str> {
        let is_head = |each: &&Loop| matches!(each.head, Head::Count(counted, _) if counted == id);
        let found = self.all.iter().find(is_head)?;
        let depth = self.around(found.body.start).len();
        COUNTERS.get(depth - 1).copied()
    }

    /// Where an object stands in the row of its round.
    pub(crate) fn column(&self, id: ObjectId) -> Option<usize> {
        self.all.iter().find_map(|each| match &each.head {
            Head::Rows(columns) => columns.iter().position(|(column, _)| *column == id),
            _ => None,
        })
    }
}

impl Scope<'_> {
    /// Some statements, all those of a loop.
    pub(crate) fn repeated(
        &self,
        each: &Loop,
        statements: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<String>, Error> {
        // What all rounds use is made before the first.
        let mut lines = self.needs(each.body.end - 1, progress)?;
        lines.push(format!("{} {{", self.head(each, progress.depth)?));
        progress.depth += 1;
        let body = self.run(statements, progress)?;
        progress.depth -= 1;
        lines.extend(indented(body));
        lines.push("}".to_owned());
        Ok(lines)
    }

    /// A value of the round.
    pub(crate) fn each(&self, action: &Action<'_>) -> Result<Expr, Error> {
        let id = match action.end {
            End::Returned(Some(value)) => identity(value),
            _ => None,
        };
        let found = id.and_then(|id| Some((self.rows.get(&id)?, self.loops.column(id)?)));
        let (row, column) = found.ok_or(Error::Values { step: action.step })?;
        let of = result(&action.site.target.descriptor).unwrap_or_else(Type::object);
        Ok(Expr::new(format!("{row}[{column}]"), of))
    }

    fn head(&self, each: &Loop, depth: usize) -> Result<String, Error> {
        let step = self.story.actions[each.body.start].step;
        let counted = |first: i64| {
            let name = COUNTERS[depth];
            let end = first + each.rounds as i64;
            format!("for (int {name} = {first}; {name} < {end}; {name}++)")
        };
        Ok(match &each.head {
            Head::Nothing => counted(0),
            Head::Count(_, first) => counted((*first).into()),
            Head::Each(id, values) => {
                let variable = &self.variables[id];
                let of = self.imports.name(&variable.of);
                let values = self.listed(values, &variable.of, step)?;
                format!("for ({of} {} : new {of}[] {{{values}}})", variable.name)
            }
            Head::Rows(columns) => {
                let of = &self.columns_type(columns);
                let mut rows = Vec::new();
                for round in 0..each.rounds {
                    let row: Vec<Value> =
                        columns.iter().map(|(_, all)| all[round].clone()).collect();
                    rows.push(format!("{{{}}}", self.listed(&row, of, step)?));
                }
                let (of, rows) = (self.imports.name(of), rows.join(", "));
                let row = columns.first().and_then(|(id, _)| self.rows.get(id));
                let row = row.map_or("row", String::as_str);
                format!("for ({of}[] {row} : new {of}[][] {{{rows}}})")
            }
        })
    }

    fn listed(&self, values: &[Value], of: &Type, step: usize) -> Result<String, Error> {
        let texts = values.iter().map(|value| self.element(value, of, step));
        Ok(texts.collect::<Result<Vec<_>, _>>()?.join(", "))
    }

    /// The type that all columns have.
    fn columns_type(&self, columns: &[(ObjectId, Vec<Value>)]) -> Type {
        let first = columns
            .first()
            .and_then(|(id, _)| self.story.objects.get(id));
        first.map_or_else(Type::object, |object| Type::of_class(object.class))
    }
}
