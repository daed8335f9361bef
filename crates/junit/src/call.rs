//! Statements as expressions: calls, constructions, accesses of fields. Arguments get the casts that the compiler
//! needs to choose the method that was called, and no others.

use culprit_classfile::access;
use culprit_model::script::{Action, Operator};
use culprit_model::{Member, Reference, Value};

use crate::code::{Call, Code, Target};
use crate::error::Error;
use crate::expr::{Expr, Precedence, Typing};
use crate::graph::Node;
use crate::hierarchy::DeclaredMethod;
use crate::overload::{Candidate, Manner, choose, converts};
use crate::reach::FieldAccess;
use crate::scope::Scope;
use crate::signature::Profile;
use crate::types::{Type, parameters, result};

/// Elements that are written as arguments of their own.
pub(crate) const SPREAD: usize = 8;

impl Expr {
    /// A call of a method.
    pub(crate) fn call(target: Target, member: &Member, arguments: Vec<Expr>, of: Type) -> Expr {
        let call = Call {
            target,
            member: member.clone(),
            arguments,
        };
        Expr::new(Code::Call(Box::new(call)), of)
    }
}

impl Scope<'_> {
    /// The statement as an expression. The type of `void` is that of `null`.
    pub(crate) fn expression(&self, node: &Node<'_>) -> Result<Expr, Error> {
        let receiver = match node.receiver {
            Some(value) => Some(self.receiver(value, node)?),
            None => None,
        };
        let written = match &node.statement.action {
            Action::Call(_) => self.call(node, receiver.as_ref())?,
            Action::Read(_) => self.access_field(node, FieldAccess::Read, receiver.as_ref())?,
            Action::Write(_) => self.access_field(node, FieldAccess::Write, receiver.as_ref())?,
            Action::Operate(operation) => Some(self.operator(*operation, node)?),
            Action::Lambda(lambda) => Some(self.lambda_of(lambda, node)?),
            Action::Guard => Some(self.condition_of(node)?),
            Action::Loop(variable) => Some(self.loop_variable(*variable, node)?),
            Action::Expect(_) | Action::Mark(_) => None,
        };
        written.ok_or(Error::Values {
            statement: node.number,
        })
    }

    fn call(&self, node: &Node<'_>, receiver: Option<&Expr>) -> Result<Option<Expr>, Error> {
        let Some(member) = node.target() else {
            return Ok(None);
        };
        let written = if node.is_constructor() {
            self.construction(node, member)?
        } else {
            self.method_call(node, member, receiver)?
        };
        if written.is_some() {
            return Ok(written);
        }
        let mut arguments = Vec::new();
        for value in node.arguments {
            arguments.push(self.value(value, node.number)?);
        }
        self.reflective_call(member, receiver, &arguments).map(Some)
    }

    /// The receiver, of a type that has the member, if there is such a type.
    fn receiver(&self, value: &Value, node: &Node<'_>) -> Result<Expr, Error> {
        let expression = match value {
            Value::Reference(Reference::Boxed(inner)) => {
                let boxed = Type::boxed(inner.shape());
                let inner = self.value(inner, node.number)?;
                let name = self.named(&boxed);
                Expr::new(Code::Boxed(name, Box::new(inner)), boxed)
            }
            _ => self.value(value, node.number)?,
        };
        let known = match &expression.of {
            Type::Class(class) => self.access.member(class, node),
            Type::Array(_) => true,
            _ => false,
        };
        if known {
            return Ok(expression);
        }
        let owner = node.target().map(|target| target.owner.clone());
        let object = value.identity().and_then(|id| self.graph.objects.get(&id));
        let line = object.map_or_else(Vec::new, |object| {
            self.access.hierarchy.lineage(object.class)
        });
        let through = owner
            .into_iter()
            .chain(line)
            .find(|class| self.access.member(class, node));
        Ok(match through {
            Some(class) => {
                self.refuse(value);
                self.cast(&expression, &Type::Class(class))
            }
            None => expression,
        })
    }

    fn construction(&self, node: &Node<'_>, member: &Member) -> Result<Option<Expr>, Error> {
        let Some(found) = self.access.constructor(member) else {
            return Ok(None);
        };
        let of = Type::class(&member.owner);
        let around = found.as_ref().and_then(|found| {
            let outer = Type::class(found.class.enclosing()?);
            (parameters(&member.descriptor).first() == Some(&outer)).then_some(outer)
        });
        let Some(outer) = around else {
            let arguments = self.arguments(node, member, &member.owner, found.as_ref(), 0)?;
            return Ok(arguments.map(|arguments| {
                let throws = self.calls(found.as_ref());
                let name = self.named(&of);
                let deep = depth(&arguments);
                Expr::new(Code::New(name, member.clone(), arguments), of)
                    .throwing(throws)
                    .deep(deep)
            }));
        };
        let instance = self.value(&node.arguments[0], node.number)?;
        if instance.of == Type::Null {
            return Ok(None);
        }
        let arguments = self.arguments(node, member, &member.owner, found.as_ref(), 1)?;
        let (Some(instance), Some(arguments)) = (self.fit(instance, &outer), arguments) else {
            return Ok(None);
        };
        let throws = self.calls(found.as_ref());
        let deep = depth(&arguments).max(instance.depth);
        let outer = Box::new(instance.closed());
        let code = Code::NewWithin(outer, self.named(&of), member.clone(), arguments);
        let made = Expr::new(code, of).throwing(throws);
        Ok(Some(made.deep(deep)))
    }

    fn method_call(
        &self,
        node: &Node<'_>,
        member: &Member,
        receiver: Option<&Expr>,
    ) -> Result<Option<Expr>, Error> {
        let class = match receiver.map(|receiver| &receiver.of) {
            Some(Type::Class(class)) => class.clone(),
            Some(Type::Array(_)) => "java/lang/Object".to_owned(),
            Some(_) => return Ok(None),
            None => member.owner.clone(),
        };
        let found = match receiver.map(|receiver| &receiver.of) {
            // `clone` of arrays is public, which no class file says.
            Some(Type::Array(_)) => None,
            _ => match self.access.method(&class, member) {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let Some(arguments) = self.arguments(node, member, &class, found.as_ref(), 0)? else {
            return Ok(None);
        };
        self.agree(node, receiver, &class, found.as_ref(), &arguments);
        let throws = self.calls(found.as_ref());
        let target = if let Some(receiver) = receiver {
            Target::Object(Box::new(receiver.closed()))
        } else if Scope::is_assertion(member) {
            Target::Imported(self.imports.static_method(&member.owner, &member.name))
        } else {
            Target::Class(self.plainly_named(&Type::class(&class)))
        };
        let of = self.profile(&class, member, found.as_ref()).result;
        let of = of.unwrap_or(Type::Null);
        let before = receiver.map_or(0, |receiver| receiver.depth);
        let deep = depth(&arguments).max(before);
        let signature = found.as_ref().and_then(|found| {
            let signature = found.method.signature.as_deref()?;
            Some(signature.split_once(')')?.1.to_owned())
        });
        let expression = Expr {
            typing: self.typing(receiver, &class, found.as_ref()),
            signature,
            implicit: conversion(member, receiver, &arguments),
            ..Expr::call(target, member, arguments, of)
        };
        if let (Some(value), Some(receiver)) = (node.receiver, receiver) {
            if !self.is_known(receiver, node, found.as_ref()) {
                self.refuse(value);
            }
        }
        let expression = expression.throwing(throws);
        Ok(Some(expression.deep(deep)))
    }

    /// An argument: its value, or where that came from.
    pub(crate) fn argument(&self, node: &Node<'_>, place: usize) -> Result<Expr, Error> {
        let Some(source) = self.flow.sources.get(&(node.number, place)) else {
            let value = &node.arguments[place];
            let expression = self.value(value, node.number)?;
            if expression.typing == Typing::Inferred {
                self.refuse(value);
            }
            return Ok(expression);
        };
        if let Some(result) = self.results.borrow().get(source) {
            return Ok(result.clone());
        }
        self.expression(&self.graph.nodes[*source])
    }

    pub(crate) fn profile(
        &self,
        class: &str,
        member: &Member,
        found: Option<&DeclaredMethod>,
    ) -> Profile {
        found.map_or_else(
            || Profile::erased(&member.descriptor),
            |found| self.access.hierarchy.profile(class, found),
        )
    }

    /// The arguments from one on. `None` where one cannot be written with its type.
    fn arguments(
        &self,
        node: &Node<'_>,
        member: &Member,
        class: &str,
        found: Option<&DeclaredMethod>,
        from: usize,
    ) -> Result<Option<Vec<Expr>>, Error> {
        let wanted = self.profile(class, member, found).parameters[from..].to_vec();
        let values = &node.arguments[from..];
        let is_varargs = found.is_some_and(|found| found.method.is(access::VARARGS));
        let candidates = self.candidates(class, &member.name, &wanted, found, from);
        if is_varargs {
            if let Some(spread) = self.spread(values, &wanted, node.number)? {
                let types: Vec<Type> = spread.iter().map(|value| value.of.clone()).collect();
                let chosen = choose(self.access.hierarchy, &candidates, &types);
                if chosen == Some((0, Manner::Spread)) {
                    return Ok(Some(spread));
                }
            }
        }
        let mut written = Vec::new();
        let rivals = candidates.iter();
        let rivals = rivals.filter(|other| other.parameters.len() == wanted.len());
        let is_overloaded = rivals.count() > 1;
        for (place, wanted_here) in wanted.iter().enumerate() {
            let value = self.argument(node, from + place)?;
            if value.is_lambda() && (is_overloaded || value.of != *wanted_here) {
                self.refuse(&node.arguments[from + place]);
            }
            let Some(mut value) = self.fit(value, wanted_here) else {
                return Ok(None);
            };
            // An array for the rest of the arguments says so.
            if is_varargs && place + 1 == wanted.len() && value.of != *wanted_here {
                value = self.cast(&value, wanted_here);
            }
            written.push(value);
        }
        Ok(Some(self.told_apart(written, &wanted, &candidates)))
    }

    /// The methods of a name that the compiler sees, with the one that is meant at first.
    pub(crate) fn candidates(
        &self,
        class: &str,
        name: &str,
        wanted: &[Type],
        found: Option<&DeclaredMethod>,
        from: usize,
    ) -> Vec<Candidate> {
        let mut candidates = vec![Candidate {
            parameters: wanted.to_vec(),
            is_varargs: found.is_some_and(|found| found.method.is(access::VARARGS)),
        }];
        for other in self.access.hierarchy.methods(class, name) {
            let parameters = self.access.hierarchy.profile(class, &other).parameters;
            let parameters = parameters.get(from..).unwrap_or_default().to_vec();
            let new = !candidates
                .iter()
                .any(|known| known.parameters == parameters);
            if new && self.access.calls(&other.class, &other.method) {
                candidates.push(Candidate {
                    parameters,
                    is_varargs: other.method.is(access::VARARGS),
                });
            }
        }
        candidates
    }

    /// With the fewest casts with which the compiler takes the first candidate.
    pub(crate) fn told_apart(
        &self,
        written: Vec<Expr>,
        wanted: &[Type],
        candidates: &[Candidate],
    ) -> Vec<Expr> {
        let castable: Vec<usize> = (0..written.len())
            .filter(|place| {
                written[*place].of != wanted[*place] && self.access.names(&wanted[*place])
            })
            .collect();
        let mut choices: Vec<u32> = (0..1 << castable.len().min(8)).collect();
        choices.sort_by_key(|set: &u32| (set.count_ones(), *set));
        for set in choices {
            let is_cast = |place: usize| {
                let at = castable.iter().position(|other| *other == place);
                at.is_some_and(|at| at >= 8 || set & (1 << at) != 0)
            };
            // What the compiler would convert may also be written in full.
            for in_full in [true, false] {
                let all = written.iter().zip(wanted).enumerate();
                let all: Vec<Expr> = all
                    .map(|(place, (value, wanted))| match &value.explicit {
                        _ if !is_cast(place) => value.clone(),
                        Some(explicit) if in_full => (**explicit).clone(),
                        _ => self.cast(value, wanted),
                    })
                    .collect();
                let types: Vec<Type> = all.iter().map(|value| value.of.clone()).collect();
                let chosen = choose(self.access.hierarchy, candidates, &types);
                if chosen == Some((0, Manner::AsTheyAre)) {
                    return all;
                }
            }
        }
        written
    }

    /// The array that an operator gives a name which nobody needs.
    fn written_array(&self, value: &Value) -> Option<&Value> {
        let place = self.inline.made_at(value.identity()?)?;
        let made = &self.graph.nodes[place];
        let is_array = made.operator() == Some(Operator::Array);
        made.arguments.first().filter(|_| is_array)
    }

    /// The arguments with the elements of the last one instead of it.
    fn spread(
        &self,
        values: &[Value],
        wanted: &[Type],
        statement: usize,
    ) -> Result<Option<Vec<Expr>>, Error> {
        let (Some((last, fixed)), Some(Type::Array(component))) =
            (values.split_last(), wanted.last())
        else {
            return Ok(None);
        };
        let last = self.written_array(last).unwrap_or(last);
        let Value::Reference(Reference::Array {
            class,
            length,
            contents,
            ..
        }) = last
        else {
            return Ok(None);
        };
        let named = last
            .identity()
            .is_some_and(|id| self.variables.contains_key(&id));
        let exact = wanted.last() == Some(&Type::of_class(self.graph.class(*class, statement)?));
        if named || !exact || *length as usize > SPREAD {
            return Ok(None);
        }
        let Some(elements) = self.elements(component, *length, contents, statement)? else {
            return Ok(None);
        };
        let mut all = Vec::new();
        for (value, wanted) in fixed
            .iter()
            .zip(wanted)
            .chain(elements.iter().map(|element| (element, &**component)))
        {
            let value = self.value(value, statement)?.shortened(wanted);
            if !converts(self.access.hierarchy, &value.of, wanted) {
                return Ok(None);
            }
            all.push(value);
        }
        Ok(Some(all))
    }

    fn access_field(
        &self,
        node: &Node<'_>,
        access: FieldAccess,
        receiver: Option<&Expr>,
    ) -> Result<Option<Expr>, Error> {
        let Some(member) = node.target() else {
            return Ok(None);
        };
        let class = match receiver.map(|receiver| &receiver.of) {
            Some(Type::Class(class)) => class.as_str(),
            _ => member.owner.as_str(),
        };
        let of = Type::of(&member.descriptor);
        let value = match node.arguments.first() {
            Some(value) => Some(self.value(value, node.number)?),
            None => None,
        };
        let found = self.access.field(class, member, access);
        let fitted = value.clone().and_then(|value| self.fit(value, &of));
        if found.is_none() || value.is_some() != fitted.is_some() {
            return Ok(Some(match value {
                Some(value) => self.reflective_set(member, receiver, &value),
                None => self.reflective_get(member, receiver),
            }));
        }
        let field = found.flatten();
        self.imports
            .is_deprecated(field.is_some_and(|(_, field)| field.is_deprecated));
        let access = match receiver {
            Some(receiver) => Code::Field(Box::new(receiver.closed()), member.clone()),
            None => {
                let class = self.plainly_named(&Type::class(class));
                Code::StaticField(class, member.clone())
            }
        };
        let access = Expr::new(access, of);
        let deep = receiver.map_or(0, |receiver| receiver.depth);
        Ok(Some(match fitted {
            Some(value) => {
                let deep = deep.max(value.depth);
                let code = Code::Assign(Box::new(access), Box::new(value));
                Expr::new(code, Type::Null)
                    .at(Precedence::Statement)
                    .deep(deep)
            }
            None => access.deep(deep),
        }))
    }
}

/// The number of nested calls in a call with these arguments.
fn depth(arguments: &[Expr]) -> usize {
    1 + arguments.iter().map(|value| value.depth).max().unwrap_or(0)
}

/// The operand of a call that boxes or unboxes it, as the compiler would by itself.
fn conversion(target: &Member, receiver: Option<&Expr>, arguments: &[Expr]) -> Option<Box<Expr>> {
    let inner = match (receiver, arguments) {
        (None, [inner]) if target.name == "valueOf" => inner,
        (Some(inner), []) if target.name.ends_with("Value") => inner,
        _ => return None,
    };
    let of = result(&target.descriptor)?;
    let fits = match receiver {
        None => of.unboxed()? == inner.of,
        Some(_) => inner.of.unboxed()? == of,
    };
    (fits && inner.explicit.is_none()).then(|| Box::new(inner.clone()))
}
