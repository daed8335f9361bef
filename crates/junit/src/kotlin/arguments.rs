//! Arguments of calls: converted, spread, and never null where Kotlin declares that.

use culprit_classfile::access;
use culprit_model::Member;

use super::metadata::Function;
use super::{Level, Text, Writer, Written};
use crate::code::Code;
use crate::expr::Expr;
use crate::signature::parameters_of;
use crate::types::{Type, parameters};

impl Writer<'_> {
    /// The arguments of a method, whose first parameters are not among them.
    pub(super) fn arguments(
        &self,
        member: &Member,
        arguments: &[Expr],
        function: Option<&Function>,
        skipped: usize,
    ) -> Written<String> {
        let wanted = parameters(&member.descriptor);
        let wanted = wanted.get(skipped..).unwrap_or_default();
        let hierarchy = self.scope.access.hierarchy;
        let found = hierarchy.method(&member.owner, &member.name, &member.descriptor);
        let of_java = found
            .as_ref()
            .is_some_and(|it| it.method.is(access::VARARGS));
        let signature = found.and_then(|found| found.method.signature);
        let signed = signature.as_deref().and_then(parameters_of);
        let signed = |place: usize| signed.as_ref()?.get(place + skipped).copied();
        let own = |place: usize| {
            let function = function?;
            let of_receiver = usize::from(function.receiver.is_some());
            let all = &function.parameters;
            all.get(place + skipped.saturating_sub(of_receiver))
        };
        let is_varargs = match function {
            Some(function) => function.parameters.last().is_some_and(|it| it.is_vararg),
            None => of_java,
        };
        let mut all = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            let is_rest = is_varargs && place + 1 >= wanted.len();
            let of = wanted.get(place.min(wanted.len().saturating_sub(1)));
            let is_whole = arguments.len() == wanted.len() && Some(&argument.of) == of;
            let component = match of {
                Some(Type::Array(component)) if is_rest && !is_whole => Some(&**component),
                of => of,
            };
            let is_present = own(place)
                .is_some_and(|it| !it.of.is_nullable && !it.is_vararg && it.of.class.is_some());
            if is_rest && is_whole {
                all.push(self.spread(argument)?);
                continue;
            }
            all.push(match self.as_signed(argument, signed(place), is_present)? {
                Some(text) => text.text,
                None => self.argument(argument, component, is_present)?.text,
            });
        }
        Ok(all.join(", "))
    }

    /// An argument whose type arguments are not those of the parameter.
    fn as_signed(
        &self,
        argument: &Expr,
        signed: Option<&str>,
        is_present: bool,
    ) -> Written<Option<Text>> {
        let wanted = signed.filter(|it| it.contains('<'));
        let Some(wanted) = wanted.and_then(|it| self.signed_type(it)) else {
            return Ok(None);
        };
        let wanted = wanted.trim_end_matches('?');
        let value = match &argument.code {
            Code::Cast(_, value) => value,
            Code::Name(name) => {
                let generic = self.generic.borrow();
                let own = generic.get(name).map(String::as_str);
                let is_other = own.is_some_and(|own| !wanted.ends_with(own));
                if !is_other {
                    return Ok(None);
                }
                argument
            }
            _ => return Ok(None),
        };
        let or_null = !is_present && matches!(argument.code, Code::Cast(..));
        self.cast_to(wanted, value, or_null).map(Some)
    }

    /// The elements of an array as arguments.
    fn spread(&self, argument: &Expr) -> Written<String> {
        let text = match &argument.code {
            Code::Cast(_, value) if value.of == Type::Null => {
                return Err("null for all arguments that a method takes at its end".to_owned());
            }
            Code::Cast(of, value) => self.cast(of, value, false)?,
            _ => self.expression(argument)?.present(),
        };
        if let Code::Array(name, elements) = &argument.code {
            if let Type::Array(component) = &name.of {
                let all: Written<Vec<String>> = elements
                    .iter()
                    .map(|each| Ok(self.fitted(each, component)?.text))
                    .collect();
                return Ok(all?.join(", "));
            }
        }
        Ok(format!("*{}", text.within(Level::Prefix)))
    }

    /// An argument for a parameter of this type.
    pub(super) fn argument(
        &self,
        argument: &Expr,
        wanted: Option<&Type>,
        is_present: bool,
    ) -> Written<Text> {
        if is_present && argument.of == Type::Null {
            return Err("null where Kotlin declares that there is none".to_owned());
        }
        let text = match (&argument.code, wanted) {
            (Code::Cast(of, value), _) if is_present => self.cast(of, value, false)?,
            (_, Some(wanted)) => self.fitted(argument, wanted)?,
            (_, None) => self.expression(argument)?,
        };
        Ok(match is_present {
            true => text.present(),
            false => text,
        })
    }
}
