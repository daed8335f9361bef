//! Calls and fields in the body of a lambda: the compiler must choose the member that is meant, and must not know
//! more of its type than is known here.

use culprit_classfile::access;
use culprit_model::Member;

use crate::call::SPREAD;
use crate::code::{Code, Target};
use crate::expr::{Expr, Typing};
use crate::hierarchy::DeclaredMethod;
use crate::lambda_body::{BodyPrinter, explicit};
use crate::overload::{Manner, choose};
use crate::reach::FieldAccess;
use crate::signature::{Profile, has_variable, parameters_of};
use crate::tree::Tree;
use crate::types::{Type, parameters, result};

impl BodyPrinter<'_, '_> {
    pub(crate) fn field(&self, object: Option<&Tree>, member: &Member) -> Option<Expr> {
        let scope = self.scope;
        let owner = Type::class(&member.owner);
        let through = |of: &Type| match of {
            Type::Class(class) => scope.access.field(class, member, FieldAccess::Read),
            _ => None,
        };
        let object = match object {
            None => None,
            Some(tree) => {
                let value = self.natural(tree)?;
                Some(match through(&value.of) {
                    Some(_) if !value.is_lambda() => value,
                    _ => self
                        .scope
                        .access
                        .names(&owner)
                        .then(|| scope.cast(&value, &owner))?,
                })
            }
        };
        let class = object.as_ref().map_or(&owner, |object| &object.of).clone();
        let found = through(&class)?;
        let signature = found
            .as_ref()
            .and_then(|(_, field)| field.signature.clone());
        let is_open = signature.as_deref().is_some_and(has_variable);
        let object = match object {
            Some(object) if is_open && object.typing != Typing::Plain => {
                Some(scope.cast(&object, &class))
            }
            object => object,
        };
        scope
            .imports
            .is_deprecated(found.as_ref().is_some_and(|(_, field)| field.is_deprecated));
        let of = Type::of(&member.descriptor);
        let code = match &object {
            None => Code::StaticField(scope.plainly_named(&class), member.clone()),
            Some(object) => Code::Field(Box::new(object.closed()), member.clone()),
        };
        let is_generic = found.as_ref().is_some_and(|(class, _)| class.is_generic());
        let is_erased = is_generic && object.is_some();
        let signature = signature.filter(|it| it.contains('<') && !is_erased);
        Some(Expr {
            typing: match &signature {
                Some(_) => Typing::Parameterized,
                None => Typing::Plain,
            },
            signature,
            ..Expr::new(code, of)
        })
    }

    pub(crate) fn construction(&self, member: &Member, arguments: &[Tree]) -> Option<Expr> {
        let scope = self.scope;
        let found = scope.access.constructor(member)?;
        // An object around it would be written in front.
        if found.as_ref()?.class.enclosing().is_some() {
            return None;
        }
        let wanted = parameters(&member.descriptor);
        let is_generic = found.as_ref()?.class.is_generic();
        let call = Call {
            class: &member.owner,
            member,
            found: found.as_ref(),
            wanted: &wanted,
            is_erased: is_generic,
        };
        let arguments = self.arguments(&call, arguments)?;
        scope
            .imports
            .is_deprecated(found.as_ref()?.method.is_deprecated);
        let of = Type::class(&member.owner);
        let code = Code::New(scope.named(&of), member.clone(), arguments);
        Some(Expr::new(code, of))
    }

