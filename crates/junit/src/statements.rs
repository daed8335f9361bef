//! The body of the test: a statement for each action, and before it what it needs.

use std::collections::BTreeMap;

use culprit_model::{ObjectId, Reference, Value};

use crate::error::Error;
use crate::order::Order;
use crate::scope::{Expr, Scope, Variable};
use crate::story::{Action, End, Kind, Maker, identity};
use crate::types::{Type, default_value};

/// The lines of a body, without indentation.
pub(crate) struct Body {
    pub(crate) lines: Vec<String>,
    pub(crate) stand_ins: usize,
}

impl Scope<'_> {
    pub(crate) fn statements(&self, order: &Order) -> Result<Body, Error> {
        let mut body = Body {
            lines: Vec::new(),
            stand_ins: 0,
        };
        let mut contents: BTreeMap<ObjectId, Vec<Value>> = BTreeMap::new();
        for (place, action) in self.story.actions.iter().enumerate() {
            for id in &order.before[place] {
                body.stand_ins += usize::from(self.story.objects[id].maker == Maker::StandIn);
                body.lines.extend(self.declaration(*id, action)?);
            }
            for value in action.arguments {
                body.lines
                    .extend(self.updates(value, &mut contents, action)?);
            }
            // Others take those as arguments.
            if self.flow.inline.contains(&place) {
                continue;
            }
            let is_last = place + 1 == self.story.actions.len();
            body.lines.extend(self.statement(place, action, is_last)?);
        }
        Ok(body)
    }

    /// A stand-in or an array gets its variable.
    fn declaration(&self, id: ObjectId, action: &Action<'_>) -> Result<Vec<String>, Error> {
        let variable = &self.variables[&id];
        let start = self.start(variable);
        match self.story.objects[&id].maker {
            Maker::Array(value) => {
                let (of, text) = self.array(value, action.step)?;
                let text = if variable.is_field && text.starts_with('{') {
                    format!("new {} {text}", self.imports.name(&of))
                } else {
                    text
                };
                Ok(vec![format!("{start}{text};")])
            }
            _ => self.stand_in(id, variable, &start),
        }
    }

    fn start(&self, variable: &Variable) -> String {
        if variable.is_field {
            format!("{} = ", variable.name)
        } else {
            format!("{} {} = ", self.imports.name(&variable.of), variable.name)
        }
    }

    /// What the program put into an array since the last time.
    fn updates(
        &self,
        value: &Value,
        known: &mut BTreeMap<ObjectId, Vec<Value>>,
        action: &Action<'_>,
    ) -> Result<Vec<String>, Error> {
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
        let of = Type::of_class(self.story.class(*class, action.step)?);
        let Type::Array(component) = &of else {
            return Ok(Vec::new());
        };
        let Some(now) = self.elements(component, *length, contents, action.step)? else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        let before = known
            .insert(*id, now.clone())
            .unwrap_or_else(|| now.clone());
        for (place, (before, now)) in before.iter().zip(&now).enumerate() {
            let unchanged = match (identity(before), identity(now)) {
                (Some(before), Some(now)) => before == now,
                _ => before == now,
            };
            if !unchanged {
                let value = self.value(now, action.step)?;
                let value = self.fit(value, component);
                let value = value.ok_or(Error::Unknown { step: action.step })?;
                lines.push(format!("{}[{place}] = {};", variable.name, value.text));
            }
        }
        Ok(lines)
    }

    fn statement(
        &self,
        place: usize,
        action: &Action<'_>,
        is_last: bool,
    ) -> Result<Vec<String>, Error> {
        let thrown_before = self.throws.get();
        let expression = self.action(action)?;
        match action.end {
            End::Threw(value) if !is_last => {
                let (lines, caught) = self.caught(place, action, value, &expression)?;
                let hierarchy = self.access.hierarchy;
                let mut declared = expression.throws.iter();
                if declared.all(|class| hierarchy.lineage(class).contains(&caught)) {
                    self.throws.set(thrown_before);
                }
                Ok(lines)
            }
            _ => Ok(vec![self.assigned(place, action, expression)?]),
        }
    }

    /// The statement, whose result is kept if somebody needs it.
    fn assigned(
        &self,
        place: usize,
        action: &Action<'_>,
        expression: Expr,
    ) -> Result<String, Error> {
        let result = match action.end {
            End::Returned(Some(value)) => identity(value),
            _ => None,
        };
        let made = result.filter(|id| {
            let object = self.story.objects.get(id);
            object.is_some_and(|object| object.maker == Maker::Result(place))
        });
        if let Some(variable) = made.and_then(|id| self.variables.get(&id)) {
            let value = self.fit(expression, &variable.of);
            let value = value.ok_or(Error::Unknown { step: action.step })?;
            return Ok(format!("{}{};", self.start(variable), value.text));
        }
        let is_source = self.flow.sources.values().any(|source| *source == place);
        // To read a field is no statement, and may yet initialize its class.
        if is_source || action.kind == Kind::Read {
            let name = result_name(&action.site.target.name);
            let name = self.names.borrow_mut().give(&name);
            let of = self.imports.name(&expression.of);
            let value = Expr::new(name.clone(), expression.of);
            self.results.borrow_mut().insert(place, value);
            return Ok(format!("{of} {name} = {};", expression.text));
        }
        Ok(format!("{};", expression.text))
    }

    /// A call that is known to throw, and is not the one that the test is about; and the class of
    /// what it catches.
    fn caught(
        &self,
        place: usize,
        action: &Action<'_>,
        thrown: &Value,
        expression: &Expr,
    ) -> Result<(Vec<String>, String), Error> {
        let id = identity(thrown);
        let class = match thrown {
            Value::Reference(Reference::Object { class, .. }) => {
                self.story.class(*class, action.step)?
            }
            _ => "java/lang/Throwable",
        };
        let kept = id.and_then(|id| self.variables.get(&id)).filter(|_| {
            let object = id.and_then(|id| self.story.objects.get(&id));
            object.is_some_and(|object| object.maker == Maker::Thrown(place))
        });
        let caught = self.caught_class(class, &expression.throws);
        let name = self.names.borrow().clone().give("expected");
        let mut lines = Vec::new();
        let keep = match kept {
            Some(variable) => {
                if !variable.is_field {
                    let null = self.value(&default_value(&variable.of), action.step)?;
                    lines.push(format!("{}{};", self.start(variable), null.text));
                }
                let value = Expr::new(name.clone(), Type::class(&caught));
                let value = self.fit(value, &variable.of);
                let value = value.ok_or(Error::Unknown { step: action.step })?;
                format!("{} = {};", variable.name, value.text)
            }
            None => "// as recorded".to_owned(),
        };
        lines.push("try {".to_owned());
        lines.push(format!("    {};", expression.text));
        lines.push(format!(
            "}} catch ({} {name}) {{",
            self.imports.class(&caught)
        ));
        lines.push(format!("    {keep}"));
        lines.push("}".to_owned());
        Ok((lines, caught))
    }

    /// What can be caught: the compiler wants to see where checked exceptions come from.
    fn caught_class(&self, class: &str, declared: &[String]) -> String {
        let hierarchy = self.access.hierarchy;
        let line = hierarchy.lineage(class);
        let always = |name: &str| {
            !hierarchy.is_checked(name)
                || name == "java/lang/Exception"
                || name == "java/lang/Throwable"
                || declared.iter().any(|declared| {
                    let has = |one: &str, other: &str| {
                        let line = hierarchy.lineage(one);
                        line.iter().any(|above| above == other)
                    };
                    has(declared, name) || has(name, declared)
                })
        };
        let found = line
            .iter()
            .find(|name| self.access.names_class(name) && always(name));
        found.map_or_else(|| "java/lang/Throwable".to_owned(), Clone::clone)
    }
}

/// What the result of a method is called: `getSize` gives `size`.
fn result_name(method: &str) -> String {
    let rest = ["get", "is"].iter().find_map(|prefix| {
        let rest = method.strip_prefix(prefix)?;
        rest.starts_with(char::is_uppercase).then_some(rest)
    });
    rest.map_or_else(
        || method.to_owned(),
        |rest| {
            let mut letters = rest.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            first.chain(letters).collect()
        },
    )
}
