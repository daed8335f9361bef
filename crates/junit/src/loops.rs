//! Loops in the source of a test.

use culprit_model::script::loops::{Column, DEEPEST, Head, Loop, Loops};
use culprit_model::{ObjectId, Value};

use crate::blocks::indented;
use crate::error::Error;
use crate::expr::Expr;
use crate::graph::Node;
use crate::scope::Scope;
use crate::statements::Progress;
use crate::types::Type;

/// Names of counters, from the outermost loop inwards.
pub(crate) const COUNTERS: [&str; DEEPEST] = ["i", "j", "k"];

/// The name of the counter that an object is.
pub(crate) fn counter(loops: &Loops, variable: ObjectId) -> Option<&'static str> {
    let found = loops.of_variable(variable)?;
    let is_counter = matches!(found.head, Head::Count { .. });
    let depth = loops.around(found.body.start).len();
    COUNTERS.get(depth - 1).filter(|_| is_counter).copied()
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
    pub(crate) fn each(&self, node: &Node<'_>) -> Result<Expr, Error> {
        let found = node
            .result()
            .and_then(|id| Some((self.rows.get(&id)?, self.loops.column(id)?)));
        let (row, column) = found.ok_or(Error::Values {
            statement: node.number,
        })?;
        let of = self.graph.result_type(node);
        Ok(Expr::new(format!("{row}[{column}]"), of))
    }

    fn head(&self, each: &Loop, depth: usize) -> Result<String, Error> {
        let statement = each.body.start;
        let counted = |first: i64| {
            let name = COUNTERS[depth];
            let end = first + each.rounds as i64;
            format!("for (int {name} = {first}; {name} < {end}; {name}++)")
        };
        Ok(match &each.head {
            Head::Nothing => counted(0),
            Head::Count { first, .. } => counted((*first).into()),
            Head::Each(column) => {
                let variable = &self.variables[&column.variable];
                let of = self.imports.name(&variable.of);
                let values = self.listed(&column.values, &variable.of, statement)?;
                format!("for ({of} {} : new {of}[] {{{values}}})", variable.name)
            }
            Head::Rows(columns) => {
                let of = &self.columns_type(columns);
                let mut rows = Vec::new();
                for round in 0..each.rounds {
                    let row = columns.iter().map(|column| column.values[round].clone());
                    let row: Vec<Value> = row.collect();
                    rows.push(format!("{{{}}}", self.listed(&row, of, statement)?));
                }
                let (of, rows) = (self.imports.name(of), rows.join(", "));
                let row = columns.first().and_then(|it| self.rows.get(&it.variable));
                let row = row.map_or("row", String::as_str);
                format!("for ({of}[] {row} : new {of}[][] {{{rows}}})")
            }
        })
    }

    fn listed(&self, values: &[Value], of: &Type, statement: usize) -> Result<String, Error> {
        let texts = values
            .iter()
            .map(|value| self.element(value, of, statement));
        Ok(texts.collect::<Result<Vec<_>, _>>()?.join(", "))
    }

    /// The type that all columns have.
    fn columns_type(&self, columns: &[Column]) -> Type {
        let first = columns.first();
        let first = first.and_then(|it| self.graph.objects.get(&it.variable));
        first.map_or_else(Type::object, |object| Type::of_class(object.class))
    }
}
