//! Statements that contain others: conditions under which a test continues, and handlers of exceptions.

use culprit_model::script::{Action, Expectation, ObjectOrigin, Operator, StatementEnd};
use culprit_model::{Reference, TypeId, Value};

use crate::code::Line;
use crate::error::Error;
use crate::graph::{Node, Role};
use crate::operators::is_failure;
use crate::scope::Scope;
use crate::statements::{Progress, Tried};
use crate::types::Type;

/// Statements that are done where an exception is caught.
const FEW: usize = 3;

/// The comment in place of a handler, where the program is right to throw.
const AS_IT_SHOULD: &str = "as it should be";

/// A statement with others in it.
pub(crate) struct Block {
    pub(crate) lines: Vec<Line>,
    /// The number of statements after the first that the lines contain.
    pub(crate) within: usize,
}

impl Block {
    fn new(lines: Vec<Line>, within: usize) -> Block {
        Block { lines, within }
    }
}

impl Scope<'_> {
    /// A statement with others in it, if it is such.
    pub(crate) fn block(
        &self,
        node: &Node<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Option<Block>, Error> {
        match node.statement.action {
            Action::Guard => return self.condition(node, after, progress).map(Some),
            Action::Expect(Expectation::Next(class)) => {
                return self.tolerating(class, node, after, progress).map(Some);
            }
            // The annotation of the test states it: the statement that fails without it is not written.
            Action::Expect(Expectation::Whole(_)) => {
                return Ok(Some(Block::new(Vec::new(), after.len())));
            }
            _ => {}
        }
        let StatementEnd::Threw(thrown) = node.end else {
            return Ok(None);
        };
        if !self.is_caught(node) {
            return Ok(None);
        }
        let tried = self.tried(node, thrown)?;
        let here = |place: &usize| self.loops.are_together(*place, node.number);
        let missing = self.is_missing(thrown, after, &tried);
        if let Some(count) = missing.filter(|_| after.iter().all(here)) {
            let Some((last, between)) = after[..count].split_last() else {
                return Ok(None);
            };
            debug_assert_eq!(between.len(), 1);
            let failing = self.run(&[*last], progress)?;
            let name = self.names.borrow().clone().give("expected");
            let mut body = vec![Line::Do(tried.call)];
            body.extend(failing);
            if self.is_tolerated(&tried.caught, node) {
                return Ok(Some(Block::new(body, count)));
            }
            let line = Line::Try {
                body,
                caught: self.named_class(&tried.caught),
                name,
                handler: vec![Line::Comment(AS_IT_SHOULD)],
            };
            return Ok(Some(Block::new(vec![line], count)));
        }
        let count = self.uses_at_once(node, thrown, after, &tried);
        let Some(variable) = self.kept(node, thrown).filter(|_| count > 0) else {
            return Ok(None);
        };
        let using = self.run(&after[..count], progress)?;
        let line = Line::Try {
            body: vec![Line::Do(tried.call)],
            caught: self.named_class(&tried.caught),
            name: variable.name.clone(),
            handler: using,
        };
        Ok(Some(Block::new(vec![line], count)))
    }

    /// A call which may throw something else and be right, with everything after it.
    fn tolerating(
        &self,
        tolerated: TypeId,
        node: &Node<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Block, Error> {
        let tolerated = self.graph.class(tolerated, node.number)?;
        if self.is_tolerated(tolerated, node) {
            return Ok(Block::new(Vec::new(), 0));
        }
        let [last] = after else {
            return self.tolerating_all(tolerated, after, progress);
        };
        let mut lines = self.needs(*last, progress)?;
        let call = self.expression(&self.graph.nodes[*last])?;
        if !self.can_catch(tolerated, &call.throws) {
            lines.push(Line::Do(call));
            return Ok(Block::new(lines, 1));
        }
        let name = self.names.borrow().clone().give("expected");
        lines.push(Line::Try {
            body: vec![Line::Do(call)],
            caught: self.named_class(tolerated),
            name,
            handler: vec![Line::Comment(AS_IT_SHOULD)],
        });
        Ok(Block::new(lines, 1))
    }

    /// Statements of which the first may throw something and be right. Nothing after it is done then.
    fn tolerating_all(
        &self,
        tolerated: &str,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Block, Error> {
        let calls = after.iter().map(|number| &self.graph.nodes[*number]);
        let calls = calls.filter(|call| call.target().is_some());
        let mut declared = Vec::new();
        for call in calls {
            declared.extend(self.expression(call)?.throws);
        }
        let failing = self.graph.nodes.last();
        let hides_failure = failing.is_some_and(|failing| self.may_catch(tolerated, failing));
        if hides_failure || !self.can_catch(tolerated, &declared) {
            return Err(Error::NotCaught {
                class: tolerated.replace('/', "."),
            });
        }
        let name = self.names.borrow().clone().give("expected");
        let body = self.run(after, progress)?;
        // Within a loop, more comes after it.
        let is_end = after.last() == failing.map(|failing| &failing.number);
        let handler = match is_end {
            true => Line::Comment(AS_IT_SHOULD),
            false => Line::Return(None),
        };
        let line = Line::Try {
            body,
            caught: self.named_class(tolerated),
            name,
            handler: vec![handler],
        };
        Ok(Block::new(vec![line], after.len()))
    }

    /// A statement is written among others that may throw the same.
    fn is_tolerated(&self, class: &str, node: &Node<'_>) -> bool {
        let mut earlier = self.graph.nodes[..node.number].iter();
        earlier.any(|other| match other.statement.action {
            Action::Expect(Expectation::Next(tolerated)) => {
                let tolerated = self.graph.class(tolerated, other.number);
                let is_around = self.loops.are_together(other.number, node.number);
                is_around && tolerated.is_ok_and(|tolerated| tolerated == class)
            }
            _ => false,
        })
    }

    /// The test goes on only if something holds.
    fn condition(
        &self,
        node: &Node<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Block, Error> {
        let holds = self.expression(node)?;
        let (condition, lines, count) = match after {
            [last] if is_failure(&self.graph.nodes[*last]) => {
                let lines = self.run(&[*last], progress)?;
                (holds.clone(), lines, 1)
            }
            _ => (holds.negated(), vec![Line::Return(None)], 0),
        };
        let head = Line::If {
            condition: condition.clone(),
            yes: Vec::new(),
            no: Vec::new(),
        };
        self.measure(node, &head, holds.depth)?;
        let line = Line::If {
            condition,
            yes: lines,
            no: Vec::new(),
        };
        Ok(Block::new(vec![line], count))
    }

    /// The number of statements that follow and fail because the exception was not thrown, if all of them do.
    fn is_missing(&self, thrown: &Value, after: &[usize], tried: &Tried) -> Option<usize> {
        let [condition, last] = after else {
            return None;
        };
        let condition = &self.graph.nodes[*condition];
        let is_null = condition.arguments.first().and_then(Value::identity);
        let is_null = is_null.and_then(|id| self.inline.made_at(id));
        let is_null = &self.graph.nodes[is_null?];
        let asks = condition.is_guard()
            && is_null.operator() == Some(Operator::IsNull)
            && is_null.arguments.first().and_then(Value::identity) == thrown.identity();
        let object = self.graph.objects.get(&thrown.identity()?)?;
        let failing = &self.graph.nodes[*last];
        let fails = is_failure(failing) && !self.may_catch(&tried.caught, failing);
        (asks && fails && object.uses.len() == 1).then_some(after.len())
    }

    /// The handler may catch the exception of a failing statement.
    fn may_catch(&self, caught: &str, failing: &Node<'_>) -> bool {
        let hierarchy = self.access.hierarchy;
        let of_object = |value: &Value| {
            let object = value.identity().and_then(|id| self.graph.objects.get(&id));
            let class = object.map(|object| object.class).or_else(|| match value {
                // Nothing uses what the last statement throws.
                Value::Reference(Reference::Object { class, .. }) => {
                    self.graph.class(*class, failing.number).ok()
                }
                _ => None,
            });
            class.unwrap_or("java/lang/Throwable")
        };
        let thrown = match (failing.operator(), failing.arguments.first(), failing.end) {
            (Some(Operator::Raise), Some(thrown), _) => of_object(thrown),
            (Some(_), _, StatementEnd::Threw(thrown)) => of_object(thrown),
            _ => "java/lang/AssertionError",
        };
        let is = |one: &str, other: &str| hierarchy.lineage(one).iter().any(|name| name == other);
        is(thrown, caught) || is(caught, thrown)
    }

    /// The number of statements right after the call that use the exception, if no later one does. They become the
    /// handler.
    fn uses_at_once(
        &self,
        node: &Node<'_>,
        thrown: &Value,
        after: &[usize],
        tried: &Tried,
    ) -> usize {
        let Some(variable) = self.kept(node, thrown) else {
            return 0;
        };
        let object = thrown.identity().and_then(|id| self.graph.objects.get(&id));
        let uses = object.map_or(&[][..], |object| &object.uses);
        let plain = uses
            .iter()
            .all(|each| !matches!(each.role, Role::Answer(..)));
        let exact = variable.of == Type::class(&tried.caught) && !variable.is_field;
        let Some(last) = uses.iter().map(|each| each.statement).max() else {
            return 0;
        };
        let count = after.iter().take_while(|root| **root < last).count() + 1;
        if !plain || !exact || count > FEW || count > after.len() {
            return 0;
        }
        let mut from = node.number + 1;
        for root in &after[..count] {
            let span = from..=*root;
            let statement = &self.graph.nodes[*root];
            let uses_it = uses.iter().any(|each| span.contains(&each.statement));
            let is_plain = !self.is_caught(statement) && !statement.is_guard();
            if !uses_it || !is_plain || !self.loops.are_together(*root, node.number) {
                return 0;
            }
            from = root + 1;
        }
        let inside = node.number + 1..from;
        let escapes = self.graph.objects.values().any(|object| {
            matches!(object.origin, ObjectOrigin::Result(at) if inside.contains(&at))
                && object.uses.iter().any(|each| each.statement >= from)
        });
        if escapes { 0 } else { count }
    }
}
