//! Replays an instruction trace: the events of all threads in the order of their turns, each of which moves an
//! activation on.

mod activation;
mod calls;
mod exceptions;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use culprit_trace::instructions::{Event, EventKind, Events, InstructionTrace, TracedObject};

use crate::Error;
use crate::graph::{DefinedValue, Dependence, Graph, NodeId, Origin};
use crate::operation::ValueKind;
use crate::program::Program;
use crate::shadow::{Heap, Slot};
use activation::{Activation, Report};

/// A run with its dependences.
#[derive(Debug)]
pub struct Replayed {
    pub program: Program,
    pub graph: Graph,
    /// The objects by id, the first of which is 1.
    pub objects: Vec<TracedObject>,
    /// The activations in the order in which they began.
    pub entries: Vec<Entry>,
    /// The instruction that threw the exception which ended the script. An exception that no traced code threw is that of
    /// the last statement, with the values that it was given.
    pub exception: Option<NodeId>,
    /// The `return` of the last call of the script.
    pub result: Option<NodeId>,
    /// The instructions that were run in traced code.
    pub instructions: u64,
    /// Events that do not fit the code; dependences around them are missing.
    pub misfits: u64,
    /// The reason why the end of the run is missing.
    pub partial: Option<String>,
}

/// The beginning of an activation.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The call.
    pub call: Option<NodeId>,
    /// The first instruction of the method.
    pub instruction: u32,
    /// The receiver, except of a constructor, and the arguments.
    pub arguments: Vec<DefinedValue>,
}

/// A statement of a script, as far as its trace does not contain it.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptStatement {
    /// The statements that made or changed what it is given.
    pub sources: Vec<u32>,
    /// The method that it calls, if that is traced. Code that is not traced reads the contents of arrays and strings.
    pub method: Option<String>,
    /// The script continues only because of the values that this statement is given.
    pub is_guard: bool,
}

/// Replays the trace of a script. Statements that are not known may call any method.
pub fn replay(trace: &InstructionTrace, statements: &[ScriptStatement]) -> Result<Replayed, Error> {
    let program = Program::of(&trace.classes)?;
    let mut world = World {
        objects: &trace.objects,
        statements,
        ..World::default()
    };
    let mut threads: Vec<Thread> = trace
        .threads
        .iter()
        .map(|it| Thread::of(it.object))
        .collect();
    let mut streams: Vec<Events<'_>> = trace
        .threads
        .iter()
        .map(|it| Events::new(&it.words))
        .collect();
    // The turns to come, each with its thread.
    let mut turns: BinaryHeap<Reverse<(u32, usize)>> =
        (0..threads.len()).map(|it| Reverse((0, it))).collect();
    let mut partial = trace.ending.partial.clone();
    'turns: while let Some(Reverse((_, number))) = turns.pop() {
        // The others remain at hand, for a thread that one of them has started.
        let mut thread = std::mem::take(&mut threads[number]);
        for event in streams[number].by_ref() {
            if event.kind == EventKind::Turn {
                turns.push(Reverse((event.word(0), number)));
                break;
            }
            let step = ThreadStep {
                program: &program,
                world: &mut world,
                thread: &mut thread,
                others: &mut threads,
            };
            if step.take(&event).is_none() {
                partial = Some(TOO_MANY.to_owned());
                break 'turns;
            }
        }
        threads[number] = thread;
    }
    let mut scripted = threads.iter().filter(|it| it.statement.is_some());
    let left = scripted.find_map(|thread| thread.left);
    let exception = world.exception.or(left).or(world.last_given);
    Ok(Replayed {
        graph: world.graph,
        objects: trace.objects.clone(),
        entries: world.entries,
        // It comes last: what a trace that was cut has is another one.
        exception: exception.filter(|_| partial.is_none()),
        result: world.result,
        instructions: world.instructions,
        misfits: world.misfits,
        partial,
        program,
    })
}

