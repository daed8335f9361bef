//! Scripts as scenarios: operators and the other statements that are no calls become calls of methods of the
//! runtime. The files that are not yet written as scripts have this form.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Action, Call, Expectation, Grouper, HandleKind, Lambda, Mark, Operation, Operator, Script,
    Statement, Ungrouped, text,
};
use crate::site::TypeDef;
use crate::value::{Contents, Shape};
use crate::{
    Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, Tables, ThreadId, TypeId,
    Value,
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

const CLASS: &str = "(Ljava/lang/Class;)V";

/// Those that are run, or printed.
const OTHERS: [(&str, &str); 4] = [
    (GUARD, "(Z)V"),
    (LAMBDA, LAMBDA_DESCRIPTOR),
    (WHOLE, CLASS),
    (NEXT, CLASS),
];

const LAMBDA_DESCRIPTOR: &str = "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;I\
    Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;\
    [Ljava/lang/Object;)Ljava/lang/Object;";

impl Script {
    /// The script as a scenario.
    pub fn lowered(&self) -> Scenario {
        let lowering = Lowering::new(&self.tables);
        let mut steps = Vec::new();
        for statement in &self.statements {
            lowering.steps(statement, &mut steps);
        }
        let mut scenario = Scenario {
            tables: (*lowering.tables).clone(),
            steps,
        };
        scenario.prune();
        scenario
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

/// How statements that refer to some tables become steps.
#[derive(Debug)]
pub struct Lowering {
    tables: Arc<Tables>,
    sites: HashMap<(&'static str, String), SiteId>,
    /// The class of what a lambda captures, together.
    objects: TypeId,
}

impl Lowering {
    pub fn new(tables: &Tables) -> Lowering {
        let mut tables = tables.clone();
        tables.threads = vec![(ThreadId(1), "main".to_owned())];
        let objects = "[Ljava/lang/Object;";
        let known = tables.types.iter().find(|class| class.name == objects);
        let objects = known.map(|class| class.id).unwrap_or_else(|| {
            let id = TypeId(tables.types.last().map_or(0, |class| class.id.0) + 1);
            tables.types.insert(TypeDef {
                id,
                name: objects.to_owned(),
                loader: 0,
                constants: Vec::new(),
                fields: Vec::new(),
            });
            id
        });
        let operators = Operation::all().map(|it| (it.operator.name(), it.descriptor()));
        let others = OTHERS.iter().map(|(name, of)| (*name, (*of).to_owned()));
        let mut sites = HashMap::new();
        for (name, descriptor) in operators.chain(others) {
            let id = SiteId(tables.sites.last().map_or(0, |site| site.id.0) + 1);
            let target = Member {
                owner: OPERATORS.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.clone(),
            };
            tables.sites.insert(Site {
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
            sites.insert((name, descriptor), id);
        }
        Lowering {
            tables: Arc::new(tables),
            sites,
            objects,
        }
    }

    /// The tables that the steps refer to.
    pub fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Appends the steps of a statement.
    pub fn steps(&self, statement: &Statement, out: &mut Vec<Step>) {
        let given = statement.given.clone();
        let (name, descriptor, given) = match &statement.action {
            Action::Call(_) | Action::Read(_) | Action::Write(_) => {
                let steps = text::steps(statement).into_iter();
                out.extend(steps.map(|step| Step {
                    thread: ThreadId(1),
                    ..step
                }));
                return;
            }
            Action::Operate(operation) => {
                (operation.operator.name(), operation.descriptor(), given)
            }
            Action::Lambda(lambda) => {
                let given = self.lambda(lambda, given, statement);
                (LAMBDA, LAMBDA_DESCRIPTOR.to_owned(), given)
            }
            Action::Guard => (GUARD, "(Z)V".to_owned(), given),
            Action::Expect(expectation) => {
                let (name, class) = match expectation {
                    Expectation::Whole(class) => (WHOLE, class),
                    Expectation::Next(class) => (NEXT, class),
                };
                let given = vec![Value::Reference(Reference::Class(*class))];
                (name, CLASS.to_owned(), given)
            }
            // Neither is run.
            Action::Mark(_) | Action::Loop(_) => return,
        };
        let site = self.sites.get(&(name, descriptor));
        let site = site.copied().unwrap_or_default();
        let call = Statement {
            action: Action::Call(Call {
                site,
                answers: Vec::new(),
            }),
            given,
            ..statement.clone()
        };
        self.steps(&call, out);
    }

    /// The ten parameters that the runtime makes a lambda of.
    fn lambda(&self, lambda: &Lambda, captured: Vec<Value>, made: &Statement) -> Vec<Value> {
        let class = |id: TypeId| Value::Reference(Reference::Class(id));
        // A name that nothing else has.
        let id = made.defines().map_or(0, |id| id.0);
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
                id: ObjectId(u64::MAX / 2 + id),
                class: self.objects,
                length: captured.len() as u32,
                contents: Contents::Elements(captured),
            }),
        ]
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
    Some(match site.target.name.as_str() {
        GUARD => Action::Guard,
        WHOLE => Action::Expect(Expectation::Whole(class(0)?)),
        NEXT => Action::Expect(Expectation::Next(class(0)?)),
        SAME => Action::Mark(Mark::Same),
        LEFT => Action::Mark(Mark::Left),
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
