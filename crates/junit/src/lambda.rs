//! Lambdas and method references of the program. The compiler made a method of each body, which the source cannot
//! name; it is printed from the class file, or called by reflection.

use culprit_model::Member;
use culprit_model::script::{HandleKind, Lambda};

use crate::code::{Code, LambdaCode, Target};
use crate::error::Error;
use crate::expr::{Expr, Precedence, Typing};
use crate::graph::{Graph, Node};
use crate::names::{self, NameGenerator};
use crate::scope::Scope;
use crate::signature::{Profile, parameters_of};
use crate::tree::LambdaSite;
use crate::types::{Type, parameters, result};

/// The call site of a lambda of a script.
fn site_of(lambda: &Lambda, graph: &Graph<'_>) -> LambdaSite {
    let class = |id| graph.script.class_name(id);
    LambdaSite {
        body: Member {
            owner: class(lambda.body_class).to_owned(),
            name: lambda.body_name.clone(),
            descriptor: lambda.body_descriptor.clone(),
        },
        kind: lambda.kind,
        interface: Type::of_class(class(lambda.interface)),
        method: lambda.method.clone(),
        erased: lambda.erased.clone(),
        exact: lambda.exact.clone(),
    }
}

impl Scope<'_> {
    /// A lambda as its source had it, or one that calls the method that is its body.
    pub(crate) fn lambda_of(&self, lambda: &Lambda, node: &Node<'_>) -> Result<Expr, Error> {
        let site = site_of(lambda, self.graph);
        let mut given = Vec::new();
        for value in node.arguments {
            given.push(self.value(value, node.number)?);
        }
        // Its parameters are in the scope of the test.
        let taken = self.names.borrow().clone();
        let throws = self.throws.get();
        let named = self.imports.named();
        let helpers = self.helpers.borrow().clone();
        let written = self.open_lambda(&site, given.clone(), taken.clone(), 0);
        let written = match written {
            Some(written) => Some(written),
            None => {
                self.imports.reset(named);
                self.helpers.replace(helpers);
                self.called_lambda(&site, given, taken, true)
            }
        };
        self.throws.set(throws);
        written.ok_or(Error::Unknown {
            statement: node.number,
        })
    }

    /// A lambda that needs no reflection, so deep within others.
    pub(crate) fn open_lambda(
        &self,
        site: &LambdaSite,
        given: Vec<Expr>,
        taken: NameGenerator,
        depth: usize,
    ) -> Option<Expr> {
        let written = self.written_lambda(site, given.clone(), taken.clone(), depth);
        written.or_else(|| self.called_lambda(site, given, taken, false))
    }

    /// A lambda with the body that the class file has.
    fn written_lambda(
        &self,
        site: &LambdaSite,
        mut given: Vec<Expr>,
        mut taken: NameGenerator,
        depth: usize,
    ) -> Option<Expr> {
        let member = &site.body;
        let facts = self.access.hierarchy.class(&member.owner)?;
        let mut methods = facts.methods.iter();
        let body = methods
            .find(|method| method.name == member.name && method.descriptor == member.descriptor)?;
        if site.kind != HandleKind::Static || !body.is_synthetic() {
            return None;
        }
        let own = body.parameters.get(given.len()..).unwrap_or_default();
        let exact = parameters(&site.exact);
        let mut names_here = Vec::new();
        for (place, parameter) in self.parameters_of(site).into_iter().enumerate() {
            let wish = own.get(place).cloned();
            let wish = wish.or_else(|| exact.get(place).map(names::for_type))?;
            let name = taken.give(&wish);
            given.push(Expr {
                code: Code::Name(name.clone()),
                ..parameter
            });
            names_here.push(name);
        }
        let profile = self.profile_of_interface(site);
        let body = self.lambda_code(member, given, taken, profile.result, depth)?;
        Some(self.arrow(site, names_here, body))
    }

    /// A lambda that calls its method, by reflection if there is no other way and if it may be.
    fn called_lambda(
        &self,
        site: &LambdaSite,
        mut given: Vec<Expr>,
        mut taken: NameGenerator,
        by_reflection: bool,
    ) -> Option<Expr> {
        let mut names_here = Vec::new();
        let exact = parameters(&site.exact);
        for (parameter, exact) in self.parameters_of(site).into_iter().zip(exact) {
            let name = taken.give(&names::for_type(&exact));
            let parameter = Expr {
                code: Code::Name(name.clone()),
                ..parameter
            };
            given.push(self.fit(parameter, &exact)?);
            names_here.push(name);
        }
        let body = self.called_body(site, given, by_reflection)?;
        let body = match self.profile_of_interface(site).result {
            None => body,
            Some(wanted) => self.fit(body, &wanted)?,
        };
        Some(self.arrow(site, names_here, LambdaCode::Value(body)))
    }

    fn profile_of_interface(&self, site: &LambdaSite) -> Profile {
        let found = site.interface.name().and_then(|interface| {
            let hierarchy = self.access.hierarchy;
            let found = hierarchy.method(interface, &site.method, &site.erased)?;
            Some(hierarchy.profile(interface, &found))
        });
        found.unwrap_or_else(|| Profile::erased(&site.erased))
    }

    /// The parameters of a lambda, without names: what the compiler knows of them.
    fn parameters_of(&self, site: &LambdaSite) -> Vec<Expr> {
        let types = self.profile_of_interface(site).parameters;
        let hierarchy = self.access.hierarchy;
        let interface = site.interface.name().unwrap_or_default();
        let found = hierarchy.method(interface, &site.method, &site.erased);
        let is_generic = found.as_ref().is_none_or(|found| found.class.is_generic());
        let signature = found.and_then(|found| found.method.signature);
        let signature = signature.filter(|_| !is_generic);
        let told = signature.as_deref().and_then(parameters_of);
        let told = |place: usize| {
            let told = told.as_ref()?.get(place)?;
            told.contains('<').then(|| (*told).to_owned())
        };
        let all = types.into_iter().enumerate();
        let expression = |(place, of)| Expr {
            typing: match told(place) {
                Some(_) => Typing::Parameterized,
                None => Typing::Plain,
            },
            signature: told(place),
            ..Expr::name("", of)
        };
        all.map(expression).collect()
    }

    fn arrow(&self, site: &LambdaSite, names: Vec<String>, body: LambdaCode) -> Expr {
        let code = Code::Lambda(names, Box::new(body));
        let facts = site
            .interface
            .name()
            .map(|name| self.access.hierarchy.class(name));
        let is_generic = facts.flatten().is_none_or(|facts| facts.is_generic());
        Expr {
            typing: match is_generic {
                true => Typing::Inferred,
                false => Typing::Plain,
            },
            ..Expr::new(code, site.interface.clone()).at(Precedence::Lambda)
        }
    }

    fn called_body(
        &self,
        site: &LambdaSite,
        given: Vec<Expr>,
        by_reflection: bool,
    ) -> Option<Expr> {
        let member = &site.body;
        let mut given = given.into_iter();
        let receiver = match site.kind {
            HandleKind::Static | HandleKind::Constructor => None,
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
            HandleKind::Constructor => self.access.constructor(member),
            _ => self.access.method(&member.owner, member),
        };
        let Some(found) = found else {
            let call =
                by_reflection.then(|| self.reflective_run(member, receiver.as_ref(), &arguments));
            return call?.ok();
        };
        // What it declares to throw, the method of the interface does as well.
        self.imports
            .is_deprecated(found.is_some_and(|found| found.method.is_deprecated));
        if site.kind == HandleKind::Constructor {
            let made = Code::New(self.named(&owner), member.clone(), arguments);
            return Some(Expr::new(made, owner));
        }
        let of = result(&member.descriptor).unwrap_or(Type::Null);
        let target = match receiver {
            None => Target::Class(self.plainly_named(&owner)),
            Some(receiver) => {
                let receiver = self.fit(receiver.clone(), &owner).unwrap_or(receiver);
                Target::Object(Box::new(receiver.closed()))
            }
        };
        Some(Expr::call(target, member, arguments, of))
    }
}