/// The reason for an early end where the graph is full.
const TOO_MANY: &str = "the run has more instructions than can be sliced";

/// The state that all threads share.
#[derive(Default)]
struct World<'t> {
    graph: Graph,
    heap: Heap,
    objects: &'t [TracedObject],
    /// Lambdas by their objects.
    lambdas: HashMap<u32, LambdaObject>,
    /// The lambda that was made last of each body, by name and descriptor.
    last_lambdas: HashMap<(String, String), u32>,
    /// The calls that started threads, by the `Thread` object.
    started: HashMap<u32, NodeId>,
    /// The objects that statements have returned or constructed.
    produced: HashMap<u32, NodeId>,
    statements: &'t [ScriptStatement],
    /// The results of statements, by their numbers.
    results: HashMap<u32, Slot>,
    /// The values that the last statement is given.
    last_given: Option<NodeId>,
    /// The last guard of the script.
    guard: Option<NodeId>,
    entries: Vec<Entry>,
    exception: Option<NodeId>,
    result: Option<NodeId>,
    instructions: u64,
    misfits: u64,
    /// The locals of all open activations.
    locals: usize,
}

impl World<'_> {
    /// The locals of an activation are not needed any more.
    fn forget(&mut self, activation: &Activation) {
        self.locals = self.locals.saturating_sub(activation.locals.len());
    }

    /// The class of an object, if it has an id.
    fn class(&self, object: u32) -> Option<&str> {
        let at = object.checked_sub(1)?;
        let object = self.objects.get(at as usize)?;
        Some(&object.class)
    }
}

/// A lambda or method reference.
struct LambdaObject {
    /// The call site that made it.
    call: u32,
    /// The values that it has captured.
    captured: Vec<Slot>,
}

/// A thread and its open activations, the innermost last.
#[derive(Default)]
struct Thread {
    object: u32,
    activations: Vec<Activation>,
    /// The exception that is leaving an activation: its id, and the instruction that threw it.
    flying: Option<(u32, Slot)>,
    /// The instruction whose exception has left an activation, as long as nothing follows: a constructor that ends in
    /// `this(...)` or `super(...)` is not seen to end.
    left: Option<NodeId>,
    /// The statement of the script that is under way.
    statement: Option<NodeId>,
    /// Its number.
    number: u32,
    /// The values that it is given.
    given: Option<NodeId>,
}

impl Thread {
    fn of(object: u32) -> Thread {
        Thread {
            object,
            ..Thread::default()
        }
    }
}

/// An event of a thread, and what it may change. `None` where a graph has no room for more nodes.
struct ThreadStep<'s, 't> {
    program: &'s Program,
    world: &'s mut World<'t>,
    thread: &'s mut Thread,
    others: &'s mut [Thread],
}

impl ThreadStep<'_, '_> {
    fn take(mut self, event: &Event<'_>) -> Option<()> {
        if event.kind != EventKind::Turn {
            self.thread.left = None;
        }
        match event.kind {
            EventKind::Turn => {}
            EventKind::Statement => self.statement(event.operand)?,
            EventKind::Enter => self.enter(event.operand, event.word(0))?,
            EventKind::ArgumentInt | EventKind::ArgumentLong => {
                self.argument(None, long(event, 0))?;
            }
            EventKind::ArgumentObject => self.argument(Some(event.operand), 0)?,
            EventKind::Block => self.block(event.operand)?,
            EventKind::FieldInt | EventKind::FieldLong => {
                self.report(Report::Field {
                    object: event.operand,
                    value: long(event, 0),
                })?;
            }
            EventKind::ElementInt | EventKind::ElementLong => {
                self.report(Report::Element {
                    array: event.operand,
                    index: event.word(0),
                    value: long(event, 1),
                })?;
            }
            EventKind::MadeArray => self.report(Report::Array(event.operand))?,
            EventKind::Done => self.report(Report::Done)?,
            EventKind::Result | EventKind::ResultInt | EventKind::ResultLong => {
                self.unwind_to(event.operand);
                self.report(Report::Result(long(event, 0)))?;
            }
            EventKind::Copied | EventKind::Cloned => self.copied(event)?,
            EventKind::Initialised => self.initialised(event.operand),
            EventKind::Return | EventKind::ReturnInt | EventKind::ReturnLong => {
                self.unwind_to(event.operand);
                self.leave(long(event, 0))?;
            }
            EventKind::Left => self.left(event.operand, event.word(0))?,
            EventKind::Caught => self.caught(event.operand, event.word(0), event.word(1))?,
        }
        Some(())
    }

