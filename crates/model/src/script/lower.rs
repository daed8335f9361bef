//! Scripts as scenarios: operators and the other statements that are no calls become calls of methods of the
//! runtime. The printer takes this form.

use std::collections::HashMap;

use super::{Action, Call, Expectation, Lambda, Operation, Script, Statement, text};
use crate::site::TypeDef;
use crate::value::Contents;
use crate::{
    Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, Tables, ThreadId, TypeId,
    Value,
};

/// The runtime's class whose methods are operators.
const OPERATORS: &str = "culprit/runtime/Operators";

/// The statements without a site, by the names of the methods that stand for them.
const GUARD: &str = "require";
const LAMBDA: &str = "lambda";
const WHOLE: &str = "expect";
const NEXT: &str = "tolerate";

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
            tables: lowering.tables,
            steps,
        };
        scenario.prune();
        scenario
    }
}

/// How statements that refer to some tables become steps.
struct Lowering {
    tables: Tables,
    sites: HashMap<(&'static str, String), SiteId>,
    /// The class of what a lambda captures, together.
    objects: TypeId,
}

impl Lowering {
    fn new(tables: &Tables) -> Lowering {
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
            tables,
            sites,
            objects,
        }
    }

    /// Appends the steps of a statement.
    fn steps(&self, statement: &Statement, out: &mut Vec<Step>) {
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
