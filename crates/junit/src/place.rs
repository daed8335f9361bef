//! The package that a test is put into: the one from which it needs the least reflection.

use std::collections::BTreeSet;

use culprit_model::{Owner, Reference, Value};

use crate::access::{Access, package};
use crate::hierarchy::Hierarchy;
use crate::story::{Action, Story, identity};
use crate::types::{Type, parameters};

/// The package, with slashes. Among equals that of the code that failed.
pub(crate) fn choose(story: &Story<'_>, hierarchy: &Hierarchy<'_>) -> String {
    let owners = story
        .actions
        .iter()
        .rev()
        .map(|action| action.site.target.owner.as_str());
    let classes = story.scenario.tables.types.iter();
    let classes = classes.map(|def| Type::of_class(&def.name).element().clone());
    let classes: Vec<Type> = classes.collect();
    let named = owners.chain(classes.iter().filter_map(Type::name));
    let mut packages: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for name in named.filter(|name| !is_foreign(name)) {
        if seen.insert(package(name)) {
            packages.push(package(name));
        }
    }
    let best = packages
        .into_iter()
        .min_by_key(|package| cost(story, &Access { hierarchy, package }));
    best.unwrap_or_default().to_owned()
}

/// Whether a class belongs to the JDK, to a test library or to what starts tests: no test is put into
/// its package.
pub(crate) fn is_foreign(class: &str) -> bool {
    let owner = Owner::of(class);
    !owner.may_be_subject() || owner == Owner::MaybeJdk
}

/// How much there is that the package cannot name or call.
fn cost(story: &Story<'_>, access: &Access<'_>) -> usize {
    story
        .actions
        .iter()
        .map(|action| {
            let call = if is_open(story, access, action) {
                0
            } else {
                10
            };
            let wanted = parameters(&action.site.target.descriptor);
            let closed = action
                .arguments
                .iter()
                .zip(wanted)
                .filter(|(value, wanted)| {
                    !access.names(wanted) || !names_value(story, access, value)
                });
            call + closed.count()
        })
        .sum()
}

pub(crate) fn is_open(story: &Story<'_>, access: &Access<'_>, action: &Action<'_>) -> bool {
    let receiver = action.receiver.and_then(identity);
    let class = receiver
        .and_then(|id| story.objects.get(&id))
        .map(|object| object.class);
    let class = class.or(action.receiver.map(|_| action.site.target.owner.as_str()));
    access.is_open(action, class)
}

fn names_value(story: &Story<'_>, access: &Access<'_>, value: &Value) -> bool {
    let Value::Reference(
        Reference::Class(class)
        | Reference::Enum { class, .. }
        | Reference::Array { class, .. }
        | Reference::Constant { class, .. },
    ) = value
    else {
        return true;
    };
    let name = story.scenario.tables.class(*class);
    name.is_none_or(|def| access.names(&Type::of_class(&def.name)))
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
            ("culprit/runtime/Operators", true),
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