    fn statement(&mut self, number: u32) -> Option<()> {
        while self.pop().is_some() {}
        self.thread.flying = None;
        self.world.exception = None;
        let origin = Origin::Statement(number);
        let node = self.world.graph.add(origin, self.world.guard, [])?;
        let statement = self.world.statements.get(number as usize);
        let sources = statement.into_iter().flat_map(|it| &it.sources);
        let is_traced = statement.is_none_or(|it| it.method.is_some());
        let mut made = Vec::new();
        for slot in sources.filter_map(|source| self.world.results.get(source)) {
            made.extend(slot.parent());
            if !is_traced {
                made.extend(calls::read_by_others(self.world, self.program, slot.object));
            }
        }
        let given = match made.is_empty() {
            true => node,
            false => self.world.graph.add(origin, Some(node), made)?,
        };
        // Until a method of the program returns something, the result depends on what is given.
        let slot = Slot::of(given, Dependence::Value);
        self.world.results.insert(number, slot);
        self.world.last_given = Some(given);
        if statement.is_some_and(|it| it.is_guard) {
            self.world.guard = Some(given);
        }
        self.thread.statement = Some(node);
        self.thread.given = Some(given);
        self.thread.number = number;
        Some(())
    }

    /// Drops the activations that are deeper than one that is known to run.
    fn unwind_to(&mut self, depth: u32) {
        let is_deeper = |it: &Activation| it.depth > depth;
        while self.thread.activations.last().is_some_and(is_deeper) {
            self.pop();
        }
    }

    /// The innermost activation ends.
    fn pop(&mut self) -> Option<Activation> {
        let activation = self.thread.activations.pop()?;
        self.world.forget(&activation);
        Some(activation)
    }

    /// An instruction of the innermost activation reports that it is done.
    fn report(&mut self, report: Report) -> Option<()> {
        match self.thread.activations.last_mut() {
            Some(activation) => activation.report(self.program, self.world, report),
            None => {
                self.world.misfits += 1;
                Some(())
            }
        }
    }

    fn block(&mut self, number: u32) -> Option<()> {
        let Some(activation) = self.thread.activations.last_mut() else {
            self.world.misfits += 1;
            return Some(());
        };
        activation.go_on_with(self.program, self.world, number)
    }

    fn initialised(&mut self, object: u32) {
        if let Some(activation) = self.thread.activations.last_mut() {
            activation.initialised(self.world, object);
        }
    }

    fn copied(&mut self, event: &Event<'_>) -> Option<()> {
        match self.thread.activations.last_mut() {
            Some(activation) => activation.copied(self.program, self.world, event),
            None => Some(()),
        }
    }
}

/// The value in one or two words of an event.
fn long(event: &Event<'_>, from: usize) -> u64 {
    u64::from(event.word(from)) | u64::from(event.word(from + 1)) << 32
}

impl DefinedValue {
    fn of(kind: ValueKind, bits: u64) -> DefinedValue {
        match kind {
            ValueKind::Int => DefinedValue::Int(bits as u32 as i32),
            ValueKind::Long => DefinedValue::Long(bits as i64),
            ValueKind::Float => DefinedValue::Float(f32::from_bits(bits as u32)),
            ValueKind::Double => DefinedValue::Double(f64::from_bits(bits)),
            ValueKind::Object => DefinedValue::Object(bits as u32),
        }
    }
}
