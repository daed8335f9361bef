//! Calls: from call sites to the methods that they run, through code that is not traced, and back.

use culprit_trace::instructions::MAX_OPERAND;

use super::activation::{Activation, ReportedCopy};
use super::{Entry, LambdaObject, Thread, ThreadStep, World};
use crate::control::RegionStack;
use crate::graph::{DefinedValue, Dependence, NodeId, Origin};
use crate::operation::{CallSite, Operation, ValueKind};
use crate::program::{Method, Program};
use crate::shadow::{Cell, Slot};

/// The parts of an object on which a call that is not traced depends, at most.
const MOST_PARTS: usize = 256;

/// The threads among which that is looked for which started another.
const MOST_STARTERS: usize = 1024;

/// An instruction that is under way and has called something.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The call.
    pub(super) node: NodeId,
    /// The method that the call site names has begun.
    is_direct: bool,
    /// The end of that method, with its result.
    result: Option<Option<Slot>>,
    /// The results of other methods that ran meanwhile.
    pub(super) callbacks: Vec<NodeId>,
}

impl ThreadStep<'_, '_> {
    /// A method begins.
    pub(super) fn enter(&mut self, block: u32, depth: u32) -> Option<()> {
        let Some(number) = self.program.method_at(block) else {
            self.world.misfits += 1;
            return Some(());
        };
        self.unwind_to(depth.saturating_sub(1));
        let method = &self.program.methods[number];
        let (caller, locals, is_direct) = match self.thread.activations.last_mut() {
            Some(activation) => {
                let called = activation.call(self.program, self.world, method)?;
                // The first use of a class runs its initialiser, and any other use would have.
                let caller = (!is_initialiser(method)).then_some(called.node);
                (caller, called.arguments, called.is_direct)
            }
            None => {
                let caller = self.thread.statement.or_else(|| self.starter());
                let lambda = last_lambda(self.world, method);
                let given = self.thread.given.or(caller);
                let arguments = passed_through(self.world, lambda, method, given);
                (caller, arguments, false)
            }
        };
        let is_constructor = method.name == "<init>";
        let first = usize::from(is_constructor && !method.is_static);
        let mut activation = Activation {
            method: number,
            depth: depth & MAX_OPERAND,
            block: 0,
            next: 0,
            locals,
            stack: Vec::new(),
            regions: RegionStack::default(),
            caller,
            pending: None,
            copy: None,
            constructed: 0,
            returned: None,
            entry: self.world.entries.len(),
            argument: first,
            argument_slot: first,
            is_direct,
        };
        if is_constructor && !is_direct {
            let fresh = self.world.heap.fresh();
            if let Some(this) = activation.locals.first_mut() {
                this.object = fresh;
            }
        }
        self.world.entries.push(Entry {
            call: caller,
            instruction: method.first_instruction,
            arguments: Vec::new(),
        });
        self.world.locals += activation.locals.len();
        self.thread.activations.push(activation);
        Some(())
    }

    /// The call that has started this thread.
    fn starter(&mut self) -> Option<NodeId> {
        let object = self.thread.object;
        if let Some(node) = self.world.started.get(&object) {
            return Some(*node);
        }
        // The call may not have returned yet.
        for other in self.others.iter_mut().take(MOST_STARTERS) {
            let node = starting(other, self.program, self.world, object);
            if node.is_some() {
                return node;
            }
        }
        None
    }

    /// An argument of the method that has just begun.
    pub(super) fn argument(&mut self, object: Option<u32>, bits: u64) -> Option<()> {
        let is_bottom = self.thread.activations.len() == 1;
        let Some(activation) = self.thread.activations.last_mut() else {
            self.world.misfits += 1;
            return Some(());
        };
        let method = &self.program.methods[activation.method];
        let Some(kind) = method.arguments.get(activation.argument).copied() else {
            self.world.misfits += 1;
            return Some(());
        };
        let bits = object.map_or(bits, u64::from);
        if let Some(entry) = self.world.entries.get_mut(activation.entry) {
            entry.arguments.push(DefinedValue::of(kind, bits));
        }
        if let (Some(object), Some(slot)) =
            (object, activation.locals.get_mut(activation.argument_slot))
        {
            slot.object = object;
            if let (true, Some(node)) = (is_bottom, self.world.produced.get(&object)) {
                slot.definition = Some(*node);
            }
        }
        activation.argument += 1;
        activation.argument_slot += usize::from(kind.slots());
        Some(())
    }

