//! Scripts as scenarios: operators and the other statements that are no calls become calls of methods of the
//! runtime. The files that are not yet written as scripts have this form.

use std::sync::Arc;

use super::{
    Action, Call, End, Expectation, Grouper, HandleKind, Lambda, LoopVariable, Mark, Operation,
    Operator, Script, Statement, Ungrouped,
};
use crate::value::{Contents, Shape};
use crate::{
    EventKind, Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, Tables,
    ThreadId, TypeId, Value,
};

/// The runtime's class whose methods are operators.
pub const OPERATORS: &str = "culprit/runtime/Operators";

/// The statements without a site, by the names of the methods that stand for them.
const GUARD: &str = "require";
const LAMBDA: &str = "lambda";
const WHOLE: &str = "expect";
const NEXT: &str = "tolerate";
const SAME: &str = "same";
const LEFT: &str = "left";
const START: &str = "start";
const EACH: &str = "each";

const LAMBDA_DESCRIPTOR: &str = "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;I\
    Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;\
    [Ljava/lang/Object;)Ljava/lang/Object;";

impl Script {
    /// The script as a scenario.
    pub fn lowered(&self) -> Scenario {
        let script = self.pruned();
        let mut lowering = Lowering {
            tables: (*script.tables).clone(),
            next: script.largest(),
            steps: Vec::new(),
        };
        lowering.tables.threads = vec![(ThreadId(1), "main".to_owned())];
        for statement in &script.statements {
            lowering.add(statement);
        }
        Scenario {
            tables: lowering.tables,
            steps: lowering.steps,
        }
    }

    /// The script of a scenario whose operators are calls.
    pub fn raised(scenario: Scenario) -> Result<Script, Ungrouped> {
        let mut statements = Vec::new();
        let mut grouper = Grouper::default();
        for step in scenario.steps {
            grouper.step(step, &mut statements)?;
        }
        statements.extend(grouper.finish());
        let tables = scenario.tables;
        for statement in &mut statements {
            if let Some(action) = raised(&tables, statement) {
                if let Action::Lambda(_) = action
                    && let Some(Value::Reference(Reference::Array { contents, .. })) =
                        statement.given.get(9)
                {
                    statement.given = contents.elements().to_vec();
                }
                if let Action::Expect(_) = action {
                    statement.given.clear();
                }
                statement.action = action;
            }
        }
        let mut script = Script {
            tables: Arc::new(tables),
            statements,
            ..Script::default()
        };
        let mut tables = (*script.tables).clone();
        tables.sites.retain(|site| site.target.owner != OPERATORS);
        script.tables = Arc::new(tables);
        Ok(script)
    }
}

struct Lowering {
    tables: Tables,
    next: ObjectId,
    steps: Vec<Step>,
}