    pub(crate) fn call(
        &self,
        receiver: Option<&Tree>,
        member: &Member,
        arguments: &[Tree],
    ) -> Option<Expr> {
        if is_conversion(receiver, member, arguments) {
            return self.conversion(receiver, member, arguments);
        }
        let scope = self.scope;
        let mut receiver = match receiver {
            Some(tree) => Some(self.receiver(tree, member)?),
            None => None,
        };
        let class = match receiver.as_ref().map(|receiver| &receiver.of) {
            None => member.owner.clone(),
            Some(Type::Class(class)) => class.clone(),
            Some(Type::Array(_)) if arguments.is_empty() => {
                let target = Target::Object(Box::new(receiver?.closed()));
                let of = result(&member.descriptor)?;
                return Some(Expr::call(target, member, Vec::new(), of));
            }
            Some(_) => return None,
        };
        let found = scope.access.method(&class, member)?;
        let mut profile = scope.profile(&class, member, found.as_ref());
        let mut is_told = false;
        if let (Some(object), Some(found)) = (&mut receiver, &found) {
            if object.typing != Typing::Plain && is_open(found) {
                match self.told(object, found) {
                    Some(told) => {
                        profile = told;
                        is_told = true;
                    }
                    None => *object = scope.cast(object, &Type::class(&class)),
                }
            }
        }
        let facts = scope.access.hierarchy.class(&class);
        let is_generic = facts.is_some_and(|facts| facts.is_generic());
        let is_plain = |object: &Expr| object.typing == Typing::Plain;
        let call = Call {
            class: &class,
            member,
            found: found.as_ref(),
            wanted: &profile.parameters,
            is_erased: is_generic && receiver.as_ref().is_some_and(is_plain),
        };
        let arguments = self.arguments(&call, arguments)?;
        scope
            .imports
            .is_deprecated(found.as_ref().is_some_and(|it| it.method.is_deprecated));
        let target = match &receiver {
            None => Target::Class(scope.plainly_named(&Type::class(&class))),
            Some(receiver) => Target::Object(Box::new(receiver.closed())),
        };
        let of = profile.result.clone().unwrap_or(Type::Null);
        if let Some(of) = found
            .as_ref()
            .and_then(|found| same_type(found, &arguments))
        {
            return Some(Expr::call(target, member, arguments, of));
        }
        let signature = found.as_ref().and_then(|found| {
            let signature = found.method.signature.as_deref()?;
            Some(signature.split_once(')')?.1.to_owned())
        });
        let typing = match is_told {
            true if signature.as_deref().is_some_and(|it| it.contains('<')) => {
                Typing::Parameterized
            }
            // What stands for a type variable may have type arguments itself.
            true if self.is_generic(&of) => Typing::Parameterized,
            true => Typing::Plain,
            false => scope.typing(receiver.as_ref(), &class, found.as_ref()),
        };
        Some(Expr {
            typing,
            signature: signature.filter(|it| typing == Typing::Parameterized && !has_variable(it)),
            ..Expr::call(target, member, arguments, of)
        })
    }

    fn is_generic(&self, of: &Type) -> bool {
        let facts = of
            .element()
            .name()
            .map(|name| self.scope.access.hierarchy.class(name));
        facts.flatten().is_some_and(|facts| facts.is_generic())
    }

    /// A method of an object whose type arguments are known.
    fn told(&self, object: &Expr, found: &DeclaredMethod) -> Option<Profile> {
        if object.typing != Typing::Parameterized {
            return None;
        }
        let hierarchy = self.scope.access.hierarchy;
        hierarchy.profile_of(object.signature.as_deref()?, found)
    }

    /// The object that a method is called on, of a type that has it.
    fn receiver(&self, tree: &Tree, member: &Member) -> Option<Expr> {
        let scope = self.scope;
        let owner = Type::of_class(&member.owner);
        let value = match tree {
            Tree::Conditional(..) => self.wanted(tree, &owner)?,
            tree => self.natural(tree)?,
        };
        let value = scope.boxed(explicit(value));
        let has = match &value.of {
            Type::Class(class) => scope.access.method(class, member).is_some(),
            Type::Array(_) => true,
            _ => false,
        };
        if has && !value.is_lambda() && value.typing != Typing::Inferred {
            return Some(value);
        }
        scope
            .access
            .names(&owner)
            .then(|| scope.cast(&value, &owner))
    }

    /// To a box, or out of one.
    fn conversion(
        &self,
        receiver: Option<&Tree>,
        member: &Member,
        arguments: &[Tree],
    ) -> Option<Expr> {
        let owner = Type::class(&member.owner);
        let scalar = owner.unboxed()?;
        let (value, is_boxed) = match (receiver, arguments) {
            (Some(value), _) => (value, true),
            (None, [value]) => (value, false),
            _ => return None,
        };
        if !is_boxed {
            let value = explicit(self.wanted(value, &scalar)?);
            let code = Code::Boxed(self.scope.plainly_named(&owner), Box::new(value.clone()));
            let implicit = (value.of == scalar).then(|| Box::new(value));
            return Some(Expr {
                implicit,
                ..Expr::new(code, owner)
            });
        }
        let value = self.wanted(value, &owner)?;
        if value.of == scalar {
            return Some(Expr {
                explicit: None,
                ..value
            });
        }
        let value = explicit(value);
        let target = Target::Object(Box::new(value.closed()));
        let is_known = value.of == owner && value.typing == Typing::Plain;
        let implicit = is_known.then(|| Box::new(value));
        Some(Expr {
            implicit,
            ..Expr::call(target, member, Vec::new(), scalar)
        })
    }

