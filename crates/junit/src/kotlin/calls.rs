//! Calls in Kotlin: functions by the names that Kotlin gives them, properties instead of getters and setters,
//! top-level functions without their class.

use culprit_model::Member;

use super::metadata::{Function, Kind, KotlinClass, Property};
use super::type_names::{TypeArguments, is_mapped};
use super::{Level, Text, Writer, Written, word};
use crate::code::{Call, Code, Target, TypeName};
use crate::expr::Expr;
use crate::signature::has_variable;
use crate::types::{Type, parameters};

/// Methods of `String` that Kotlin's `String` has as well, with the same meaning.
const OF_STRINGS: [&str; 14] = [
    "compareTo",
    "contains",
    "endsWith",
    "equals",
    "hashCode",
    "indexOf",
    "isEmpty",
    "lastIndexOf",
    "length",
    "replace",
    "startsWith",
    "subSequence",
    "substring",
    "toString",
];

impl Writer<'_> {
    /// A call of a method.
    pub(super) fn call(&self, call: &Call) -> Written<Text> {
        let Call {
            target,
            member,
            arguments,
        } = call;
        match target {
            Target::Object(receiver) => self.method(receiver, member, arguments),
            Target::Class(class) => self.static_method(
                target,
                class.of.name().unwrap_or_default(),
                member,
                arguments,
            ),
            Target::Imported(_) => self.static_method(target, &member.owner, member, arguments),
        }
    }

    fn method(&self, object: &Expr, member: &Member, arguments: &[Expr]) -> Written<Text> {
        let receiver = self.receiver(object)?;
        let name = member.name.as_str();
        let Some(class) = object.of.name() else {
            let arguments = self.arguments(member, arguments, None, 0)?;
            return Ok(Text::new(format!("{receiver}.{}({arguments})", word(name))));
        };
        let hierarchy = self.scope.access.hierarchy;
        let found = hierarchy.method(class, name, &member.descriptor);
        let owner = found.as_ref().map_or(&member.owner, |it| &it.class.name);
        if let Some(kotlin) = self.kotlin(owner) {
            return self.member(&receiver, &kotlin, member, arguments);
        }
        if let Some(text) = self.renamed(&receiver, class, member, arguments)? {
            return Ok(text);
        }
        if let Some(text) = self.bean(&receiver, class, member, arguments)? {
            return Ok(text);
        }
        let receiver = match class == "java/lang/String" && !OF_STRINGS.contains(&name) {
            true => format!("({receiver} as java.lang.String)"),
            false => receiver,
        };
        let own = self.own_arguments(class, member);
        let arguments = self.arguments(member, arguments, None, 0)?;
        Ok(Text::new(format!(
            "{receiver}.{}{own}({arguments})",
            word(name)
        )))
    }

    /// Type arguments of a method that the compiler cannot work out from those that it is given.
    fn own_arguments(&self, class: &str, member: &Member) -> String {
        let hierarchy = self.scope.access.hierarchy;
        let found = hierarchy.method(class, &member.name, &member.descriptor);
        let signature = found.and_then(|found| found.method.signature);
        let Some(signature) = signature.filter(|it| it.starts_with('<')) else {
            return String::new();
        };
        let taken = crate::signature::parameters_of(&signature).unwrap_or_default();
        if taken.iter().any(|it| has_variable(it)) {
            return String::new();
        }
        let bounds = crate::signature::bounds(&signature).unwrap_or_default();
        self.widest(&bounds)
    }

    /// A member of a class of Kotlin.
    fn member(
        &self,
        receiver: &str,
        kotlin: &KotlinClass,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Text> {
        if let Some((property, access)) = property(kotlin, member) {
            let name = word(&property.name);
            return self.property(&format!("{receiver}.{name}"), property, access, arguments);
        }
        let function = function(kotlin, member);
        if function.is_some_and(|it| it.receiver.is_some() || it.is_suspend) {
            return Err(format!("a call of {}", member.name));
        }
        let name = function.map_or(&member.name, |it| &it.name);
        let arguments = self.arguments(member, arguments, function, 0)?;
        let text = Text::new(format!("{receiver}.{}({arguments})", word(name)));
        Ok(text.nullable(function.is_some_and(gives_null)))
    }

    fn property(
        &self,
        name: &str,
        property: &Property,
        access: PropertyAccess,
        arguments: &[Expr],
    ) -> Written<Text> {
        match (access, arguments.last()) {
            (PropertyAccess::Get, _) => Ok(Text::new(name).nullable(property.of.is_nullable)),
            (PropertyAccess::Set, Some(value)) => {
                if !property.is_var {
                    return Err(format!("the setter of {}", property.name));
                }
                if value.of == Type::Null && !property.of.is_nullable {
                    return Err("null where Kotlin declares that there is none".to_owned());
                }
                let value = self.expression(value)?;
                let value = match property.of.is_nullable {
                    true => value,
                    false => value.present(),
                };
                Ok(Text::new(format!("{name} = {}", value.text)).at(Level::Statement))
            }
            (PropertyAccess::Set, None) => Err(format!("the setter of {}", property.name)),
        }
    }

    fn static_method(
        &self,
        target: &Target,
        class: &str,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Text> {
        let kotlin = self.kotlin(class);
        if let Some(kotlin) = kotlin.as_ref().filter(|it| it.kind == Kind::File) {
            return self.top_level(class, kotlin, member, arguments);
        }
        // What is static in a class of Kotlin is a member of its companion object.
        if let Some(kotlin) = kotlin {
            let name = self.class_name(class);
            let companion = kotlin.companion.clone();
            let companion = companion.and_then(|it| self.kotlin(&format!("{class}${it}")));
            let kotlin = companion.unwrap_or(kotlin);
            return self.member(&name, &kotlin, member, arguments);
        }
        if let Some(name) = self.imported(target, class, &member.name) {
            let own = self.own_arguments(class, member);
            let arguments = self.arguments(member, arguments, None, 0)?;
            return Ok(Text::new(format!("{name}{own}({arguments})")));
        }
        let name = match is_mapped(class) {
            true => self.java_class_name(class),
            false => self.class_name(class),
        };
        let own = self.own_arguments(class, member);
        let arguments = self.arguments(member, arguments, None, 0)?;
        Ok(Text::new(format!(
            "{name}.{}{own}({arguments})",
            word(&member.name)
        )))
    }

    /// A function or property of a file.
    fn top_level(
        &self,
        class: &str,
        kotlin: &KotlinClass,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Text> {
        if let Some((property, access)) = property(kotlin, member) {
            self.import_member(class, &property.name);
            let name = word(&property.name);
            return match (&property.receiver, arguments.split_first()) {
                (Some(_), Some((object, rest))) => {
                    let name = format!("{}.{name}", self.receiver(object)?);
                    self.property(&name, property, access, rest)
                }
                _ => self.property(&name, property, access, arguments),
            };
        }
        let Some(function) = function(kotlin, member).filter(|it| !it.is_suspend) else {
            return Err(format!("a call of {}", member.name));
        };
        self.import_member(class, &function.name);
        let name = word(&function.name);
        let is_nullable = gives_null(function);
        let text = match (&function.receiver, arguments.split_first()) {
            (Some(of), Some((object, rest))) => {
                let object = match of.is_nullable || of.class.is_none() {
                    true => self.expression(object)?.within(Level::Postfix),
                    false => self.receiver(object)?,
                };
                let arguments = self.arguments(member, rest, Some(function), 1)?;
                format!("{object}.{name}({arguments})")
            }
            _ => {
                let arguments = self.arguments(member, arguments, Some(function), 0)?;
                format!("{name}({arguments})")
            }
        };
        Ok(Text::new(text).nullable(is_nullable))
    }

    pub(super) fn construction(
        &self,
        class: &TypeName,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Text> {
        let kotlin = self.kotlin(&member.owner);
        let constructor = kotlin.as_ref().and_then(|kotlin| {
            let mut all = kotlin.constructors.iter();
            all.find(|it| it.is("<init>", &member.descriptor))
        });
        let hierarchy = self.scope.access.hierarchy;
        let found = hierarchy.method(&member.owner, "<init>", &member.descriptor);
        let signature = found.and_then(|found| found.method.signature);
        // The compiler works out the type arguments where the arguments have them.
        let is_inferred = signature.as_deref().is_some_and(has_variable);
        let name = match is_inferred {
            true => self.type_name(&class.of, TypeArguments::None),
            false => self.type_name(&class.of, TypeArguments::Any),
        };
        let arguments = self.arguments(member, arguments, constructor, 0)?;
        Ok(Text::new(format!("{name}({arguments})")))
    }

    /// A new object for a variable, with the type arguments that the uses of the variable want.
    pub(super) fn construction_of(&self, variable: &str, value: &Expr) -> Option<Written<Text>> {
        let Code::New(class, member, arguments) = &value.code else {
            return None;
        };
        let own = class.of.name()?;
        let count = self.type_variables(own).len();
        if count == 0 {
            return None;
        }
        let wanted = self.wanted_arguments(variable, count)?;
        let name = self.type_name(&class.of, TypeArguments::None);
        let generic = &mut *self.generic.borrow_mut();
        generic.insert(variable.to_owned(), wanted.clone());
        Some(
            self.arguments(member, arguments, None, 0)
                .map(|arguments| Text::new(format!("{name}{wanted}({arguments})"))),
        )
    }

    /// The type arguments that a parameter declares which a variable is given to.
    pub(super) fn wanted_arguments(&self, variable: &str, count: usize) -> Option<String> {
        let scope = self.scope;
        let mut all = scope.variables.iter();
        let (id, _) = all.find(|(_, it)| it.name == variable)?;
        let object = scope.graph.objects.get(id)?;
        object
            .uses
            .iter()
            .find_map(|each| {
                let crate::graph::Role::Argument(place, _) = &each.role else {
                    return None;
                };
                let member = scope.graph.nodes[each.statement].target()?;
                let hierarchy = scope.access.hierarchy;
                let found = hierarchy.method(&member.owner, &member.name, &member.descriptor)?;
                let signature = found.method.signature?;
                let taken = crate::signature::parameters_of(&signature)?;
                let wanted = taken.get(*place)?;
                let arguments = self.signed_arguments(wanted)?;
                let own = wanted.get(1..wanted.find('<')?)?;
                (self.type_variables(own).len() == count).then_some(arguments)
            })
            .map(|it| {
                it.replace("out ", "")
                    .replace("in ", "")
                    .replace('*', "Any?")
            })
    }
}

/// The use of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PropertyAccess {
    Get,
    Set,
}

/// The property that a method reads or writes.
pub(super) fn property<'k>(
    kotlin: &'k KotlinClass,
    member: &Member,
) -> Option<(&'k Property, PropertyAccess)> {
    let count = parameters(&member.descriptor).len();
    kotlin.properties.iter().find_map(|it| {
        let more = usize::from(it.receiver.is_some() && kotlin.kind == Kind::File);
        if it.getter.as_deref() == Some(&member.name) && count == more {
            return Some((it, PropertyAccess::Get));
        }
        let is_setter = it.setter.as_deref() == Some(&member.name) && count == more + 1;
        is_setter.then_some((it, PropertyAccess::Set))
    })
}

/// The function that a method is.
pub(super) fn function<'k>(kotlin: &'k KotlinClass, member: &Member) -> Option<&'k Function> {
    let mut all = kotlin.functions.iter();
    all.find(|it| it.is(&member.name, &member.descriptor))
}

fn gives_null(function: &Function) -> bool {
    let result = function.result.as_ref();
    result.is_some_and(|it| it.is_nullable)
}
