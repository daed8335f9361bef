//! The def-use graph of a script: its statements as nodes, and for each object its definition and its uses with
//! the types that they want.

use std::collections::BTreeMap;

use culprit_model::script::{
    Action, Answer, AnswerPlace, Lambda, LoopVariable, ObjectOrigin, Operator, Role as Place,
    Script, Statement, StatementEnd,
};
use culprit_model::{Member, ObjectId, Reference, Site, TypeId, Value};

use crate::error::Error;
use crate::types::{self, Type};

pub(crate) struct Graph<'s> {
    pub(crate) script: &'s Script,
    pub(crate) nodes: Vec<Node<'s>>,
    pub(crate) objects: BTreeMap<ObjectId, Object<'s>>,
    /// Questions of the program that the test leaves to the real objects.
    pub(crate) left_alone: usize,
}

/// A statement.
pub(crate) struct Node<'s> {
    pub(crate) number: usize,
    pub(crate) statement: &'s Statement,
    /// The site of a call or access.
    pub(crate) site: Option<&'s Site>,
    pub(crate) receiver: Option<&'s Value>,
    /// The given values without the receiver.
    pub(crate) arguments: &'s [Value],
    pub(crate) end: &'s StatementEnd,
}

/// An object: its definition, and its uses.
pub(crate) struct Object<'s> {
    /// The name of its run-time class.
    pub(crate) class: &'s str,
    pub(crate) origin: ObjectOrigin<'s>,
    pub(crate) uses: Vec<Use>,
    /// The questions to it, if it is a stand-in, in order.
    pub(crate) asked: Vec<Question<'s>>,
}

/// One use of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    /// The statement; for an answer the one in which the question is asked.
    pub(crate) statement: usize,
    pub(crate) role: Role,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Receiver,
    /// The place of the argument, and the type of the parameter.
    Argument(usize, Type),
    /// An element of an array, a captured value, or the new value of a field.
    Stored(Type),
    /// The answer of a stand-in.
    Answer(Type),
}

/// A question to a stand-in, and its answer.
pub(crate) struct Question<'s> {
    pub(crate) place: AnswerPlace,
    pub(crate) site: &'s Site,
    pub(crate) answer: &'s StatementEnd,
    /// Arguments that the test has from nowhere else, by place.
    pub(crate) captured: Vec<(usize, ObjectId)>,
    /// Arrays among the arguments, by place, as the answer leaves them.
    pub(crate) filled: Vec<(usize, &'s Value)>,
}

impl<'s> Graph<'s> {
    pub(crate) fn of(script: &'s Script) -> Result<Graph<'s>, Error> {
        let statements = script.statements.iter().enumerate();
        let nodes = statements.map(|(number, statement)| Node::of(script, number, statement));
        let mut graph = Graph {
            script,
            nodes: nodes.collect::<Result<_, _>>()?,
            objects: BTreeMap::new(),
            left_alone: 0,
        };
        if graph.nodes.is_empty() {
            return Err(Error::Empty);
        }
        let objects = script.objects();
        for (id, object) in &objects {
            let uses = object.uses.iter().map(|each| Use {
                statement: each.statement,
                role: graph.role(each.statement, each.role),
            });
            let asked = object
                .asked
                .iter()
                .filter_map(|place| graph.question(*place));
            let object = Object {
                class: object.class,
                origin: object.origin,
                uses: uses.collect(),
                asked: asked.collect(),
            };
            graph.objects.insert(*id, object);
        }
        for (id, object) in &objects {
            if let ObjectOrigin::Captured { question, argument } = object.origin {
                let all = graph.objects.values_mut().flat_map(|it| &mut it.asked);
                for question in all.filter(|it| it.place == question) {
                    question.captured.push((argument, *id));
                }
            }
        }
        let questions: usize = script.statements.iter().map(|it| it.answers().len()).sum();
        let answered: usize = objects.values().map(|object| object.asked.len()).sum();
        graph.left_alone = questions - answered;
        Ok(graph)
    }

    /// The name of a class.
    pub(crate) fn class(&self, id: TypeId, statement: usize) -> Result<&'s str, Error> {
        let found = self.script.tables.class(id);
        found
            .map(|class| class.name.as_str())
            .ok_or(Error::Tables { statement })
    }

    /// The type that a statement declares its result to have.
    pub(crate) fn result_type(&self, node: &Node<'_>) -> Type {
        let class = self.script.result_class(node.statement);
        class.map_or_else(Type::object, Type::of_class)
    }

    /// The type of the parameter that a captured object was given for.
    pub(crate) fn captured_type(&self, question: AnswerPlace, argument: usize) -> Type {
        let site = self.script.answer(question).map(|answer| answer.site);
        let site = site.and_then(|site| self.script.tables.site(site));
        let wanted = site.map_or_else(Vec::new, |site| types::parameters(&site.target.descriptor));
        wanted
            .into_iter()
            .nth(argument)
            .unwrap_or_else(Type::object)
    }

