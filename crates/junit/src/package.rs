//! The package of a test: the one from which it needs the least reflection.

use std::collections::BTreeSet;

use culprit_model::owner::is_of_language;
use culprit_model::script::Action;
use culprit_model::{Owner, Reference, TypeId, Value};

use crate::access::{Access, package};
use crate::graph::{Graph, Node};
use crate::hierarchy::Hierarchy;
use crate::types::{Type, parameters};

/// The package, with slashes. Among equals that of the code that failed, and rather than one of a language's library.
pub(crate) fn choose(graph: &Graph<'_>, hierarchy: &Hierarchy<'_>) -> String {
    let owners = graph
        .nodes
        .iter()
        .rev()
        .filter_map(|node| Some(node.target()?.owner.as_str()));
    let classes = graph.script.tables.types.iter();
    let classes = classes.map(|def| Type::of_class(&def.name).element().clone());
    let classes: Vec<Type> = classes.collect();
    let named = owners.chain(classes.iter().filter_map(Type::name));
    let mut packages: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    let (of_languages, own): (Vec<&str>, Vec<&str>) = named
        .filter(|name| !is_foreign(name))
        .partition(|name| is_of_language(name));
    for name in own.into_iter().chain(of_languages) {
        if seen.insert(package(name)) {
            packages.push(package(name));
        }
    }
    let best = packages
        .into_iter()
        .min_by_key(|package| cost(graph, &Access { hierarchy, package }));
    best.unwrap_or_default().to_owned()
}

/// A class of the JDK, of a test library or of a test runner. No test is put into its package.
pub(crate) fn is_foreign(class: &str) -> bool {
    let owner = Owner::of(class);
    !owner.may_be_subject() || owner == Owner::MaybeJdk
}

/// The number of classes and members that the package cannot name or use; members count tenfold.
fn cost(graph: &Graph<'_>, access: &Access<'_>) -> usize {
    graph
        .nodes
        .iter()
        .map(|node| {
            let call = if is_open(graph, access, node) { 0 } else { 10 };
            call + hidden(graph, access, node)
        })
        .sum()
}

/// Types and values of a statement that the package cannot name.
fn hidden(graph: &Graph<'_>, access: &Access<'_>, node: &Node<'_>) -> usize {
    let is_hidden = |class: TypeId| {
        let class = graph.script.tables.class(class);
        class.is_some_and(|class| !access.names(&Type::of_class(&class.name)))
    };
    let classes = node.statement.classes().into_iter();
    let classes = classes.filter(|class| is_hidden(*class)).count();
    let values = node.arguments.iter();
    let values = match &node.statement.action {
        Action::Call(_) | Action::Read(_) | Action::Write(_) => {
            let wanted = node.target().map(|target| parameters(&target.descriptor));
            let values = values.zip(wanted.unwrap_or_default());
            let is_closed = |(value, wanted): &(&Value, Type)| {
                !access.names(wanted) || class_of(value).is_some_and(is_hidden)
            };
            values.filter(is_closed).count()
        }
        Action::Operate(_) => {
            let values = values.filter(|value| class_of(value).is_some_and(is_hidden));
            values.count()
        }
        Action::Lambda(_)
        | Action::Guard
        | Action::Expect(_)
        | Action::Mark(_)
        | Action::Loop(_) => 0,
    };
    classes + values
}

pub(crate) fn is_open(graph: &Graph<'_>, access: &Access<'_>, node: &Node<'_>) -> bool {
    let receiver = node.receiver.and_then(Value::identity);
    let class = receiver
        .and_then(|id| graph.objects.get(&id))
        .map(|object| object.class);
    let owner = node.target().map(|target| target.owner.as_str());
    let class = class.or(owner.filter(|_| node.receiver.is_some()));
    access.is_open(node, class)
}

/// The class that has to be named to write a value.
fn class_of(value: &Value) -> Option<TypeId> {
    match value {
        Value::Reference(
            Reference::Class(class)
            | Reference::Enum { class, .. }
            | Reference::Array { class, .. }
            | Reference::Constant { class, .. },
        ) => Some(*class),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_put_into_packages_of_programs() {
        for (class, expect) in [
            ("java/util/List", true),
            ("javax/servlet/Servlet", true),
            ("org/junit/Assert", true),
            ("org/assertj/core/api/Assertions", true),
            ("culprit/runtime/Probe", true),
            ("shop/Cart", false),
            ("org/codehaus/plexus/util/FileUtils", false),
            // Not recognised before the lists of prefixes became one table.
            ("org/testng/Assert", true),
            ("org/mockito/Mockito", true),
            ("kotlin/test/AssertionsKt", true),
            ("kotlin/jvm/internal/Intrinsics", true),
            ("org/spockframework/runtime/SpockRuntime", true),
            ("org/springframework/test/web/servlet/MockMvc", true),
        ] {
            assert_eq!(is_foreign(class), expect, "{class}");
        }
    }
}
