//! Type arguments that the compiler infers. Variables of a test have raw types; an expression that is written where
//! it is used keeps its type arguments, and may not fit where a variable would.

use culprit_model::script::ObjectOrigin;

use crate::expr::{Expr, Typing};
use crate::graph::Node;
use crate::hierarchy::DeclaredMethod;
use crate::scope::Scope;
use crate::signature::{has_variable, parameters_of};

impl Scope<'_> {
    /// Results with type arguments are given only to methods that take the same ones. A variable has
    /// none, and is taken by all.
    pub(crate) fn agree(
        &self,
        node: &Node<'_>,
        receiver: Option<&Expr>,
        class: &str,
        found: Option<&DeclaredMethod>,
        arguments: &[Expr],
    ) {
        let signature = found.and_then(|found| found.method.signature.as_deref());
        let Some(wanted) = signature.and_then(parameters_of) else {
            return;
        };
        let facts = self.access.hierarchy.class(class);
        let is_generic = facts.is_some_and(|facts| facts.is_generic());
        let is_plain = receiver.is_some_and(|receiver| receiver.typing == Typing::Plain);
        if is_generic && is_plain {
            return;
        }
        let all = node.arguments.iter().zip(arguments).zip(wanted);
        for ((value, argument), wanted) in all {
            let same = argument.signature.as_deref() == Some(wanted);
            if argument.typing == Typing::Parameterized && wanted.contains('<') && !same {
                self.refuse(value);
            }
        }
    }

    /// The knowledge of the compiler about the result of a method.
    pub(crate) fn typing(
        &self,
        receiver: Option<&Expr>,
        class: &str,
        found: Option<&DeclaredMethod>,
    ) -> Typing {
        let signature = found.and_then(|found| found.method.signature.as_deref());
        let Some((_, of)) = signature.and_then(|signature| signature.split_once(')')) else {
            return Typing::Plain;
        };
        let facts = self.access.hierarchy.class(class);
        let is_generic = facts.is_some_and(|facts| facts.is_generic());
        let of = of.trim_start_matches('[');
        // Of a class without its type arguments, nothing has any.
        let is_erased = receiver.is_some_and(|receiver| receiver.typing == Typing::Plain);
        if is_generic && is_erased {
            Typing::Plain
        } else if of.starts_with('T') {
            let own = signature.is_some_and(|signature| signature.starts_with('<'));
            match is_generic || own {
                true => Typing::Inferred,
                false => Typing::Plain,
            }
        } else if of.contains('<') {
            Typing::Parameterized
        } else {
            Typing::Plain
        }
    }

    /// A method has the same parameters and result if the compiler knows more about the receiver than is known
    /// here.
    pub(crate) fn is_known(
        &self,
        receiver: &Expr,
        node: &Node<'_>,
        found: Option<&DeclaredMethod>,
    ) -> bool {
        if receiver.typing != Typing::Parameterized {
            return receiver.typing == Typing::Plain;
        }
        let signature = found.and_then(|found| found.method.signature.as_deref());
        let Some((taken, given)) = signature.and_then(|signature| signature.split_once(')')) else {
            return true;
        };
        let object = node.result().and_then(|id| self.graph.objects.get(&id));
        let is_used = object.is_some_and(|object| {
            object.origin == ObjectOrigin::Result(node.number) && !object.uses.is_empty()
        });
        !has_variable(taken) && (!is_used || !has_variable(given))
    }
}
