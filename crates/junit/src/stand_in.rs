//! The types of stand-ins: the class that one extends and the interfaces that it implements. A stand-in that was
//! never asked can be a plain new object.

use culprit_classfile::access as flags;
use culprit_model::Member;
use culprit_model::owner::MOCKS;

use crate::access::Access;
use crate::error::Error;
use crate::expr::Expr;
use crate::graph::{Graph, Object, Role};
use crate::hierarchy::DeclaredMethod;
use crate::scope::Scope;
use crate::types::{Type, default_value, parameters};

/// The supertypes of a stand-in.
pub(crate) struct Base {
    /// The class that it extends or is, `java/lang/Object` if only interfaces are wanted.
    pub(crate) class: String,
    pub(crate) interfaces: Vec<String>,
    /// It can be had with `new`, without a class of its own.
    pub(crate) is_plain: bool,
    /// The class is final: only a mocking library can make an object of it that answers.
    pub(crate) is_mock: bool,
}

/// The types that the uses of an object want it to have, without those that others imply.
pub(crate) fn classes(object: &Object<'_>, graph: &Graph<'_>, access: Access<'_>) -> Vec<String> {
    let hierarchy = access.hierarchy;
    let mut wanted: Vec<String> = Vec::new();
    let asked = object.asked.iter().map(|asked| &asked.site.target.owner);
    // The class of a mock or a proxy was made at run time: nothing can extend it.
    let known = asked.filter(|owner| hierarchy.class(owner).is_some());
    wanted.extend(known.cloned());
    for each in &object.uses {
        match &each.role {
            Role::Receiver => {
                let target = graph.nodes[each.statement].target();
                wanted.extend(target.map(|target| target.owner.clone()));
            }
            Role::Argument(_, of) | Role::Stored(of) | Role::Answer(of) => {
                wanted.extend(of.name().map(str::to_owned));
            }
        }
    }
    let is_throwable = |class: &str| {
        let line = hierarchy.lineage(class);
        line.iter().any(|name| name == "java/lang/Throwable")
    };
    wanted.sort();
    wanted.dedup();
    wanted.retain(|class| class != "java/lang/Object" && access.names_class(class));
    // Exceptions are what they are; so is what may be anything.
    if wanted.is_empty() || is_throwable(object.class) {
        let line = hierarchy.lineage(object.class);
        let nameable = line.into_iter().find(|class| access.names_class(class));
        return nameable.into_iter().collect();
    }
    let all = wanted.clone();
    wanted.retain(|class| {
        !all.iter()
            .any(|other| other != class && hierarchy.lineage(other).contains(class))
    });
    wanted
}

/// The class to extend and the interfaces to implement.
pub(crate) fn base(
    object: &Object<'_>,
    graph: &Graph<'_>,
    access: Access<'_>,
) -> Result<Base, Error> {
    let refused = || Error::NoStandIn {
        class: object.class.replace('/', "."),
    };
    if object.class.starts_with('[') {
        return Err(refused());
    }
    let (interfaces, mut superclasses): (Vec<String>, Vec<String>) = classes(object, graph, access)
        .into_iter()
        .partition(|name| {
            access
                .hierarchy
                .class(name)
                .is_some_and(|class| class.is_interface())
        });
    let class = superclasses
        .pop()
        .unwrap_or_else(|| "java/lang/Object".to_owned());
    if !superclasses.is_empty() {
        return Err(refused());
    }
    let facts = access.hierarchy.class(&class);
    let has = |flag| facts.as_ref().is_some_and(|facts| facts.is(flag));
    let is_plain = interfaces.is_empty() && object.asked.is_empty() && !has(flags::ABSTRACT);
    let is_mock =
        has(flags::FINAL) && interfaces.is_empty() && access.hierarchy.class(MOCKS).is_some();
    if has(flags::ENUM) || (has(flags::FINAL) && !is_plain && !is_mock) {
        return Err(refused());
    }
    let inner = facts
        .as_ref()
        .is_some_and(|facts| facts.enclosing().is_some());
    let is_unmade = inner || (facts.is_some() && simplest_constructor(&class, access).is_none());
    if is_unmade && !is_mock {
        return Err(refused());
    }
    Ok(Base {
        class,
        interfaces,
        is_plain: is_plain && !is_mock,
        is_mock,
    })
}

/// The type of the variable that holds the stand-in.
pub(crate) fn variable_type(
    object: &Object<'_>,
    graph: &Graph<'_>,
    access: Access<'_>,
) -> Result<Type, Error> {
    let base = base(object, graph, access)?;
    let passed = |interface: &&String| {
        object.uses.iter().any(|each| match &each.role {
            Role::Argument(_, of) => of.name() == Some(interface),
            _ => false,
        })
    };
    let interface = base.interfaces.iter().find(passed);
    let main = match interface.or(base.interfaces.first()) {
        Some(interface) if base.class == "java/lang/Object" => interface,
        _ => &base.class,
    };
    Ok(Type::class(main))
}

/// The constructor with the fewest parameters that code of the package may call.
fn simplest_constructor(class: &str, access: Access<'_>) -> Option<DeclaredMethod> {
    let all = access.hierarchy.methods(class, "<init>").into_iter();
    let open = all.filter(|found| {
        let by_subclass = found.method.is(flags::PROTECTED) && found.class.is(flags::ABSTRACT);
        access.calls(&found.class, &found.method) || by_subclass
    });
    // A message says less than nothing, but more than a cause.
    open.min_by_key(|found| {
        let parameters = parameters(&found.method.descriptor);
        let string = parameters.first() == Some(&Type::class("java/lang/String"));
        (parameters.len(), !string)
    })
}

impl Scope<'_> {
    /// The simplest constructor of what a stand-in extends, and arguments for it: zeros and nulls.
    pub(crate) fn empty_arguments(&self, class: &str) -> Result<(Member, Vec<Expr>), Error> {
        let found = simplest_constructor(class, self.access);
        self.calls(found.as_ref());
        let Some(found) = found else {
            return Ok((constructor(class, "()V"), Vec::new()));
        };
        let mut all = Vec::new();
        for of in parameters(&found.method.descriptor) {
            let value = self.value(&default_value(&of), 0)?;
            let is_null = value.of == Type::Null && self.access.names(&of);
            all.push(if is_null {
                self.cast(&value, &of)
            } else {
                value
            });
        }
        Ok((constructor(class, &found.method.descriptor), all))
    }
}

fn constructor(class: &str, descriptor: &str) -> Member {
    Member {
        owner: class.to_owned(),
        name: "<init>".to_owned(),
        descriptor: descriptor.to_owned(),
    }
}
