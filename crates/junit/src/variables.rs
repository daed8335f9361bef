//! Types and names of variables: the type that a call returns if that is enough for what is done
//! with the object, otherwise the nearest one that is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use culprit_classfile::access as flags;
use culprit_model::ObjectId;

use crate::access::Access;
use crate::error::Error;
use crate::flow::Flow;
use crate::imports::Imports;
use crate::inline::Inline;
use crate::loops::{COUNTERS, Head, Loops};
use crate::names::{self, Names};
use crate::operators::{self, Operator};
use crate::order::Order;
use crate::place::{is_foreign, is_open};
use crate::scope::{Scope, Throws, Variable};
use crate::stand_in;
use crate::story::{End, Kind, Maker, Object, Role, Story};
use crate::types::{Type, result};

/// Methods whose names say nothing of what they give.
const UNTOLD: [&str; 6] = ["get", "next", "call", "apply", "invoke", "valueOf"];

/// The scope of a test, with all its variables.
pub(crate) fn scope<'a>(
    story: &'a Story<'a>,
    order: &Order,
    access: Access<'a>,
    imports: Imports<'a>,
    (flow, inline, loops): (Flow, Inline, &'a Loops),
) -> Result<Scope<'a>, Error> {
    let mut names = Names::default();
    if !loops.all.is_empty() {
        COUNTERS.iter().for_each(|name| names.reserve(name));
    }
    // Within a stand-in, fields of its superclass would hide variables.
    for object in story.objects.values() {
        if object.maker == Maker::StandIn {
            for class in stand_in::classes(object, story, access) {
                for class in access.hierarchy.lineage(&class) {
                    let fields = access.hierarchy.class(&class);
                    let fields = fields.iter().flat_map(|class| &class.fields);
                    let visible = fields.filter(|field| field.access & flags::PRIVATE == 0);
                    visible.for_each(|field| names.reserve(&field.name));
                }
            }
        }
    }
    let mut variables = BTreeMap::new();
    for id in in_order(story, order) {
        let object = &story.objects[&id];
        if let Maker::Result(action) = object.maker {
            if !matches!(story.actions[action].end, End::Returned(_)) {
                return Err(Error::Unfinished {
                    class: object.class.replace('/', "."),
                });
            }
        }
        let of = variable_type(id, object, story, access)?;
        let wish = role(object, story, access)
            .or_else(|| row_name(object, &of, story))
            .or_else(|| result_name(id, object, &of, story, loops))
            .unwrap_or_else(|| names::for_type(&of));
        let name = match loops.counter(id) {
            Some(counter) => counter.to_owned(),
            None => names.give(&wish),
        };
        let is_field = order.fields.contains(&id);
        variables.insert(id, Variable { name, of, is_field });
    }
    let mut rows = BTreeMap::new();
    for each in &loops.all {
        if let Head::Rows(columns) = &each.head {
            let row = names.give("row");
            rows.extend(columns.iter().map(|(id, _)| (*id, row.clone())));
        }
    }
    Ok(Scope {
        story,
        access,
        imports,
        variables,
        names: RefCell::new(names),
        throws: Cell::new(Throws::Nothing),
        helpers: RefCell::default(),
        flow,
        loops,
        rows,
        inline,
        refused: RefCell::default(),
        results: RefCell::default(),
    })
}

/// Named objects in the order of their declarations.
fn in_order(story: &Story<'_>, order: &Order) -> Vec<ObjectId> {
    let mut all = Vec::new();
    for (place, before) in order.before.iter().enumerate() {
        all.extend(before.iter().copied());
        all.extend(story.objects.iter().filter_map(|(id, object)| {
            let here = match object.maker {
                Maker::Result(at) | Maker::Thrown(at) => at == place,
                Maker::Captured => place == 0,
                _ => false,
            };
            (here && order.named.contains(id)).then_some(*id)
        }));
    }
    all
}

