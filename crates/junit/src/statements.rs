//! The body of the test: the statements, each after the variables that it needs.

use std::collections::BTreeMap;

use culprit_model::script::{Action, ObjectOrigin, Operator, StatementEnd};
use culprit_model::{ObjectId, Reference, Value};

use crate::blocks::Block;
use crate::code::{Code, Line};
use crate::error::Error;
use crate::expr::Expr;
use crate::graph::Node;
use crate::inline::is_too_much;
use crate::java::statement;
use crate::names;
use crate::operators::sign;
use crate::order::Order;
use crate::package::is_foreign;
use crate::scope::{Scope, Variable};
use crate::types::{Type, default_value};

/// The statements of a test.
pub(crate) struct Body {
    pub(crate) lines: Vec<Line>,
    pub(crate) stand_ins: usize,
}

/// A call that throws, and the class of what is caught.
pub(crate) struct Tried {
    pub(crate) call: Expr,
    pub(crate) caught: String,
}

/// The statements written so far.
pub(crate) struct Progress<'a> {
    order: &'a Order,
    stand_ins: usize,
    /// The known contents of arrays.
    contents: BTreeMap<ObjectId, Vec<Value>>,
    /// Statements whose needs are written.
    done: usize,
    /// Loops around what is written now.
    pub(crate) depth: usize,
}