    fn role(&self, statement: usize, place: Place) -> Role {
        match place {
            Place::Given(place) => self.nodes[statement].role(place),
            Place::Element(class) => {
                Role::Stored(match Type::of_class(self.script.class_name(class)) {
                    Type::Array(component) => *component,
                    other => other,
                })
            }
            Place::Answer { question, .. } => {
                let answer = self.script.answer(question);
                Role::Answer(answer.map_or_else(Type::object, |answer| self.answer_type(answer)))
            }
        }
    }

    fn answer_type(&self, answer: &Answer) -> Type {
        let site = self.script.tables.site(answer.site);
        let declared = site.and_then(|site| types::result(&site.target.descriptor));
        match answer.end {
            StatementEnd::Threw(_) => Type::class("java/lang/Throwable"),
            StatementEnd::Returned(_) | StatementEnd::Open => declared.unwrap_or_else(Type::object),
        }
    }

    fn question(&self, place: AnswerPlace) -> Option<Question<'s>> {
        let answer = self.script.answer(place)?;
        let arguments = answer.asked.get(1..)?;
        let filled = answer.filled.iter().filter_map(|array| {
            let same = |value: &Value| value.identity() == array.identity();
            Some((arguments.iter().position(same)?, array))
        });
        Some(Question {
            place,
            site: self.script.tables.site(answer.site)?,
            answer: &answer.end,
            captured: Vec::new(),
            filled: filled.collect(),
        })
    }
}

impl<'s> Node<'s> {
    fn of(script: &'s Script, number: usize, statement: &'s Statement) -> Result<Self, Error> {
        let is_undefined = |class: TypeId| script.tables.class(class).is_none();
        let mut lacks_class = statement.classes().into_iter().any(is_undefined);
        for value in statement.values() {
            value.each_reference(&mut |reference| {
                lacks_class |= class_of(reference).is_some_and(is_undefined);
            });
        }
        let site = script.site(statement);
        let mut answers = statement.answers().iter();
        let lacks_site = statement.site().is_some() && site.is_none()
            || answers.any(|answer| script.tables.site(answer.site).is_none());
        if lacks_class || lacks_site {
            return Err(Error::Tables { statement: number });
        }
        let is_printed = !matches!(statement.action, Action::Mark(_));
        if !is_printed || script.check_shapes(statement).is_err() {
            return Err(Error::Values { statement: number });
        }
        let (receiver, arguments) = match statement.given.split_first() {
            Some((first, rest)) if site.is_some_and(Site::has_receiver) => (Some(first), rest),
            _ => (None, statement.given.as_slice()),
        };
        Ok(Node {
            number,
            statement,
            site,
            receiver,
            arguments,
            end: &statement.end,
        })
    }

    /// The member that a call or access uses.
    pub(crate) fn target(&self) -> Option<&'s Member> {
        self.site.map(|site| &site.target)
    }

    pub(crate) fn is_constructor(&self) -> bool {
        self.site.is_some_and(Site::is_constructor)
    }

    pub(crate) fn operator(&self) -> Option<Operator> {
        self.statement.operator()
    }

    pub(crate) fn lambda(&self) -> Option<&'s Lambda> {
        self.statement.lambda()
    }

    pub(crate) fn is_guard(&self) -> bool {
        self.statement.is_guard()
    }

    /// A variable of a loop that has another value in each round.
    pub(crate) fn is_loop_value(&self) -> bool {
        matches!(self.statement.action, Action::Loop(LoopVariable::Each(_)))
    }

    /// A variable that is declared before a loop.
    pub(crate) fn is_loop_start(&self) -> bool {
        matches!(self.statement.action, Action::Loop(LoopVariable::Start(_)))
    }

    /// The object that it returns.
    pub(crate) fn result(&self) -> Option<ObjectId> {
        self.statement.defines()
    }

    /// The role of a given value.
    fn role(&self, place: usize) -> Role {
        let wanted = |descriptor: &str, place: usize| {
            let all = types::parameters(descriptor);
            let wanted = all.into_iter().nth(place);
            Role::Argument(place, wanted.unwrap_or_else(Type::object))
        };
        match (&self.statement.action, self.site) {
            (_, Some(site)) if site.has_receiver() && place == 0 => Role::Receiver,
            (Action::Write(_), Some(site)) => Role::Stored(Type::of(&site.target.descriptor)),
            (_, Some(site)) => {
                let place = place - usize::from(site.has_receiver());
                wanted(&site.target.descriptor, place)
            }
            (Action::Operate(operation), _) => wanted(&operation.descriptor(), place),
            (Action::Guard, _) => wanted("(Z)V", place),
            _ => Role::Stored(Type::object()),
        }
    }
}

fn class_of(reference: &Reference) -> Option<TypeId> {
    match reference {
        Reference::Object { class, .. }
        | Reference::Array { class, .. }
        | Reference::Class(class)
        | Reference::Enum { class, .. }
        | Reference::Constant { class, .. } => Some(*class),
        _ => None,
    }
}
