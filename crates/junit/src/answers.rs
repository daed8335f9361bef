//! The source of stand-ins: lambdas and anonymous classes whose methods give the recorded answers, as
//! [`culprit_model::script::StandIn`] defines them.

use culprit_classfile::access as flags;
use culprit_model::script::{AnswerPlace, StandIn};
use culprit_model::{Member, ObjectId};

use crate::bodies::{Row, is_itself};
use crate::code::{Code, LambdaCode, Line, Proxy, StandInCode, StandInField, StandInMethod};
use crate::error::Error;
use crate::expr::Expr;
use crate::facts::MethodFacts;
use crate::graph::{Object, Question};
use crate::hierarchy::DeclaredMethod;
use crate::names::{self, NameGenerator};
use crate::scope::{Scope, Variable};
use crate::signature::Profile;
use crate::stand_in::{Base, base};
use crate::types::{Type, parameters};

/// The most methods without a body that are written one by one.
const MOST_EMPTY: usize = 4;

/// A method that a stand-in has.
pub(crate) struct Method<'s> {
    pub(crate) facts: MethodFacts,
    /// The declaration in the stand-in.
    pub(crate) profile: Profile,
    pub(crate) of_interface: bool,
    /// The class that declares it.
    pub(crate) owner: String,
    pub(crate) asked: Vec<&'s Question<'s>>,
}