impl Scope<'_> {
    pub(crate) fn statements(&self, order: &Order) -> Result<Body, Error> {
        let mut progress = Progress {
            order,
            stand_ins: 0,
            contents: BTreeMap::new(),
            done: 0,
            depth: 0,
        };
        let roots = self.inline.roots(self.graph);
        let lines = self.run(&roots, &mut progress)?;
        Ok(Body {
            lines,
            stand_ins: progress.stand_ins,
        })
    }

    /// Statements, one after the other.
    pub(crate) fn run(
        &self,
        roots: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        let mut rest = roots;
        while let Some((place, after)) = rest.split_first() {
            if let Some(each) = self.loops.around(*place).get(progress.depth) {
                let within = rest.iter().take_while(|place| each.body.contains(place));
                let (body, after) = rest.split_at(within.count());
                lines.extend(self.repeated(each, body, progress)?);
                rest = after;
                continue;
            }
            lines.extend(self.needs(*place, progress)?);
            let node = &self.graph.nodes[*place];
            let written = match self.block(node, after, progress)? {
                Some(block) => block,
                None => Block {
                    lines: self.statement(node)?,
                    within: 0,
                },
            };
            lines.extend(written.lines);
            rest = &after[written.within..];
            if node.operator() == Some(Operator::Raise) && !self.is_caught(node) {
                break;
            }
        }
        Ok(lines)
    }

    /// The declarations for a statement, and for those that are written within it.
    pub(crate) fn needs(
        &self,
        place: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        for node in self
            .graph
            .nodes
            .get(progress.done..=place)
            .unwrap_or_default()
        {
            for id in &progress.order.before[node.number] {
                let is_stand_in = self.graph.objects[id].origin == ObjectOrigin::StandIn;
                progress.stand_ins += usize::from(is_stand_in);
                lines.extend(self.declaration(*id, node)?);
            }
            for value in node.arguments {
                lines.extend(self.updates(value, &mut progress.contents, node)?);
            }
        }
        progress.done = progress.done.max(place + 1);
        Ok(lines)
    }

    /// The call throws, and the test continues.
    pub(crate) fn is_caught(&self, node: &Node<'_>) -> bool {
        matches!(node.end, StatementEnd::Threw(_)) && node.number + 1 < self.graph.nodes.len()
    }

    /// A stand-in or an array gets its variable.
    fn declaration(&self, id: ObjectId, node: &Node<'_>) -> Result<Vec<Line>, Error> {
        let variable = &self.variables[&id];
        match self.graph.objects[&id].origin {
            ObjectOrigin::Array(value) => {
                let array = self.array(value, node.number)?;
                Ok(vec![self.started(variable, array, true)])
            }
            _ => self.stand_in(id, variable),
        }
    }

    /// A variable gets its first value.
    pub(crate) fn started(&self, variable: &Variable, value: Expr, is_short: bool) -> Line {
        if variable.is_field {
            return Line::Assign {
                name: variable.name.clone(),
                of: variable.of.clone(),
                value,
            };
        }
        Line::Declare {
            of: self.named(&variable.of),
            name: variable.name.clone(),
            value,
            is_short,
        }
    }

    /// Assignments of the elements that the program changed since the last use of an array.
    fn updates(
        &self,
        value: &Value,
        known: &mut BTreeMap<ObjectId, Vec<Value>>,
        node: &Node<'_>,
    ) -> Result<Vec<Line>, Error> {
        let Value::Reference(Reference::Array {
            id,
            class,
            length,
            contents,
        }) = value
        else {
            return Ok(Vec::new());
        };
        let Some(variable) = self.variables.get(id) else {
            return Ok(Vec::new());
        };
        let of = Type::of_class(self.graph.class(*class, node.number)?);
        let Type::Array(component) = &of else {
            return Ok(Vec::new());
        };
        let Some(now) = self.elements(component, *length, contents, node.number)? else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        let before = known
            .insert(*id, now.clone())
            .unwrap_or_else(|| now.clone());
        for (place, (before, now)) in before.iter().zip(&now).enumerate() {
            let unchanged = match (before.identity(), now.identity()) {
                (Some(before), Some(now)) => before == now,
                _ => before == now,
            };
            if !unchanged {
                let value = self.value(now, node.number)?;
                let value = self.fit(value, component);
                let value = value.ok_or(Error::Unknown {
                    statement: node.number,
                })?;
                lines.push(Line::AssignElement {
                    name: variable.name.clone(),
                    place,
                    of: (**component).clone(),
                    value,
                });
            }
        }
        Ok(lines)
    }

    pub(crate) fn statement(&self, node: &Node<'_>) -> Result<Vec<Line>, Error> {
        match node.end {
            StatementEnd::Threw(value) if self.is_caught(node) => {
                let tried = self.tried(node, value)?;
                self.caught(node, value, &tried)
            }
            _ => {
                if let Some(condition) = self.condition_checked(node) {
                    return self.check(condition, node);
                }
                let expression = self.expression(node)?;
                let depth = expression.depth;
                let line = self.assigned(node.number, node, expression)?;
                self.measure(node, &line, depth)?;
                Ok(vec![line])
            }
        }
    }

    /// Sees to it that a statement can be read. An object of the program that something is done with
    /// has a name.
    pub(crate) fn measure(&self, node: &Node<'_>, line: &Line, depth: usize) -> Result<(), Error> {
        if is_too_much(&statement(line).join("\n"), depth) {
            let refused = self.too_much(node)?;
            self.refused.borrow_mut().extend(refused);
        }
        let receiver = node.receiver.and_then(Value::identity);
        let made = receiver.and_then(|id| self.inline.made_at(id));
        let made = made.and_then(|place| self.graph.nodes[place].site);
        if made.is_some_and(|site| site.is_constructor() && !is_foreign(&site.target.owner)) {
            self.refused.borrow_mut().extend(receiver);
        }
        Ok(())
    }

    /// The first result written within a statement that is readable on its own.
    fn too_much(&self, node: &Node<'_>) -> Result<Option<ObjectId>, Error> {
        let mut found = None;
        let mut around = node;
        while let Some((id, made)) = self.inline.first_within(around) {
            found = Some(id);
            around = &self.graph.nodes[made];
            let part = self.expression(around)?;
            let depth = part.depth;
            let line = Line::Declare {
                of: self.named(&part.of),
                name: names::for_type(&part.of),
                value: part,
                is_short: false,
            };
            if !is_too_much(&statement(&line).join("\n"), depth) {
                break;
            }
        }
        Ok(found)
    }

    /// A call that is known to throw, and is not the one that the test is about.
    pub(crate) fn tried(&self, node: &Node<'_>, thrown: &Value) -> Result<Tried, Error> {
        let thrown_before = self.throws.get();
        let call = self.expression(node)?;
        let class = match thrown {
            Value::Reference(Reference::Object { class, .. }) => {
                self.graph.class(*class, node.number)?
            }
            _ => "java/lang/Throwable",
        };
        let caught = self.caught_class(class, &call.throws);
        let hierarchy = self.access.hierarchy;
        let mut declared = call.throws.iter();
        if declared.all(|class| hierarchy.lineage(class).contains(&caught)) {
            self.throws.set(thrown_before);
        }
        Ok(Tried { call, caught })
    }

    /// The statement, whose result is kept if somebody needs it.
    fn assigned(&self, place: usize, node: &Node<'_>, expression: Expr) -> Result<Line, Error> {
        let result = node.result();
        let next = result.filter(|id| self.loops.assigned(place) == Some(*id));
        if let Some(variable) = next.and_then(|id| self.variables.get(&id)) {
            return self.next(variable, node, expression);
        }
        let made = result.filter(|id| {
            let object = self.graph.objects.get(id);
            object.is_some_and(|object| object.origin == ObjectOrigin::Result(place))
        });
        if let Some(variable) = made.and_then(|id| self.variables.get(&id)) {
            let value = self.fit(expression, &variable.of);
            let value = value.ok_or(Error::Unknown {
                statement: node.number,
            })?;
            let is_short = node.operator() == Some(Operator::Array) && value.of == variable.of;
            return Ok(self.started(variable, value, is_short));
        }
        let is_source = self.flow.sources.values().any(|source| *source == place);
        // To read a field is no statement, and may yet initialize its class.
        let is_read = matches!(node.statement.action, Action::Read(_));
        let is_value = node.target().is_none() && expression.of != Type::Null;
        if is_source || is_read || is_value {
            let name = match node.target() {
                Some(target) => names::for_result(&target.name),
                None => names::for_type(&expression.of),
            };
            let name = self.names.borrow_mut().give(&name);
            let value = Expr::name(&name, expression.of.clone());
            self.results.borrow_mut().insert(place, value);
            return Ok(Line::Declare {
                of: self.named(&expression.of),
                name,
                value: expression,
                is_short: false,
            });
        }
        Ok(Line::Do(expression))
    }

    /// A variable gets its next value, which is often made of the last one.
    fn next(&self, variable: &Variable, node: &Node<'_>, expression: Expr) -> Result<Line, Error> {
        let Variable { name, of, .. } = variable.clone();
        let is_plain = expression.of == of;
        let value = self.fit(expression, &of);
        let value = value.ok_or(Error::Unknown {
            statement: node.number,
        })?;
        let sign = node.operator().and_then(sign).unwrap_or_default();
        let first = node.arguments.first().and_then(Value::identity);
        let is_last = first.and_then(|id| self.variables.get(&id)) == Some(variable);
        Ok(match value.code {
            Code::Binary(ref left, between, ref by)
                if is_last
                    && is_plain
                    && between == sign
                    && left.code == Code::Name(name.clone()) =>
            {
                match by.java().as_str() {
                    "1" if sign == "+" => Line::Increment(Expr::name(name, of)),
                    _ => Line::AssignBy {
                        name,
                        of,
                        sign,
                        by: (**by).clone(),
                    },
                }
            }
            _ => Line::Assign { name, of, value },
        })
    }

    /// A call that throws, and what it throws is kept if somebody needs it.
    fn caught(&self, node: &Node<'_>, thrown: &Value, tried: &Tried) -> Result<Vec<Line>, Error> {
        let name = self.names.borrow().clone().give("expected");
        let mut lines = Vec::new();
        let keep = match self.kept(node, thrown) {
            Some(variable) => {
                if !variable.is_field {
                    let null = self.value(&default_value(&variable.of), node.number)?;
                    lines.push(self.started(variable, null, false));
                }
                let value = Expr::name(&name, Type::class(&tried.caught));
                let value = self.fit(value, &variable.of);
                let value = value.ok_or(Error::Unknown {
                    statement: node.number,
                })?;
                Line::Assign {
                    name: variable.name.clone(),
                    of: variable.of.clone(),
                    value,
                }
            }
            None => Line::Comment("as recorded"),
        };
        lines.push(Line::Try {
            body: vec![Line::Do(tried.call.clone())],
            caught: self.named_class(&tried.caught),
            name,
            handler: vec![keep],
        });
        Ok(lines)
    }

    /// The variable of what a call throws.
    pub(crate) fn kept(&self, node: &Node<'_>, thrown: &Value) -> Option<&Variable> {
        let id = thrown.identity()?;
        let object = self.graph.objects.get(&id)?;
        let variable = self.variables.get(&id)?;
        (object.origin == ObjectOrigin::Thrown(node.number)).then_some(variable)
    }

    /// The class can be caught: the compiler rejects a checked exception that nothing declares.
    pub(crate) fn can_catch(&self, class: &str, declared: &[String]) -> bool {
        let hierarchy = self.access.hierarchy;
        let has = |one: &str, other: &str| {
            let line = hierarchy.lineage(one);
            line.iter().any(|above| above == other)
        };
        let is_thrown = !hierarchy.is_checked(class)
            || class == "java/lang/Exception"
            || class == "java/lang/Throwable"
            || declared
                .iter()
                .any(|declared| has(declared, class) || has(class, declared));
        self.access.names_class(class) && is_thrown
    }

    /// The nearest class that can be caught.
    fn caught_class(&self, class: &str, declared: &[String]) -> String {
        let hierarchy = self.access.hierarchy;
        let line = hierarchy.lineage(class);
        let found = line.iter().find(|name| self.can_catch(name, declared));
        found.map_or_else(|| "java/lang/Throwable".to_owned(), Clone::clone)
    }
}
