//! A place in the source that a user names, and the instances of it in a run.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::graph::{NodeId, Origin};
use crate::program::{Place, Role};
use crate::replay::Replayed;

/// A line, or a variable or field that is assigned there: `com.acme.Order:25`, `Order:25:total`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The name of the class, in full or without its package, or of its source file.
    pub class: String,
    pub line: u16,
    pub variable: Option<String>,
}

/// The reason why a run has no instances of a location.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotThere {
    /// No code of the class ran.
    #[error("no code of {0} ran")]
    Class(String),
    /// The class was compiled without line numbers.
    #[error("{0} has no line numbers")]
    NoLines(String),
    /// The line computed nothing; these lines of the class did.
    #[error("nothing was computed at {class}:{line}")]
    Line {
        class: String,
        line: u16,
        ran: BTreeSet<u16>,
    },
    /// The line does not assign the variable; these lines do.
    #[error("{class}:{line} assigns no {variable}")]
    Variable {
        class: String,
        line: u16,
        variable: String,
        assigned: BTreeSet<u16>,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.class, self.line)?;
        match &self.variable {
            Some(variable) => write!(f, ":{variable}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Location {
    type Err = ();

    fn from_str(text: &str) -> Result<Location, ()> {
        let mut parts = text.split(':');
        let class = parts.next().filter(|it| !it.is_empty()).ok_or(())?;
        let line = parts.next().and_then(|it| it.parse().ok()).ok_or(())?;
        let variable = parts.next().map(str::to_owned);
        if parts.next().is_some() || variable.as_deref() == Some("") {
            return Err(());
        }
        Ok(Location {
            class: class.replace('/', "."),
            line,
            variable,
        })
    }
}

impl Location {
    fn is_class(&self, place: &Place) -> bool {
        let name = place.class.replace('/', ".");
        let simple = name.rsplit(['.', '$']).next();
        let outer = name.rsplit('.').next();
        let names = [Some(name.as_str()), simple, outer, place.source.as_deref()];
        names.contains(&Some(self.class.as_str()))
    }
}

impl Replayed {
    /// The instances of the last execution of a line, or the last assignment of a variable there.
    pub fn last_at(&self, location: &Location) -> Result<Vec<NodeId>, NotThere> {
        let mut places = Vec::new();
        let mut instructions = BTreeSet::new();
        for node in self.graph.nodes() {
            if let Origin::Instruction(number) = self.graph.origin(node) {
                instructions.insert(number);
            }
        }
        for number in instructions {
            let place = self.program.place(number);
            if let Some(place) = place.filter(|it| location.is_class(it)) {
                places.push((number, place.line));
            }
        }
        let Location {
            class,
            line,
            variable,
        } = location.clone();
        if places.is_empty() {
            return Err(NotThere::Class(class));
        }
        let ran: BTreeSet<u16> = places.iter().filter_map(|(_, line)| *line).collect();
        if ran.is_empty() {
            return Err(NotThere::NoLines(class));
        }
        let of_line = places.iter().filter(|(_, it)| *it == Some(line));
        let of_line: BTreeSet<u32> = of_line.map(|(number, _)| *number).collect();
        if of_line.is_empty() {
            return Err(NotThere::Line { class, line, ran });
        }
        let Some(variable) = variable else {
            return Ok(self.last_execution(&of_line));
        };
        let assigns = |number: &u32| match self.program.role(*number) {
            Role::Variable(name) => name.as_deref() == Some(&*variable),
            Role::Field(name) | Role::Static(name) => name == variable,
            _ => false,
        };
        let wanted: BTreeSet<u32> = of_line.into_iter().filter(assigns).collect();
        let mut nodes = self.graph.nodes().rev();
        let last = nodes.find(|node| self.is_of(*node, &wanted));
        last.map(|node| vec![node]).ok_or_else(|| {
            let assigned = places.iter().filter(|(number, _)| assigns(number));
            NotThere::Variable {
                assigned: assigned.filter_map(|(_, line)| *line).collect(),
                class,
                line,
                variable: variable.clone(),
            }
        })
    }

    fn is_of(&self, node: NodeId, instructions: &BTreeSet<u32>) -> bool {
        match self.graph.origin(node) {
            Origin::Instruction(number) => instructions.contains(&number),
            Origin::Statement(_) => false,
        }
    }

    /// The last instances of some instructions: within one execution of a line, later instructions have higher numbers.
    fn last_execution(&self, instructions: &BTreeSet<u32>) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        let mut before = u32::MAX;
        for node in self.graph.nodes().rev() {
            if let Origin::Instruction(number) = self.graph.origin(node)
                && instructions.contains(&number)
            {
                if number >= before {
                    break;
                }
                before = number;
                nodes.push(node);
            }
        }
        nodes.reverse();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_and_printed() {
        for text in ["com.acme.Order:25", "Order.java:3", "Order:25:total"] {
            let location: Location = text.parse().unwrap();
            assert_eq!(location.to_string(), text);
        }
        for text in [
            "",
            "Order",
            "Order:",
            ":3",
            "Order:x",
            "Order:1:",
            "Order:1:a:b",
            "Order:70000",
        ] {
            assert_eq!(text.parse::<Location>(), Err(()), "{text}");
        }
    }
}
