//! Stand-ins as anonymous objects.

use culprit_classfile::access;

use super::calls::{PropertyAccess, function, property};
use super::statements::indented;
use super::type_names::{TypeArguments, primitive};
use super::{Writer, Written, word};
use crate::code::{Answers, Line, StandInCode, StandInField, StandInMethod};
use crate::signature::parameters_of;
use crate::types::Type;

/// The declaration of a method that a stand-in overrides.
struct Declaration {
    /// The name with parameters, or that of a property.
    head: String,
    result: Option<String>,
    is_property: bool,
    /// It may give null.
    gives_null: bool,
}

impl Writer<'_> {
    /// The declaration of a variable with a stand-in.
    pub(super) fn stand_in(&self, made: &StandInCode) -> Written<Vec<String>> {
        let mut above = Vec::new();
        if let Some((class, arguments)) = &made.extends {
            let name = self.type_name(&class.of, TypeArguments::Any);
            above.push(format!("{name}({})", self.list(arguments)?));
        }
        for interface in &made.implements {
            above.push(self.type_name(&interface.of, TypeArguments::Any));
        }
        let known = above
            .first()
            .and_then(|it| Some(it[it.find('<')?..].to_owned()));
        if let Some(known) = known {
            let mut generic = self.generic.borrow_mut();
            generic.insert(
                made.variable.clone(),
                known.trim_end_matches("()").to_owned(),
            );
        }
        let start = match made.is_field {
            true => word(&made.variable),
            false => format!("val {}", word(&made.variable)),
        };
        let mut lines = vec![format!("{start} = object : {} {{", above.join(", "))];
        let mut body = Vec::new();
        for field in &made.fields {
            body.push(self.field(field)?);
        }
        self.labels.borrow_mut().push(None);
        let methods: Written<Vec<Vec<String>>> =
            made.methods.iter().map(|it| self.override_of(it)).collect();
        self.labels.borrow_mut().pop();
        for method in methods? {
            if !body.is_empty() {
                body.push(String::new());
            }
            body.extend(method);
        }
        let body = body.into_iter().map(|line| match line.is_empty() {
            true => line,
            false => format!("    {line}"),
        });
        lines.extend(body);
        lines.push("}".to_owned());
        Ok(lines)
    }

    fn field(&self, field: &StandInField) -> Written<String> {
        Ok(match field {
            StandInField::Calls(name) => format!("private var {name} = 0"),
            StandInField::Answers(of, name, values) => {
                let array = Type::Array(Box::new(of.of.clone()));
                format!("private val {name} = {}", self.array(&array, values)?.text)
            }
        })
    }

    fn override_of(&self, method: &StandInMethod) -> Written<Vec<String>> {
        let declared = self.declared(method)?;
        let result = match &declared.result {
            Some(result) => format!(": {result}"),
            None => String::new(),
        };
        let before = self.nullable.borrow().clone();
        let names = method.parameters.iter().filter(|(_, name)| {
            let word = format!("{}: ", word(name));
            let of = declared
                .head
                .split(", ")
                .find_map(|it| it.split_once(&word));
            of.is_some_and(|(_, of)| of.trim_end_matches(')').ends_with('?'))
        });
        let names = names.map(|(_, name)| name.clone());
        self.nullable.borrow_mut().extend(names);
        let body = self.answers(&method.body, &declared);
        self.nullable.replace(before);
        let body = body?;
        let keyword = if declared.is_property { "val" } else { "fun" };
        let head = format!("override {keyword} {}{result}", declared.head);
        // One value needs no block.
        let value = match (body.as_slice(), &declared.result) {
            ([one], Some(_)) if !one.contains('\n') => one.strip_prefix("return "),
            _ => None,
        };
        Ok(match (declared.is_property, value) {
            (true, Some(value)) => vec![head, format!("    get() = {value}")],
            (false, Some(value)) => vec![format!("{head} = {value}")],
            (true, None) => {
                let mut lines = vec![head, "    get() {".to_owned()];
                lines.extend(indented(indented(body)));
                lines.push("    }".to_owned());
                lines
            }
            (false, None) if body.is_empty() => vec![format!("{head} {{}}")],
            (false, None) => {
                let mut lines = vec![format!("{head} {{")];
                lines.extend(indented(body));
                lines.push("}".to_owned());
                lines
            }
        })
    }

    /// The declaration, with the types that the overridden one has.
    fn declared(&self, method: &StandInMethod) -> Written<Declaration> {
        let member = &method.member;
        let names = method.parameters.iter().map(|(_, name)| word(name));
        let names: Vec<String> = names.collect();
        let head = |name: &str, types: Vec<String>| {
            let all = names.iter().zip(types);
            let all: Vec<String> = all.map(|(name, of)| format!("{name}: {of}")).collect();
            format!("{}({})", word(name), all.join(", "))
        };
        if let Some(kotlin) = self.kotlin(&member.owner) {
            match property(&kotlin, member) {
                Some((property, PropertyAccess::Get)) if !property.is_var => {
                    return Ok(Declaration {
                        head: word(&property.name),
                        result: Some(self.kotlin_type(&property.of)),
                        is_property: true,
                        gives_null: property.of.is_nullable || property.of.class.is_none(),
                    });
                }
                Some(_) => return Err(format!("the property of {}", member.name)),
                None => {}
            }
            let Some(function) = function(&kotlin, member) else {
                return Err(format!("the declaration of {}", member.name));
            };
            if function.is_suspend || function.receiver.is_some() {
                return Err(format!("a stand-in for {}", function.name));
            }
            let types = function
                .parameters
                .iter()
                .map(|it| self.kotlin_type(&it.of));
            let result = function.result.as_ref();
            return Ok(Declaration {
                head: head(&function.name, types.collect()),
                result: result
                    .map(|of| self.kotlin_type(of))
                    .filter(|of| of != "Unit"),
                is_property: false,
                gives_null: result.is_none_or(|of| of.is_nullable || of.class.is_none()),
            });
        }
        let hierarchy = self.scope.access.hierarchy;
        let found = hierarchy.method(&member.owner, &member.name, &member.descriptor);
        let signature = found.as_ref().and_then(|it| it.method.signature.as_deref());
        let told = signature.and_then(parameters_of);
        let mut types = Vec::new();
        let is_varargs = found
            .as_ref()
            .is_some_and(|it| it.method.is(access::VARARGS));
        for (place, (of, _)) in method.parameters.iter().enumerate() {
            let told = told
                .as_ref()
                .and_then(|all| self.signed_type(all.get(place)?));
            let sign = match of.of {
                Type::Primitive(_) => "",
                _ => "?",
            };
            let plain = format!("{}{sign}", self.type_name(&of.of, TypeArguments::Stars));
            types.push(told.unwrap_or(plain));
            if is_varargs && place + 1 == method.parameters.len() {
                return Err(format!("a stand-in for {}", member.name));
            }
        }
        let is_text = member.name == "toString" && types.is_empty();
        let result = method.result.as_ref().map(|of| match &of.of {
            Type::Primitive(shape) => primitive(*shape).to_owned(),
            _ if is_text => "String".to_owned(),
            other => {
                let told = signature.and_then(|it| it.split_once(')'));
                let told = told.and_then(|(_, it)| self.signed_type(it));
                let plain = || format!("{}?", self.type_name(other, TypeArguments::Stars));
                told.unwrap_or_else(plain)
            }
        });
        Ok(Declaration {
            head: head(&member.name, types),
            result,
            is_property: false,
            gives_null: true,
        })
    }

    fn answers(&self, answers: &Answers, declared: &Declaration) -> Written<Vec<String>> {
        let checked = |lines: &[Line]| {
            let gives_null = lines.iter().any(|line| match line {
                Line::Return(Some(value)) => value.of == Type::Null,
                _ => false,
            });
            match gives_null && !declared.gives_null {
                true => Err("null where Kotlin declares that there is none".to_owned()),
                false => self.statements(lines),
            }
        };
        Ok(match answers {
            Answers::Same(lines) => checked(lines)?,
            Answers::Listed { calls, answers, .. } => {
                vec![format!(
                    "return {answers}[minOf({calls}++, {answers}.size - 1)]"
                )]
            }
            Answers::Counted {
                calls,
                earlier,
                last,
            } => {
                let mut lines = vec![format!("{calls}++")];
                for (until, body) in earlier {
                    lines.push(match until {
                        1 => format!("if ({calls} == 1) {{"),
                        until => format!("if ({calls} <= {until}) {{"),
                    });
                    lines.extend(indented(checked(body)?));
                    if !body.last().is_some_and(Line::is_end) {
                        lines.push("    return".to_owned());
                    }
                    lines.push("}".to_owned());
                }
                lines.extend(checked(last)?);
                lines
            }
        })
    }
}