    /// Arguments with which the compiler takes the method that is meant.
    fn arguments(&self, call: &Call<'_>, trees: &[Tree]) -> Option<Vec<Expr>> {
        let scope = self.scope;
        let hierarchy = scope.access.hierarchy;
        let name = &call.member.name;
        let candidates = scope.candidates(call.class, name, call.wanted, call.found, 0);
        let is_varargs = call.found.is_some_and(|it| it.method.is(access::VARARGS));
        let types = |all: &[Expr]| all.iter().map(|value| value.of.clone()).collect::<Vec<_>>();
        if trees.len() != call.wanted.len() {
            return None;
        }
        if let Some(spread) = is_varargs.then(|| self.spread(call, trees)).flatten() {
            let chosen = choose(hierarchy, &candidates, &types(&spread));
            if chosen == Some((0, Manner::Spread)) {
                return Some(spread);
            }
        }
        let signature = call.found.and_then(|it| it.method.signature.as_deref());
        let signature = signature
            .filter(|_| !call.is_erased)
            .and_then(parameters_of);
        let rivals = candidates.iter();
        let rivals = rivals.filter(|other| other.parameters.len() == call.wanted.len());
        let is_overloaded = rivals.count() > 1;
        let mut all = Vec::new();
        for (place, (tree, wanted)) in trees.iter().zip(call.wanted).enumerate() {
            let mut value = self.wanted(tree, wanted)?;
            let told = signature.as_ref().and_then(|all| all.get(place).copied());
            let has_arguments = told.is_some_and(|told| told.contains('<'));
            let same = value.signature.is_some() && value.signature.as_deref() == told;
            let is_unsure = match value.typing {
                _ if value.is_lambda() => is_overloaded || has_arguments,
                Typing::Plain => false,
                Typing::Parameterized => has_arguments && !same,
                Typing::Inferred => has_arguments || is_overloaded,
            };
            let is_rest = is_varargs && place + 1 == trees.len() && value.of != *wanted;
            if is_unsure {
                let of = value.of.clone();
                value = scope.access.names(&of).then(|| scope.cast(&value, &of))?;
            } else if is_rest {
                value = scope
                    .access
                    .names(wanted)
                    .then(|| scope.cast(&value, wanted))?;
            }
            all.push(value);
        }
        let all = scope.told_apart(all, call.wanted, &candidates);
        let chosen = choose(hierarchy, &candidates, &types(&all));
        (chosen == Some((0, Manner::AsTheyAre))).then_some(all)
    }

    /// The arguments with the elements of the last one instead of it.
    fn spread(&self, call: &Call<'_>, trees: &[Tree]) -> Option<Vec<Expr>> {
        let (Tree::Array(of, length, elements), fixed) = trees.split_last()? else {
            return None;
        };
        let Type::Array(component) = of else {
            return None;
        };
        let count = i32::try_from(elements.len()).ok()?;
        if **length != Tree::Int(count) || elements.len() > SPREAD {
            return None;
        }
        let mut all = Vec::new();
        for (tree, wanted) in fixed.iter().zip(call.wanted) {
            all.push(self.wanted(tree, wanted)?);
        }
        let mut rest = Vec::new();
        for element in elements {
            rest.push(self.wanted(element, component)?);
        }
        let signature = call.found?.method.signature.as_deref();
        let last = signature
            .and_then(parameters_of)
            .and_then(|all| all.last().copied());
        let is_exact = match call.wanted.last() == Some(of) {
            true => true,
            // The compiler makes an array of what the elements have in common.
            false => {
                last.is_some_and(|last| last.starts_with("[T"))
                    && rest.iter().any(|value| value.of == **component)
            }
        };
        all.extend(rest);
        (is_exact && !all.iter().any(Expr::is_lambda)).then_some(all)
    }
}

/// A call whose arguments are written.
struct Call<'c> {
    class: &'c str,
    member: &'c Member,
    found: Option<&'c DeclaredMethod>,
    wanted: &'c [Type],
    /// The compiler knows of no type arguments in it.
    is_erased: bool,
}

/// A call that boxes or unboxes a scalar.
fn is_conversion(receiver: Option<&Tree>, member: &Member, arguments: &[Tree]) -> bool {
    let owner = Type::class(&member.owner);
    let Some(scalar) = owner.unboxed() else {
        return false;
    };
    let of = result(&member.descriptor);
    let taken = parameters(&member.descriptor);
    match receiver {
        None => member.name == "valueOf" && of == Some(owner) && taken == [scalar],
        Some(_) => member.name.ends_with("Value") && of == Some(scalar) && arguments.is_empty(),
    }
}

/// A method whose parameters or result depend on type arguments.
fn is_open(found: &DeclaredMethod) -> bool {
    found.method.signature.as_deref().is_some_and(has_variable)
}

/// The type of what a method gives that gives what it takes, as `Objects.requireNonNull`.
fn same_type(found: &DeclaredMethod, arguments: &[Expr]) -> Option<Type> {
    let signature = found.method.signature.as_deref()?;
    let (_, given) = signature.split_once(')')?;
    let taken = parameters_of(signature)?;
    let variable = given.strip_prefix('T')?.strip_suffix(';')?;
    let is_own = signature.starts_with(&format!("<{variable}:"));
    let mut of_it = taken
        .iter()
        .zip(arguments)
        .filter(|(taken, _)| taken.contains(given));
    let (taken, argument) = of_it.next()?;
    let is_plain = argument.typing == Typing::Plain && matches!(argument.of, Type::Class(_));
    let is_it = is_own && *taken == given && is_plain && of_it.next().is_none();
    is_it.then(|| argument.of.clone())
}