fn variable_type(
    id: ObjectId,
    object: &Object<'_>,
    story: &Story<'_>,
    access: Access<'_>,
) -> Result<Type, Error> {
    let own = Type::of_class(object.class);
    let given = match object.maker {
        Maker::StandIn => return stand_in::variable_type(object, story, access),
        Maker::Array(_) => return Ok(own),
        Maker::Thrown(_) => own.clone(),
        Maker::Captured => story.given.get(&id).cloned().unwrap_or_else(Type::object),
        Maker::Result(action) => {
            let action = &story.actions[action];
            let member = &action.site.target;
            if let Some(given) = operators::given(action, story) {
                given
            } else if !is_open(story, &access, action) {
                Type::object()
            } else if action.site.is_constructor() {
                Type::class(&member.owner)
            } else if action.kind == Kind::Call {
                result(&member.descriptor).unwrap_or_else(Type::object)
            } else {
                Type::of(&member.descriptor)
            }
        }
    };
    let line = match &own {
        Type::Class(name) => access.hierarchy.lineage(name),
        _ => Vec::new(),
    };
    let line = line.into_iter().map(Type::Class);
    let candidates = [given.clone(), own].into_iter().chain(line);
    let mut nameable = candidates.filter(|of| access.names(of));
    // Of what was thrown, only the class of what is caught is known.
    if matches!(object.maker, Maker::Thrown(_)) {
        return Ok(nameable
            .next()
            .unwrap_or_else(|| Type::class("java/lang/Throwable")));
    }
    let first = nameable.next();
    let fitting = first
        .clone()
        .into_iter()
        .chain(nameable)
        .find(|of| fits(of, object, story, access));
    Ok(fitting.or(first).unwrap_or_else(Type::object))
}

/// Whether all that is done with an object can be done if it is of this type.
fn fits(of: &Type, object: &Object<'_>, story: &Story<'_>, access: Access<'_>) -> bool {
    object.uses.iter().all(|each| match &each.role {
        Role::Receiver => match of {
            Type::Class(class) => access.member(class, &story.actions[each.action]),
            _ => true,
        },
        Role::Argument(0, _) if operators::wants_array(&story.actions[each.action]) => {
            matches!(of, Type::Array(_))
        }
        Role::Argument(_, wanted) | Role::Stored(wanted) | Role::Answer(_, wanted) => {
            access.hierarchy.is_subtype(of, wanted)
        }
    })
}

/// What an array is called that is another one in each round.
fn row_name(object: &Object<'_>, of: &Type, story: &Story<'_>) -> Option<String> {
    let is_each = match object.maker {
        Maker::Result(place) => Operator::of(&story.actions[place]) == Some(Operator::Each),
        _ => false,
    };
    (is_each && matches!(of, Type::Array(_))).then(|| "row".to_owned())
}

/// What a method says that it gives, of a value whose type says nothing.
fn result_name(
    id: ObjectId,
    object: &Object<'_>,
    of: &Type,
    story: &Story<'_>,
    loops: &Loops,
) -> Option<String> {
    let Maker::Result(place) = object.maker else {
        return None;
    };
    let is_start = Operator::of(&story.actions[place]) == Some(Operator::Start);
    let place = loops.assigns(id).filter(|_| is_start).unwrap_or(place);
    let action = &story.actions[place];
    let says_nothing = match of {
        Type::Primitive(_) => true,
        of => of.unboxed().is_some() || of.name() == Some("java/lang/String"),
    };
    let is_method = !action.site.is_constructor() && Operator::of(action).is_none();
    let name = &action.site.target.name;
    let tells = says_nothing && is_method && !UNTOLD.contains(&name.as_str());
    tells.then(|| names::for_result(name))
}

/// The name of the parameter that an object is for, where that tells more than its type: of
/// stand-ins, arrays and objects of the JDK.
fn role(object: &Object<'_>, story: &Story<'_>, access: Access<'_>) -> Option<String> {
    let plain = match object.maker {
        Maker::StandIn | Maker::Array(_) => true,
        Maker::Result(_) => is_foreign(object.class),
        _ => false,
    };
    if !plain {
        return None;
    }
    object.uses.iter().find_map(|each| {
        let Role::Argument(place, _) = &each.role else {
            return None;
        };
        let member = &story.actions[each.action].site.target;
        let class = access.hierarchy.class(&member.owner)?;
        let method = class
            .methods
            .iter()
            .find(|m| m.name == member.name && m.descriptor == member.descriptor)?;
        let name = method.parameters.get(*place)?;
        names::is_telling(name).then(|| name.clone())
    })
}