    /// The innermost method returns.
    pub(super) fn leave(&mut self, bits: u64) -> Option<()> {
        let Some(mut activation) = self.thread.activations.pop() else {
            self.world.misfits += 1;
            return Some(());
        };
        activation.run(self.program, self.world)?;
        self.world.forget(&activation);
        if activation.step(self.program).is_some() {
            self.world.misfits += 1;
        }
        let kind = activation
            .method(self.program)
            .steps
            .get(activation.next.saturating_sub(1));
        let kind = kind.and_then(|step| step.value);
        let returned = activation.returned.map(|slot| {
            let object = match kind {
                Some(ValueKind::Object) => bits as u32,
                _ => 0,
            };
            slot.with_object(object)
        });
        let node = returned.and_then(|slot| slot.definition);
        if let (Some(node), Some(kind)) = (node, kind) {
            self.world.graph.define(node, DefinedValue::of(kind, bits));
        }
        match self
            .thread
            .activations
            .last_mut()
            .map(|it| it.pending.as_mut())
        {
            Some(Some(pending)) if activation.is_direct => pending.result = Some(returned),
            Some(Some(pending)) => pending.callbacks.extend(node),
            Some(None) => self.world.misfits += 1,
            None => self.end_of_statement(&activation, returned)?,
        }
        Some(())
    }

    /// A method returns to code that is not traced, which a statement has called: the result of the statement depends on
    /// what the program has returned.
    fn end_of_callback(&mut self, method: &Method, returned: Option<Slot>) -> Option<()> {
        if self.program.is_of_library(method) {
            return Some(());
        }
        let known = self.world.results.get(&self.thread.number).copied();
        let parents = [known, returned].into_iter().flatten();
        let parents: Vec<_> = parents.filter_map(|slot| slot.parent()).collect();
        let origin = Origin::Statement(self.thread.number);
        let node = self
            .world
            .graph
            .add(origin, self.thread.statement, parents)?;
        let slot = Slot::of(node, Dependence::Return);
        self.world.results.insert(self.thread.number, slot);
        Some(())
    }

    /// A method that the script has called returns.
    fn end_of_statement(&mut self, activation: &Activation, returned: Option<Slot>) -> Option<()> {
        let Some(statement) = self.thread.statement else {
            return Some(());
        };
        let method = activation.method(self.program);
        let called = self.world.statements.get(self.thread.number as usize);
        // Other methods run besides, such as those that load classes.
        if called.is_some_and(|it| it.method.as_ref() != Some(&method.name)) {
            return self.end_of_callback(method, returned);
        }
        self.world.result = returned.and_then(|slot| slot.definition);
        if let Some(slot) = returned.filter(|slot| slot.definition.is_some()) {
            self.world.results.insert(self.thread.number, slot);
        }
        let made = match (method.name.as_str(), returned) {
            ("<init>", _) => activation
                .locals
                .first()
                .map(|this| (this.object, statement)),
            (_, Some(slot)) => slot.definition.map(|node| (slot.object, node)),
            _ => None,
        };
        if let Some((object, node)) = made.filter(|(object, _)| *object != 0) {
            self.world.produced.insert(object, node);
        }
        Some(())
    }
}

/// The parts of an object that code which is not traced may read.
pub(super) fn read_by_others(
    world: &World<'_>,
    program: &Program,
    object: u32,
) -> Vec<(NodeId, Dependence)> {
    let mut parents: Vec<_> = world.heap.changed(object).into_iter().collect();
    let class = world.class(object);
    if class.is_some_and(|it| it.starts_with('[') || is_value(it) || !program.is_traced(it)) {
        parents.extend(world.heap.contents(object, MOST_PARTS));
    }
    parents
}