impl Scope<'_> {
    /// Statements that give the variable its stand-in.
    pub(crate) fn stand_in(&self, id: ObjectId, variable: &Variable) -> Result<Vec<Line>, Error> {
        let object = &self.graph.objects[&id];
        let base = base(object, self.graph, self.access)?;
        if base.is_plain {
            let (member, arguments) = self.empty_arguments(&base.class)?;
            let class = self.named_class(&base.class);
            let made = Code::New(class, member, arguments);
            let made = Expr::new(made, Type::class(&base.class));
            return Ok(vec![self.started(variable, made, false)]);
        }
        let methods = self.stand_in_methods(object, &base);
        if base.is_mock {
            return self.mock(id, variable, &base, &methods);
        }
        if let Some(lambda) = self.lambda(id, &base, &methods)? {
            return Ok(vec![self.started(variable, lambda, false)]);
        }
        if let Some(proxy) = self.proxy(id, &base, &methods)? {
            return Ok(vec![self.started(variable, proxy, false)]);
        }
        let several = base.interfaces.len() > 1
            || (base.interfaces.len() == 1 && base.class != "java/lang/Object");
        let name = several.then(|| self.names.borrow_mut().give("standIn"));
        let implements = base.interfaces.iter();
        let implements = implements.map(|name| self.named_class(name)).collect();
        let extends = match base.class.as_str() {
            "java/lang/Object" => None,
            class if several => Some((self.named_class(class), Vec::new())),
            class => {
                let (_, arguments) = self.empty_arguments(class)?;
                Some((self.named_class(class), arguments))
            }
        };
        let of = self.named(&variable.of);
        let (fields, methods) = self.class_body(id, &methods)?;
        Ok(vec![Line::StandIn(Box::new(StandInCode {
            of,
            variable: variable.name.clone(),
            is_field: variable.is_field,
            name: name.map(|name| names::upper_first(&name)),
            extends,
            implements,
            fields,
            methods,
        }))])
    }

    /// The methods that were called, in the order of the first calls, then the abstract methods that were not.
    fn stand_in_methods<'s>(&self, object: &'s Object<'s>, base: &Base) -> Vec<Method<'s>> {
        let mut classes = vec![base.class.clone()];
        classes.extend(base.interfaces.iter().cloned());
        let mut methods: Vec<Method<'s>> = Vec::new();
        let places: Vec<AnswerPlace> = object.asked.iter().map(|it| it.place).collect();
        for answered in StandIn::of(self.graph.script, &places).methods {
            let of_method = |it: &&Question<'_>| answered.answers.contains(&it.place);
            let asked: Vec<&Question<'s>> = object.asked.iter().filter(of_method).collect();
            let Some(first) = asked.first() else { continue };
            let member = &first.site.target;
            let found = classes.iter().find_map(|class| {
                let hierarchy = self.access.hierarchy;
                hierarchy.method(class, &member.name, &member.descriptor)
            });
            let fixed = match base.is_mock {
                true => flags::STATIC | flags::PRIVATE,
                false => flags::FINAL | flags::STATIC | flags::PRIVATE,
            };
            if found.as_ref().is_some_and(|found| found.method.is(fixed)) {
                continue;
            }
            methods.push(found.map_or_else(
                || Method {
                    facts: MethodFacts {
                        access: flags::PUBLIC,
                        name: member.name.clone(),
                        descriptor: member.descriptor.clone(),
                        ..MethodFacts::default()
                    },
                    profile: Profile::erased(&member.descriptor),
                    of_interface: true,
                    owner: member.owner.clone(),
                    asked: asked.clone(),
                },
                |found| self.method_of(&classes, found, asked.clone()),
            ));
        }
        for open in self.access.hierarchy.abstract_methods(&classes) {
            let wanted = parameters(&open.method.descriptor);
            let answered = methods.iter().any(|method| {
                method.facts.name == open.method.name
                    && parameters(&method.facts.descriptor) == wanted
            });
            if !answered {
                methods.push(self.method_of(&classes, open, Vec::new()));
            }
        }
        methods
    }

    fn method_of<'s>(
        &self,
        classes: &[String],
        found: DeclaredMethod,
        asked: Vec<&'s Question<'s>>,
    ) -> Method<'s> {
        let hierarchy = self.access.hierarchy;
        let below = classes
            .iter()
            .find(|class| hierarchy.lineage(class).contains(&found.class.name));
        let below = below.unwrap_or(&found.class.name);
        Method {
            profile: hierarchy.profile(below, &found),
            of_interface: found.class.is_interface(),
            owner: found.class.name.clone(),
            facts: found.method,
            asked,
        }
    }

    /// A lambda, where the stand-in has one method, and that always does the same.
    fn lambda(
        &self,
        id: ObjectId,
        base: &Base,
        methods: &[Method<'_>],
    ) -> Result<Option<Expr>, Error> {
        let ([interface], [method], "java/lang/Object") =
            (base.interfaces.as_slice(), methods, base.class.as_str())
        else {
            return Ok(None);
        };
        let hierarchy = self.access.hierarchy;
        let functional = hierarchy
            .abstract_methods(std::slice::from_ref(interface))
            .len()
            == 1
            && method.facts.is(flags::ABSTRACT);
        let generic = method.facts.signature.as_ref();
        if !functional || generic.is_some_and(|signature| signature.starts_with('<')) {
            return Ok(None);
        }
        // The parameters of a lambda are in the scope of the test.
        let mut names = self.names.borrow().clone();
        let parameters = parameter_names(method, &mut names);
        let bodies = self.bodies(id, method, &parameters)?;
        let [Row { body, .. }] = bodies.as_slice() else {
            return Ok(None);
        };
        if body.iter().any(is_itself) {
            return Ok(None);
        }
        let body = match body.as_slice() {
            [] => LambdaCode::NoAnswer,
            [Line::Return(Some(value))] => LambdaCode::Value(value.clone()),
            [line] => LambdaCode::Line(line.clone()),
            _ => return Ok(None),
        };
        let code = Code::Lambda(parameters, Box::new(body));
        Ok(Some(Expr::new(code, Type::class(interface))))
    }

    /// A proxy of the JDK, where one of many methods of an interface was called and always does the same, or where those
    /// that were called give nothing.
    fn proxy(
        &self,
        id: ObjectId,
        base: &Base,
        methods: &[Method<'_>],
    ) -> Result<Option<Expr>, Error> {
        let ([interface], "java/lang/Object") = (base.interfaces.as_slice(), base.class.as_str())
        else {
            return Ok(None);
        };
        let (asked, open): (Vec<&Method<'_>>, Vec<&Method<'_>>) =
            methods.iter().partition(|method| !method.asked.is_empty());
        if asked.is_empty() || open.len() <= MOST_EMPTY {
            return Ok(None);
        }
        let mut answers = Vec::new();
        for method in &asked {
            let Some(answer) = self.only_answer(id, method)? else {
                return Ok(None);
            };
            answers.push(answer);
        }
        let mut names = self.names.borrow().clone();
        let [proxy, called, arguments] =
            ["proxy", "method", "arguments"].map(|name| names.give(name));
        let is_null = |answer: &Expr| answer.code == Code::Null;
        let (answer, only) = match (asked.as_slice(), answers.as_slice()) {
            (_, answers) if answers.iter().all(is_null) => {
                (Expr::new(Code::Null, Type::Null), None)
            }
            ([method], [answer]) => (answer.clone(), Some(method.facts.name.clone())),
            _ => return Ok(None),
        };
        let proxy = Proxy {
            interface: self.named_class(interface),
            maker: self.named_class("java/lang/reflect/Proxy"),
            parameters: [proxy, called, arguments],
            answer,
            only,
        };
        let code = Code::Proxy(Box::new(proxy));
        Ok(Some(Expr::new(code, Type::class(interface))))
    }

    /// The value that a method returns whatever it is given, `null` for one without a result; none if it does more.
    fn only_answer(&self, id: ObjectId, method: &Method<'_>) -> Result<Option<Expr>, Error> {
        let mut names = self.names.borrow().clone();
        let parameters = parameter_names(method, &mut names);
        let bodies = self.bodies(id, method, &parameters)?;
        let [Row { body, .. }] = bodies.as_slice() else {
            return Ok(None);
        };
        let value = match body.as_slice() {
            [] => Some(Expr::new(Code::Null, Type::Null)),
            [Line::Return(Some(value))] if value.code != Code::This => Some(value.clone()),
            _ => None,
        };
        let is_fixed = |value: &Expr| {
            let value = value.java();
            let mut words = value.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            !words.any(|word| parameters.iter().any(|name| name == word))
        };
        Ok(value.filter(is_fixed))
    }

    fn class_body(
        &self,
        id: ObjectId,
        methods: &[Method<'_>],
    ) -> Result<(Vec<StandInField>, Vec<StandInMethod>), Error> {
        let mut fields = Vec::new();
        let mut all = Vec::new();
        let mut members = NameGenerator::default();
        for method in methods {
            let facts = &method.facts;
            let of = &method.profile.parameters;
            // A parameter would hide a variable that an answer names.
            let mut names = self.names.borrow().clone();
            let parameters = parameter_names(method, &mut names);
            let bodies = self.bodies(id, method, &parameters)?;
            let declared = of.iter().map(|of| self.named(of)).zip(parameters);
            let declared = declared.collect();
            let visible = if method.of_interface || facts.is(flags::PUBLIC) {
                "public "
            } else if facts.is(flags::PROTECTED) {
                "protected "
            } else {
                ""
            };
            let result = &method.profile.result;
            all.push(StandInMethod {
                member: Member {
                    owner: method.owner.clone(),
                    name: facts.name.clone(),
                    descriptor: facts.descriptor.clone(),
                },
                visible,
                parameters: declared,
                result: result.as_ref().map(|of| self.named(of)),
                throws: self.thrown(method),
                body: self.sequence(&bodies, method, &mut members, &mut fields),
            });
        }
        Ok((fields, all))
    }
}

/// Names of the parameters: those of the source where they are known, otherwise by their types.
pub(crate) fn parameter_names(method: &Method<'_>, names: &mut NameGenerator) -> Vec<String> {
    let (facts, types) = (&method.facts, &method.profile.parameters);
    let known = facts.parameters.len() == types.len();
    types
        .iter()
        .enumerate()
        .map(|(place, of)| {
            if known {
                names.give(&facts.parameters[place])
            } else {
                names.give(&names::for_type(of))
            }
        })
        .collect()
}
