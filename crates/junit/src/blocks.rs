//! Statements around others: conditions under which a test goes on, and what is done with an
//! exception where it is caught.

use culprit_model::{Reference, Value};

use crate::error::Error;
use crate::operators::{Operator, is_failure};
use crate::scope::Scope;
use crate::statements::{Progress, Tried};
use crate::story::{Action, End, Maker, Role, identity};
use crate::types::Type;

/// Statements that are done where an exception is caught.
const FEW: usize = 3;

/// Lines, and how many of the statements that follow are in them.
type Block = (Vec<String>, usize);

impl Scope<'_> {
    /// A statement with others in it, if it is such.
    pub(crate) fn block(
        &self,
        action: &Action<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Option<Block>, Error> {
        if Operator::of(action) == Some(Operator::Require) {
            return self.condition(action, after, progress).map(Some);
        }
        if Operator::of(action) == Some(Operator::Tolerate) {
            return self.tolerating(action, after, progress).map(Some);
        }
        if Operator::of(action) == Some(Operator::Expect) {
            // The test itself says so: what would fail without need not be written.
            return Ok(Some((Vec::new(), after.len())));
        }
        let End::Threw(thrown) = action.end else {
            return Ok(None);
        };
        if !self.is_caught(action) {
            return Ok(None);
        }
        let tried = self.tried(action, thrown)?;
        let here = |place: &usize| self.loops.are_together(*place, action.place);
        let missing = self.is_missing(thrown, after, &tried);
        if let Some(count) = missing.filter(|_| after.iter().all(here)) {
            let Some((last, between)) = after[..count].split_last() else {
                return Ok(None);
            };
            debug_assert_eq!(between.len(), 1);
            let failing = self.run(&[*last], progress)?;
            let name = self.names.borrow().clone().give("expected");
            let mut lines = vec!["try {".to_owned(), format!("    {};", tried.call.text)];
            lines.extend(indented(failing));
            lines.push(self.catch(&tried, &name));
            lines.push("    // as it should be".to_owned());
            lines.push("}".to_owned());
            return Ok(Some((lines, count)));
        }
        let count = self.uses_at_once(action, thrown, after, &tried);
        let Some(variable) = self.kept(action, thrown).filter(|_| count > 0) else {
            return Ok(None);
        };
        let using = self.run(&after[..count], progress)?;
        let mut lines = vec!["try {".to_owned(), format!("    {};", tried.call.text)];
        lines.push(self.catch(&tried, &variable.name));
        lines.extend(indented(using));
        lines.push("}".to_owned());
        Ok(Some((lines, count)))
    }

    /// The call that fails, which may throw something else and be right.
    fn tolerating(
        &self,
        action: &Action<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Block, Error> {
        let (Some(Value::Reference(Reference::Class(class))), [last]) =
            (action.arguments.first(), after)
        else {
            return Ok((Vec::new(), 0));
        };
        let tolerated = self.story.class(*class, action.step)?;
        let mut lines = self.needs(*last, progress)?;
        let call = self.action(&self.story.actions[*last])?;
        if !self.can_catch(tolerated, &call.throws) {
            lines.push(format!("{};", call.text));
            return Ok((lines, 1));
        }
        let name = self.names.borrow().clone().give("expected");
        let class = self.imports.class(tolerated);
        lines.push("try {".to_owned());
        lines.push(format!("    {};", call.text));
        lines.push(format!("}} catch ({class} {name}) {{"));
        lines.push("    // as it should be".to_owned());
        lines.push("}".to_owned());
        Ok((lines, 1))
    }

    fn catch(&self, tried: &Tried, name: &str) -> String {
        format!("}} catch ({} {name}) {{", self.imports.class(&tried.caught))
    }

    /// The test goes on only if something holds.
    fn condition(
        &self,
        action: &Action<'_>,
        after: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Block, Error> {
        let holds = self.action(action)?;
        let (condition, lines, count) = match after {
            [last] if is_failure(&self.story.actions[*last]) => {
                let lines = self.run(&[*last], progress)?;
                (holds.clone(), lines, 1)
            }
            _ => (holds.negated(), vec!["return;".to_owned()], 0),
        };
        let line = format!("if ({}) {{", condition.text);
        self.measure(action, &line, holds.depth)?;
        let mut block = vec![line];
        block.extend(indented(lines));
        block.push("}".to_owned());
        Ok((block, count))
    }

    /// Whether what follows says that the exception ought to have been thrown: how many statements
    /// say so.
    fn is_missing(&self, thrown: &Value, after: &[usize], tried: &Tried) -> Option<usize> {
        let [condition, last] = after else {
            return None;
        };
        let condition = &self.story.actions[*condition];
        let is_null = condition.arguments.first().and_then(identity);
        let is_null = is_null.and_then(|id| self.inline.made_at(id));
        let is_null = &self.story.actions[is_null?];
        let asks = Operator::of(condition) == Some(Operator::Require)
            && is_null.site.target.name == "isNull"
            && Operator::of(is_null).is_some()
            && is_null.arguments.first().and_then(identity) == identity(thrown);
        let object = self.story.objects.get(&identity(thrown)?)?;
        let failing = &self.story.actions[*last];
        let fails = is_failure(failing) && !self.catches(tried, failing);
        (asks && fails && object.uses.len() == 1).then_some(after.len())
    }

    /// Whether what is caught may be what a failing statement throws.
    fn catches(&self, tried: &Tried, failing: &Action<'_>) -> bool {
        let hierarchy = self.access.hierarchy;
        let thrown = match (Operator::of(failing), failing.arguments.first()) {
            (Some(Operator::Raise), Some(thrown)) => {
                let object = identity(thrown).and_then(|id| self.story.objects.get(&id));
                object.map_or("java/lang/Throwable", |object| object.class)
            }
            _ => "java/lang/AssertionError",
        };
        let caught = tried.caught.as_str();
        let is = |one: &str, other: &str| hierarchy.lineage(one).iter().any(|name| name == other);
        is(thrown, caught) || is(caught, thrown)
    }

    /// How many of the statements that follow, and no later ones, use the exception: those are done
    /// where it is caught.
    fn uses_at_once(
        &self,
        action: &Action<'_>,
        thrown: &Value,
        after: &[usize],
        tried: &Tried,
    ) -> usize {
        let Some(variable) = self.kept(action, thrown) else {
            return 0;
        };
        let object = identity(thrown).and_then(|id| self.story.objects.get(&id));
        let uses = object.map_or(&[][..], |object| &object.uses);
        let plain = uses
            .iter()
            .all(|each| !matches!(each.role, Role::Answer(..)));
        let exact = variable.of == Type::class(&tried.caught) && !variable.is_field;
        let Some(last) = uses.iter().map(|each| each.action).max() else {
            return 0;
        };
        let count = after.iter().take_while(|root| **root < last).count() + 1;
        if !plain || !exact || count > FEW || count > after.len() {
            return 0;
        }
        let mut from = action.place + 1;
        for root in &after[..count] {
            let span = from..=*root;
            let statement = &self.story.actions[*root];
            let uses_it = uses.iter().any(|each| span.contains(&each.action));
            let is_plain =
                !self.is_caught(statement) && Operator::of(statement) != Some(Operator::Require);
            if !uses_it || !is_plain || !self.loops.are_together(*root, action.place) {
                return 0;
            }
            from = root + 1;
        }
        let inside = action.place + 1..from;
        let escapes = self.story.objects.values().any(|object| {
            matches!(object.maker, Maker::Result(at) if inside.contains(&at))
                && object.uses.iter().any(|each| each.action >= from)
        });
        if escapes { 0 } else { count }
    }
}

pub(crate) fn indented(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!("    {line}"))
}
