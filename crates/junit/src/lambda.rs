//! Lambdas and method references of the program. What the body of one is, the compiler has made a
//! method of, which has no name in the source.

use culprit_model::{Member, Reference, Value};

use crate::error::Error;
use crate::expr::{Expr, Level, Typing};
use crate::names;
use crate::scope::Scope;
use crate::story::{Action, Story};
use crate::types::{Type, parameters, result};

/// Kinds of method handles, as class files have them.
const STATIC: i32 = 6;
const CONSTRUCTOR: i32 = 8;

/// What a call site makes a lambda of.
struct Site<'s> {
    body: Member,
    kind: i32,
    interface: Type,
    /// The descriptor of the method of the interface, as it is and as it is used.
    erased: String,
    exact: String,
    captured: &'s [Value],
}

/// The interface of a lambda.
pub(crate) fn interface(action: &Action<'_>, story: &Story<'_>) -> Option<Type> {
    site(action, story).map(|site| site.interface)
}

fn site<'s>(action: &Action<'s>, story: &Story<'_>) -> Option<Site<'s>> {
    let arguments: &'s [Value] = action.arguments;
    let class = |place: usize| match arguments.get(place)? {
        Value::Reference(Reference::Class(id)) => story.class(*id, action.step).ok(),
        _ => None,
    };
    let text = |place: usize| match arguments.get(place)? {
        Value::Reference(Reference::String(units)) => Some(String::from_utf16_lossy(units)),
        _ => None,
    };
    let Value::Int(kind) = arguments.get(3)? else {
        return None;
    };
    let Value::Reference(Reference::Array { contents, .. }) = arguments.get(9)? else {
        return None;
    };
    Some(Site {
        body: Member {
            owner: class(0)?.to_owned(),
            name: text(1)?,
            descriptor: text(2)?,
        },
        kind: *kind,
        interface: Type::of_class(class(5)?),
        erased: text(7)?,
        exact: text(8)?,
        captured: contents.elements(),
    })
}

impl Scope<'_> {
    /// A lambda that calls the method that is its body.
    pub(crate) fn lambda_of(&self, action: &Action<'_>) -> Result<Expr, Error> {
        let unknown = Error::Unknown { step: action.step };
        let Some(site) = site(action, self.story) else {
            return Err(unknown);
        };
        let mut given = Vec::new();
        for value in site.captured {
            given.push(self.value(value, action.step)?);
        }
        // Its parameters are in the scope of the test.
        let mut taken = self.names.borrow().clone();
        let mut parameters_here = Vec::new();
        let exact = parameters(&site.exact);
        for (erased, exact) in parameters(&site.erased).into_iter().zip(exact) {
            let name = taken.give(&names::for_type(&exact));
            let parameter = Expr::new(name.clone(), erased);
            let parameter = self.fit(parameter, &exact);
            given.push(parameter.ok_or(Error::Unknown { step: action.step })?);
            parameters_here.push(name);
        }
        let throws = self.throws.get();
        let body = self.lambda_body(&site, given)?;
        self.throws.set(throws);
        let body = match result(&site.erased) {
            None => body.text,
            Some(wanted) => self.fit(body, &wanted).ok_or(unknown)?.text,
        };
        let left = match parameters_here.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        let facts = site
            .interface
            .name()
            .map(|name| self.access.hierarchy.class(name));
        let is_generic = facts.flatten().is_none_or(|facts| facts.is_generic());
        Ok(Expr {
            typing: match is_generic {
                true => Typing::Inferred,
                false => Typing::Plain,
            },
            ..Expr::new(format!("{left} -> {body}"), site.interface).at(Level::Lambda)
        })
    }

    fn lambda_body(&self, site: &Site<'_>, given: Vec<Expr>) -> Result<Expr, Error> {
        let member = &site.body;
        let mut given = given.into_iter();
        let receiver = match site.kind {
            STATIC | CONSTRUCTOR => None,
            _ => given.next(),
        };
        let wanted = parameters(&member.descriptor);
        let hierarchy = self.access.hierarchy;
        let is_overloaded = hierarchy.methods(&member.owner, &member.name).len() > 1;
        let mut arguments = Vec::new();
        for (value, wanted) in given.zip(&wanted) {
            arguments.push(match self.fit(value.clone(), wanted) {
                Some(fitted) if is_overloaded && fitted.of != *wanted => self.cast(&fitted, wanted),
                Some(fitted) => fitted,
                None => value,
            });
        }
        let owner = Type::class(&member.owner);
        let found = match site.kind {
            CONSTRUCTOR => self.access.constructor(member),
            _ => self.access.method(&member.owner, member),
        };
        let Some(found) = found else {
            return self.reflective_run(member, receiver.as_ref(), &arguments);
        };
        // What it declares to throw, the method of the interface does as well.
        self.imports
            .is_deprecated(found.is_some_and(|found| found.method.is_deprecated));
        let texts: Vec<&str> = arguments.iter().map(|value| value.text.as_str()).collect();
        let list = texts.join(", ");
        if site.kind == CONSTRUCTOR {
            return Ok(Expr::new(
                format!("new {}({list})", self.imports.name(&owner)),
                owner,
            ));
        }
        let of = result(&member.descriptor).unwrap_or(Type::Null);
        let prefix = match receiver {
            None => self.plain_name(&owner),
            Some(receiver) => {
                let receiver = self.fit(receiver.clone(), &owner).unwrap_or(receiver);
                receiver.closed()
            }
        };
        Ok(Expr::new(format!("{prefix}.{}({list})", member.name), of))
    }
}