impl Lowering {
    fn add(&mut self, statement: &Statement) {
        let given = statement.given.clone();
        match &statement.action {
            Action::Call(Call { site, answers }) => {
                self.step(EventKind::IncomingCall, *site, given, 0);
                for answer in answers {
                    self.step(
                        EventKind::OutgoingCall,
                        answer.site,
                        answer.asked.clone(),
                        1,
                    );
                    for array in &answer.filled {
                        let values = vec![array.clone()];
                        self.step(EventKind::ArrayContents, answer.site, values, 2);
                    }
                    let ends = [EventKind::OutgoingReturn, EventKind::OutgoingThrow];
                    self.end(&answer.end, answer.site, ends, 2);
                }
                let ends = [EventKind::IncomingReturn, EventKind::IncomingThrow];
                self.end(&statement.end, *site, ends, 1);
            }
            Action::Read(site) => {
                let values = given.into_iter().chain(statement.end.value().cloned());
                self.step(EventKind::IncomingRead, *site, values.collect(), 0);
            }
            Action::Write(site) => self.step(EventKind::IncomingWrite, *site, given, 0),
            Action::Operate(Operation { operator, shape }) => {
                let descriptor = operator.of(*shape).descriptor();
                self.operator(operator.name(), &descriptor, given, &statement.end);
            }
            Action::Lambda(lambda) => {
                let given = self.lambda(lambda, given);
                self.operator(LAMBDA, LAMBDA_DESCRIPTOR, given, &statement.end);
            }
            Action::Guard => self.operator(GUARD, "(Z)V", given, &statement.end),
            Action::Expect(expectation) => {
                let (name, class) = match expectation {
                    Expectation::Whole(class) => (WHOLE, class),
                    Expectation::Next(class) => (NEXT, class),
                };
                let given = vec![Value::Reference(Reference::Class(*class))];
                self.operator(name, "(Ljava/lang/Class;)V", given, &statement.end);
            }
            Action::Mark(Mark::Same) => {
                let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;)V";
                self.operator(SAME, descriptor, given, &statement.end);
            }
            Action::Mark(Mark::Left) => {
                self.operator(LEFT, "(Ljava/lang/Throwable;)V", given, &statement.end);
            }
            Action::Loop(variable) => {
                let (name, class) = match variable {
                    LoopVariable::Start(class) => (START, class),
                    LoopVariable::Each(class) => (EACH, class),
                };
                let of = descriptor(self.tables.class_name(*class));
                let descriptor = match variable {
                    LoopVariable::Start(_) => format!("({of}){of}"),
                    LoopVariable::Each(_) => format!("(){of}"),
                };
                self.operator(name, &descriptor, given, &statement.end);
            }
        }
    }

    fn operator(&mut self, name: &str, descriptor: &str, given: Vec<Value>, end: &End) {
        let site = self.site(name, descriptor);
        self.step(EventKind::IncomingCall, site, given, 0);
        let ends = [EventKind::IncomingReturn, EventKind::IncomingThrow];
        self.end(end, site, ends, 1);
    }

    fn site(&mut self, name: &str, descriptor: &str) -> SiteId {
        let target = Member {
            owner: OPERATORS.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        let known = self.tables.sites.iter().find(|site| site.target == target);
        if let Some(known) = known {
            return known.id;
        }
        let id = SiteId(self.tables.sites.last().map_or(0, |site| site.id.0) + 1);
        self.tables.sites.insert(Site {
            id,
            kind: SiteKind::Entry,
            class: target.owner.clone(),
            method: target.name.clone(),
            descriptor: target.descriptor.clone(),
            line: None,
            source: None,
            target,
            is_static: true,
        });
        id
    }

    /// The ten parameters that the runtime makes a lambda of.
    fn lambda(&mut self, lambda: &Lambda, captured: Vec<Value>) -> Vec<Value> {
        let class = |id: TypeId| Value::Reference(Reference::Class(id));
        let of = self
            .tables
            .types
            .iter()
            .find(|def| def.name == "[Ljava/lang/Object;");
        let of = of.map(|def| def.id).unwrap_or_else(|| {
            let id = TypeId(self.tables.types.last().map_or(0, |def| def.id.0) + 1);
            self.tables.types.insert(crate::site::TypeDef {
                id,
                name: "[Ljava/lang/Object;".to_owned(),
                loader: 0,
                constants: Vec::new(),
                fields: Vec::new(),
            });
            id
        });
        self.next.0 += 1;
        vec![
            class(lambda.body_class),
            Value::text(&lambda.body_name),
            Value::text(&lambda.body_descriptor),
            Value::Int(lambda.kind as i32),
            class(lambda.written_in),
            class(lambda.interface),
            Value::text(&lambda.method),
            Value::text(&lambda.erased),
            Value::text(&lambda.exact),
            Value::Reference(Reference::Array {
                id: self.next,
                class: of,
                length: captured.len() as u32,
                contents: Contents::Elements(captured),
            }),
        ]
    }

    fn end(&mut self, end: &End, site: SiteId, [returned, threw]: [EventKind; 2], depth: u32) {
        match end {
            End::Returned(value) => {
                self.step(returned, site, value.iter().cloned().collect(), depth);
            }
            End::Threw(value) => self.step(threw, site, vec![value.clone()], depth),
            End::Open => {}
        }
    }

    fn step(&mut self, kind: EventKind, site: SiteId, values: Vec<Value>, depth: u32) {
        self.steps.push(Step {
            thread: ThreadId(1),
            kind,
            site,
            values,
            depth,
            origin: None,
        });
    }
}

/// What a call of a method of the runtime stands for.
fn raised(tables: &Tables, statement: &Statement) -> Option<Action> {
    let site = tables.site(statement.site()?)?;
    if site.target.owner != OPERATORS {
        return None;
    }
    let class = |place: usize| match statement.given.get(place)? {
        Value::Reference(Reference::Class(id)) => Some(*id),
        _ => None,
    };
    let text = |place: usize| match statement.given.get(place)? {
        Value::Reference(Reference::String(units)) => Some(String::from_utf16_lossy(units)),
        _ => None,
    };
    let of_result = || {
        let (_, result) = site.target.descriptor.rsplit_once(')')?;
        let found = tables
            .types
            .iter()
            .find(|def| descriptor(&def.name) == result);
        found.map(|def| def.id)
    };
    Some(match site.target.name.as_str() {
        GUARD => Action::Guard,
        WHOLE => Action::Expect(Expectation::Whole(class(0)?)),
        NEXT => Action::Expect(Expectation::Next(class(0)?)),
        SAME => Action::Mark(Mark::Same),
        LEFT => Action::Mark(Mark::Left),
        START => Action::Loop(LoopVariable::Start(of_result()?)),
        EACH => Action::Loop(LoopVariable::Each(of_result()?)),
        LAMBDA => Action::Lambda(Lambda {
            body_class: class(0)?,
            body_name: text(1)?,
            body_descriptor: text(2)?,
            kind: match statement.given.get(3)? {
                Value::Int(kind) => HandleKind::from_code(u8::try_from(*kind).ok()?)?,
                _ => return None,
            },
            written_in: class(4)?,
            interface: class(5)?,
            method: text(6)?,
            erased: text(7)?,
            exact: text(8)?,
        }),
        name => {
            let operator = Operator::named(name)?;
            let fits = |shape: &&Shape| operator.of(**shape).descriptor() == site.target.descriptor;
            Action::Operate(operator.of(*operator.over().iter().find(fits)?))
        }
    })
}

fn descriptor(class: &str) -> String {
    match Shape::of_class(class) {
        Shape::Reference if class.starts_with('[') => class.to_owned(),
        Shape::Reference => format!("L{class};"),
        shape => shape.code().to_string(),
    }
}
