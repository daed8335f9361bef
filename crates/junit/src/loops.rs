//! Loops in the source of a test.

use culprit_model::script::loops::{Column, DEEPEST, Head, Loop, Loops};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, Value};

use crate::code::{self, Code, Line};
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
    ) -> Result<Vec<Line>, Error> {
        // What all rounds use is made before the first.
        let mut lines = self.needs(each.body.end - 1, progress)?;
        let head = self.head(each, progress.depth)?;
        progress.depth += 1;
        let body = self.run(statements, progress)?;
        progress.depth -= 1;
        lines.push(Line::For(Box::new(head), body));
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
        let row = Expr::name(row, Type::Array(Box::new(of.clone())));
        let column = Value::Int(column as i32);
        let column = Expr::new(Code::constant(column), Type::Primitive(Shape::Int));
        Ok(row.element(column, of))
    }

    fn head(&self, each: &Loop, depth: usize) -> Result<code::Head, Error> {
        let statement = each.body.start;
        let counted = |first: i64| {
            let end = first + each.rounds as i64;
            code::Head::Count {
                name: COUNTERS[depth],
                from: first,
                end,
            }
        };
        Ok(match &each.head {
            Head::Nothing => counted(0),
            Head::Count { first, .. } => counted((*first).into()),
            Head::Each(column) => {
                let variable = &self.variables[&column.variable];
                code::Head::Each {
                    of: self.named(&variable.of),
                    name: variable.name.clone(),
                    values: self.listed(&column.values, &variable.of, statement)?,
                }
            }
            Head::Rows(columns) => {
                let of = &self.columns_type(columns);
                let mut rows = Vec::new();
                for round in 0..each.rounds {
                    let row = columns.iter().map(|column| column.values[round].clone());
                    let row: Vec<Value> = row.collect();
                    rows.push(self.listed(&row, of, statement)?);
                }
                let row = columns.first().and_then(|it| self.rows.get(&it.variable));
                code::Head::Rows {
                    of: self.named(of),
                    name: row.map_or_else(|| "row".to_owned(), String::clone),
                    rows,
                }
            }
        })
    }

    fn listed(&self, values: &[Value], of: &Type, statement: usize) -> Result<Vec<Expr>, Error> {
        let values = values.iter();
        values
            .map(|value| self.element(value, of, statement))
            .collect()
    }

    /// The type that all columns have.
    fn columns_type(&self, columns: &[Column]) -> Type {
        let first = columns.first();
        let first = first.and_then(|it| self.graph.objects.get(&it.variable));
        first.map_or_else(Type::object, |object| Type::of_class(object.class))
    }
}