/// The call in a thread that starts the thread of an object, if it is under way.
fn starting(
    thread: &mut Thread,
    program: &Program,
    world: &mut World<'_>,
    object: u32,
) -> Option<NodeId> {
    let activation = thread.activations.last_mut()?;
    activation.run(program, world)?;
    let Operation::Invoke { call } = activation.step(program)?.operation else {
        return None;
    };
    let site = program.calls.get(call as usize)?;
    if site.name != "start" || activation.top(1).first()?.object != object {
        return None;
    }
    activation.pend(program, world, false)
}

/// The arguments with which a method begins, and the call.
struct Called {
    node: NodeId,
    arguments: Vec<Slot>,
    is_direct: bool,
}

impl Activation {
    /// The instruction that is under way calls a method, by itself or through other code.
    fn call(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        method: &Method,
    ) -> Option<Called> {
        self.run_to_call(program, world, is_initialiser(method))?;
        let site = match self.step(program).map(|step| step.operation) {
            Some(Operation::Invoke { call }) => program.calls.get(call as usize),
            _ => None,
        };
        let count = slots(method);
        let is_named = |site: &&CallSite| {
            let is_first = self
                .pending
                .as_ref()
                .is_none_or(|pending| !pending.is_direct);
            is_first
                && site.name == method.name
                && site.descriptor == method.descriptor
                && site.argument_slots() == count
        };
        let direct = match site.filter(is_named) {
            Some(_) => Some(self.top(count).to_vec()),
            None => site.and_then(|site| self.lambda_arguments(program, world, site, method)),
        };
        let is_direct = direct.is_some();
        // An initialiser is none of the call's business.
        let node = self.pend(program, world, is_direct || is_initialiser(method))?;
        if let Some(pending) = &mut self.pending {
            pending.is_direct |= is_direct;
        }
        let arguments = match direct {
            Some(arguments) => arguments,
            None => {
                // Preferably a lambda that the call was given.
                let given = self.top(site.map_or(0, CallSite::argument_slots)).iter();
                let mut given = given.map(|slot| slot.object);
                let lambda = given.find(|it| is_lambda_of(program, world, *it, method));
                let lambda = lambda.or_else(|| last_lambda(world, method));
                passed_through(world, lambda, method, Some(node))
            }
        };
        Some(Called {
            node,
            arguments,
            is_direct,
        })
    }

    /// Executes instructions up to the one that calls.
    fn run_to_call(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        is_initialiser: bool,
    ) -> Option<()> {
        if self.pending.is_some() {
            return Some(());
        }
        if is_initialiser {
            // An object may be made before the next report.
            while let Some(step) = self.step(program) {
                if step.reports || step.operation == Operation::New {
                    return Some(());
                }
                self.run_one(program, world)?;
            }
        }
        self.run(program, world)
    }

    /// The arguments of a lambda's body: captured values, then those of the call.
    fn lambda_arguments(
        &self,
        program: &Program,
        world: &World<'_>,
        site: &CallSite,
        method: &Method,
    ) -> Option<Vec<Slot>> {
        let given = self.top(site.argument_slots());
        let (receiver, given) = given.split_first().filter(|_| site.has_receiver)?;
        if !is_lambda_of(program, world, receiver.object, method) {
            return None;
        }
        let captured = &world.lambdas.get(&receiver.object)?.captured;
        let arguments: Vec<Slot> = captured.iter().chain(given).copied().collect();
        // A boxed argument takes another number of slots.
        (arguments.len() == slots(method)).then_some(arguments)
    }

    /// Notes that the instruction which is next is under way; its node.
    fn pend(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        is_direct: bool,
    ) -> Option<NodeId> {
        if let Some(pending) = &self.pending {
            return Some(pending.node);
        }
        let site = match self.step(program).map(|step| step.operation) {
            Some(Operation::Invoke { call }) => program.calls.get(call as usize),
            _ => None,
        };
        let mut parents = Vec::new();
        if let Some(site) = site {
            let given = self.top(site.argument_slots());
            match is_direct {
                // The receiver chooses the method.
                true if site.is_virtual => {
                    parents.extend(given.first().and_then(|it| it.base()));
                }
                true => {}
                false => parents = library_parents(world, program, site, given),
            }
        }
        let node = self.node(program, world, parents)?;
        self.pending = Some(Pending {
            node,
            is_direct: false,
            result: None,
            callbacks: Vec::new(),
        });
        Some(node)
    }

