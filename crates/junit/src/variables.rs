//! Types and names of variables. A variable has the type that the call declares, if that suffices for all uses,
//! otherwise the nearest type that does.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use culprit_classfile::access as flags;
use culprit_model::ObjectId;
use culprit_model::script::ObjectOrigin;
use culprit_model::script::loops::{Head, Loops};

use crate::access::Access;
use crate::condition::Condition;
use crate::error::Error;
use crate::flow::Flow;
use crate::graph::{Graph, Object, Role};
use crate::imports::Imports;
use crate::inline::Inline;
use crate::loops::{COUNTERS, counter};
use crate::names::{self, NameGenerator};
use crate::operators::wants_array;
use crate::order::Order;
use crate::package::{is_foreign, is_open};
use crate::scope::{Scope, Throws, Variable};
use crate::stand_in;
use crate::types::Type;

/// Methods whose names say nothing of what they give.
const UNTOLD: [&str; 6] = ["get", "next", "call", "apply", "invoke", "valueOf"];

/// Decisions about a test that are made before its variables.
pub(crate) struct VariablePlan<'a> {
    pub(crate) flow: Flow,
    pub(crate) inline: Inline,
    pub(crate) loops: &'a Loops,
    pub(crate) condition: Option<&'a Condition>,
}

/// The scope of a test, with all its variables.
pub(crate) fn scope<'a>(
    graph: &'a Graph<'a>,
    order: &Order,
    access: Access<'a>,
    imports: Imports<'a>,
    plan: VariablePlan<'a>,
) -> Result<Scope<'a>, Error> {
    let VariablePlan {
        flow,
        inline,
        loops,
        condition,
    } = plan;
    let mut names = NameGenerator::default();
    if !loops.all.is_empty() {
        COUNTERS.iter().for_each(|name| names.reserve(name));
    }
    // Within a stand-in, fields of its superclass would hide variables.
    for object in graph.objects.values() {
        if object.origin == ObjectOrigin::StandIn {
            for class in stand_in::classes(object, graph, access) {
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
    for id in in_order(graph, order) {
        let object = &graph.objects[&id];
        let of = variable_type(object, graph, access)?;
        let wish = role(object, graph, access)
            .or_else(|| row_name(object, &of, graph))
            .or_else(|| result_name(id, object, &of, graph, loops))
            .unwrap_or_else(|| names::for_type(&of));
        let name = match counter(loops, id) {
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
            rows.extend(columns.iter().map(|it| (it.variable, row.clone())));
        }
    }
    Ok(Scope {
        graph,
        condition,
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
fn in_order(graph: &Graph<'_>, order: &Order) -> Vec<ObjectId> {
    let mut made: BTreeMap<usize, Vec<ObjectId>> = BTreeMap::new();
    for (id, object) in &graph.objects {
        let place = match object.origin {
            ObjectOrigin::Result(at) | ObjectOrigin::Thrown(at) => at,
            ObjectOrigin::Captured { .. } => 0,
            _ => continue,
        };
        if order.named.contains(id) {
            made.entry(place).or_default().push(*id);
        }
    }
    let mut all = Vec::new();
    for (place, before) in order.before.iter().enumerate() {
        all.extend(before.iter().copied());
        all.extend(made.remove(&place).unwrap_or_default());
    }
    all
}

fn variable_type(
    object: &Object<'_>,
    graph: &Graph<'_>,
    access: Access<'_>,
) -> Result<Type, Error> {
    let own = Type::of_class(object.class);
    let given = match object.origin {
        ObjectOrigin::StandIn => return stand_in::variable_type(object, graph, access),
        ObjectOrigin::Array(_) => return Ok(own),
        ObjectOrigin::Thrown(_) => own.clone(),
        ObjectOrigin::Captured { question, argument } => graph.captured_type(question, argument),
        ObjectOrigin::Result(node) => {
            let node = &graph.nodes[node];
            match is_open(graph, &access, node) {
                true => graph.result_type(node),
                false => Type::object(),
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
    if matches!(object.origin, ObjectOrigin::Thrown(_)) {
        return Ok(nameable
            .next()
            .unwrap_or_else(|| Type::class("java/lang/Throwable")));
    }
    let first = nameable.next();
    let fitting = first
        .clone()
        .into_iter()
        .chain(nameable)
        .find(|of| fits(of, object, graph, access));
    Ok(fitting.or(first).unwrap_or_else(Type::object))
}

/// All uses of an object are possible with a variable of this type.
fn fits(of: &Type, object: &Object<'_>, graph: &Graph<'_>, access: Access<'_>) -> bool {
    object.uses.iter().all(|each| match &each.role {
        Role::Receiver => match of {
            Type::Class(class) => access.member(class, &graph.nodes[each.statement]),
            _ => true,
        },
        Role::Argument(0, _) if wants_array(&graph.nodes[each.statement]) => {
            matches!(of, Type::Array(_))
        }
        Role::Argument(_, wanted) | Role::Stored(wanted) | Role::Answer(wanted) => {
            access.hierarchy.is_subtype(of, wanted)
        }
    })
}

/// The name of an array that a loop gives another value in each round.
fn row_name(object: &Object<'_>, of: &Type, graph: &Graph<'_>) -> Option<String> {
    let is_each = match object.origin {
        ObjectOrigin::Result(place) => graph.nodes[place].is_loop_value(),
        _ => false,
    };
    (is_each && matches!(of, Type::Array(_))).then(|| "row".to_owned())
}

/// The name after the method, for a value whose type means nothing to a reader.
fn result_name(
    id: ObjectId,
    object: &Object<'_>,
    of: &Type,
    graph: &Graph<'_>,
    loops: &Loops,
) -> Option<String> {
    let ObjectOrigin::Result(place) = object.origin else {
        return None;
    };
    let is_start = graph.nodes[place].is_loop_start();
    let place = loops.assigns(id).filter(|_| is_start).unwrap_or(place);
    let node = &graph.nodes[place];
    let says_nothing = match of {
        Type::Primitive(_) => true,
        of => of.unboxed().is_some() || of.name() == Some("java/lang/String"),
    };
    let name = &node.target().filter(|_| !node.is_constructor())?.name;
    let tells = says_nothing && !UNTOLD.contains(&name.as_str());
    tells.then(|| names::for_result(name))
}

/// The name of the parameter that an object is for, where that tells more than its type: of
/// stand-ins, arrays and objects of the JDK.
fn role(object: &Object<'_>, graph: &Graph<'_>, access: Access<'_>) -> Option<String> {
    let plain = match object.origin {
        ObjectOrigin::StandIn | ObjectOrigin::Array(_) => true,
        ObjectOrigin::Result(_) => is_foreign(object.class),
        _ => false,
    };
    if !plain {
        return None;
    }
    object.uses.iter().find_map(|each| {
        let Role::Argument(place, _) = &each.role else {
            return None;
        };
        let member = graph.nodes[each.statement].target()?;
        let class = access.hierarchy.class(&member.owner)?;
        let method = class
            .methods
            .iter()
            .find(|m| m.name == member.name && m.descriptor == member.descriptor)?;
        let name = method.parameters.get(*place)?;
        names::is_telling(name).then(|| name.clone())
    })
}