    /// The call that is next has returned.
    pub(super) fn end_call(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        call: u32,
        bits: u64,
    ) -> Option<()> {
        let site = program.calls.get(call as usize)?;
        let given = self.top(site.argument_slots()).to_vec();
        let object = match site.result {
            Some(ValueKind::Object) => bits as u32,
            _ => 0,
        };
        let pending = self.pending.take();
        let copy = self.copy.take();
        let direct = pending.as_ref().and_then(|it| it.result);
        let result = match direct {
            // Its result may have passed through an adapter that dropped it.
            Some(Some(slot)) => {
                let result = slot.definition.and_then(|it| world.graph.value(it));
                if let (Some(result), Some(pending)) = (result, &pending)
                    && !program.is_of_library(self.method(program))
                {
                    world.graph.define_result(pending.node, result);
                }
                Some(slot.with_object(object))
            }
            Some(None) if site.result.is_none() => None,
            _ if site.owner == "java/lang/Object" && site.name == "<init>" => None,
            _ => {
                let node = self.library_call(program, world, site, &given, pending.as_ref())?;
                if let Some(kind) = site.result {
                    world.graph.define(node, DefinedValue::of(kind, bits));
                }
                self.apply_copy(program, world, copy, node)?;
                if let Some(body) = &site.body {
                    let captured = given.clone();
                    world.last_lambdas.insert(body.clone(), object);
                    world
                        .lambdas
                        .insert(object, LambdaObject { call, captured });
                }
                if site.name == "start" && site.descriptor == "()V" {
                    let thread = given.first().map_or(0, |it| it.object);
                    world.started.insert(thread, node);
                }
                Some(Slot::of(node, Dependence::Value).with_object(object))
            }
        };
        if site.name == "<init>" {
            self.constructed = given.first().map_or(0, |it| it.object);
        }
        let left = self.stack.len().saturating_sub(given.len());
        self.stack.truncate(left);
        if let (Some(kind), Some(slot)) = (site.result, result) {
            self.push(slot, kind.slots());
        }
        Some(())
    }

    /// A call of code that is not traced is over.
    pub(super) fn library_call(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        site: &CallSite,
        given: &[Slot],
        pending: Option<&Pending>,
    ) -> Option<NodeId> {
        let mut parents = library_parents(world, program, site, given);
        if let Some(pending) = pending {
            let callbacks = pending.callbacks.iter();
            parents.extend(callbacks.map(|node| (*node, Dependence::Return)));
        }
        let node = self.node(program, world, parents)?;
        for slot in given {
            if may_change(world, program, site, slot.object) {
                world.heap.change(slot.object, node);
            }
        }
        Some(node)
    }

    fn apply_copy(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        copy: Option<ReportedCopy>,
        node: NodeId,
    ) -> Option<()> {
        match copy {
            Some(ReportedCopy::Object { original, copy }) => world.heap.duplicate(original, copy),
            Some(ReportedCopy::Elements(copy)) => {
                let (origin, control) = (self.origin(program), self.control());
                let graph = &mut world.graph;
                let mut is_full = false;
                world.heap.copy(&copy, |cell| {
                    let parents = [
                        (cell.definition, Dependence::Element),
                        (node, Dependence::Value),
                    ];
                    match graph.add(origin, control, parents) {
                        Some(definition) => Cell { definition, ..cell },
                        None => {
                            is_full = true;
                            cell
                        }
                    }
                });
                if is_full {
                    return None;
                }
            }
            None => {}
        }
        Some(())
    }
}

/// True for a call that copies parts of objects, which the trace reports.
fn is_copy(site: &CallSite) -> bool {
    match site.name.as_str() {
        "arraycopy" => site.owner == "java/lang/System",
        "clone" => site.descriptor == "()Ljava/lang/Object;",
        _ => false,
    }
}

/// What a call of code that is not traced depends on.
fn library_parents(
    world: &World<'_>,
    program: &Program,
    site: &CallSite,
    given: &[Slot],
) -> Vec<(NodeId, Dependence)> {
    // The values that a lambda captures are used by its body.
    if site.body.is_some() {
        return Vec::new();
    }
    let mut parents: Vec<_> = given.iter().filter_map(|slot| slot.parent()).collect();
    // The parts of a copy have dependences of their own.
    if is_copy(site) {
        return parents;
    }
    for slot in given.iter().filter(|slot| slot.object != 0) {
        parents.extend(world.heap.changed(slot.object));
        if is_read(world, program, site, slot.object) {
            parents.extend(world.heap.contents(slot.object, MOST_PARTS));
        }
    }
    parents
}

/// Classes whose methods reach into any object.
fn reaches_anywhere(site: &CallSite) -> bool {
    matches!(
        site.owner.as_str(),
        "jdk/internal/misc/Unsafe"
            | "sun/misc/Unsafe"
            | "java/lang/invoke/VarHandle"
            | "java/lang/reflect/Field"
            | "java/lang/reflect/Array"
    )
}

/// True for an object whose content the JVM reads without calling its methods.
fn is_read(world: &World<'_>, program: &Program, site: &CallSite, object: u32) -> bool {
    match world.class(object) {
        Some(class) => {
            class.starts_with('[')
                || is_value(class)
                || reaches_anywhere(site)
                || !program.is_traced(class)
        }
        None => true,
    }
}

/// True for an object that code which is not traced may change.
fn may_change(world: &World<'_>, program: &Program, site: &CallSite, object: u32) -> bool {
    // A lambda keeps what it captures as it is.
    if object == 0 || is_copy(site) || site.body.is_some() {
        return false;
    }
    match world.class(object) {
        Some(class) if is_value(class) => false,
        Some(class) => {
            class.starts_with('[') && !site.is_dynamic()
                || reaches_anywhere(site)
                || !program.is_traced(class)
        }
        // It is being constructed.
        None => true,
    }
}

/// True for a class whose objects never change.
fn is_value(class: &str) -> bool {
    matches!(
        class,
        "java/lang/String"
            | "java/lang/Class"
            | "java/lang/Boolean"
            | "java/lang/Byte"
            | "java/lang/Character"
            | "java/lang/Short"
            | "java/lang/Integer"
            | "java/lang/Long"
            | "java/lang/Float"
            | "java/lang/Double"
            | "java/math/BigDecimal"
            | "java/math/BigInteger"
            | "java/math/MathContext"
            | "java/util/Locale"
            | "java/util/UUID"
    ) || class.starts_with("java/time/")
}

/// True for the initialiser of a class.
fn is_initialiser(method: &Method) -> bool {
    method.name == "<clinit>"
}

/// Slots of the receiver and the arguments of a method.
fn slots(method: &Method) -> usize {
    let arguments = method.arguments.iter();
    arguments.map(|kind| usize::from(kind.slots())).sum()
}

/// True if a method is the body of a lambda.
fn is_lambda_of(program: &Program, world: &World<'_>, object: u32, method: &Method) -> bool {
    let lambda = world.lambdas.get(&object);
    let site = lambda.and_then(|it| program.calls.get(it.call as usize));
    let body = site.and_then(|site| site.body.as_ref());
    body.is_some_and(|(name, descriptor)| *name == method.name && *descriptor == method.descriptor)
}

/// The lambda that was made last of those with a body.
fn last_lambda(world: &World<'_>, method: &Method) -> Option<u32> {
    let body = (method.name.clone(), method.descriptor.clone());
    world.last_lambdas.get(&body).copied()
}

/// The arguments of a method that code in between calls: the values that a lambda has captured, and others of which
/// nobody knows how they come from the call.
fn passed_through(
    world: &World<'_>,
    lambda: Option<u32>,
    method: &Method,
    call: Option<NodeId>,
) -> Vec<Slot> {
    let unknown = call.map_or(Slot::UNKNOWN, |node| Slot::of(node, Dependence::Library));
    let lambda = lambda.and_then(|object| world.lambdas.get(&object));
    let captured = lambda.map_or(&[][..], |it| &it.captured);
    let all = captured.iter().copied().chain(std::iter::repeat(unknown));
    all.take(slots(method)).collect()
}
