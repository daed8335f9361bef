//! One method under the loom: the editor, the sites made so far, and the small sequences that all
//! plans share.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use culprit_classfile::{
    Asm, ClassFile, Code, EditPosition, Editor, HandlerSpec, Instruction, LineTable, LocalKind,
    Member, MethodContext, Pool, Simulation, VerificationType, access, op, simulate,
};
use culprit_model::value::{Shape, split_descriptor};
use culprit_model::{Site, SiteId, SiteKind};

use crate::fresh::Flow;
use crate::identity;
use crate::probe::{self, local_kind, variant};
use crate::raise;
use crate::reference::{self, Given};
use crate::{Error, ID_FIELD, Purpose, Settings, SiteNumbers, Woven};

/// A method being woven.
pub(crate) struct Weaver<'a> {
    pub(crate) class: &'a str,
    pub(crate) name: &'a str,
    pub(crate) descriptor: &'a str,
    pub(crate) access: u16,
    /// The method carries annotations that are visible at run time.
    pub(crate) annotated: bool,
    pub(crate) code: &'a Code,
    pub(crate) pool: &'a mut Pool,
    pub(crate) editor: Editor<'a>,
    /// Other classes, or handles to methods, may reach the private methods of this class.
    pub(crate) shares_privates: bool,
    /// Names and descriptors of the methods this class declares as native.
    pub(crate) natives: &'a [(String, String)],
    pub(crate) context: MethodContext,
    pub(crate) in_interface: bool,
    pub(crate) purpose: Purpose,
    /// Number of the method in its class.
    pub(crate) number: usize,
    /// Methods that calls of this one go through, on replay.
    pub(crate) detours: Vec<Member>,
    /// Where `new` became null.
    pub(crate) nulled: BTreeSet<u32>,
    simulation: Option<Rc<Simulation>>,
    /// Where values on the stack come from, once somebody asked.
    pub(crate) flow: Option<Flow>,
    lines: LineTable,
    source: Option<String>,
    /// Locals that hold the arrays of the outgoing call that is under way.
    held: Vec<u16>,
    sites: Vec<Site>,
    numbers: &'a SiteNumbers,
    temporaries: HashMap<(usize, LocalKind, String), u16>,
}

/// Number of the temporary for the receiver of `clone()`; calls use those of their arguments.
const ORIGINAL: usize = usize::MAX;

/// A member that is called or accessed.
pub(crate) struct MemberTarget<'t> {
    pub(crate) owner: &'t str,
    pub(crate) name: &'t str,
    pub(crate) descriptor: &'t str,
    pub(crate) is_static: bool,
}

/// The member that an instruction names.
pub(crate) struct NamedMember {
    owner: String,
    name: String,
    descriptor: String,
    is_static: bool,
}

impl NamedMember {
    pub(crate) fn target(&self) -> MemberTarget<'_> {
        MemberTarget {
            owner: &self.owner,
            name: &self.name,
            descriptor: &self.descriptor,
            is_static: self.is_static,
        }
    }
}

/// How a method is entered: the names of the probes.
pub(crate) struct Entrance {
    /// Tells where the thread is.
    pub(crate) here: &'static str,
    /// Whether the call crosses the border there.
    pub(crate) crosses: &'static str,
    /// Begins the record of the crossing.
    pub(crate) enter: &'static str,
    /// Ends it once the arguments are written.
    pub(crate) commit: &'static str,
}

/// Weaves every method of a class by a plan; methods that cannot be woven stay as they are.
/// `choose` says of which method references the plan must see the calls, given the instruction
/// that would do them. `finish` has the last word on the class.
pub(crate) fn weave_class(
    mut class: ClassFile,
    settings: Settings<'_>,
    numbers: &SiteNumbers,
    choose: impl Fn(u8, &MemberTarget<'_>) -> bool,
    plan: impl Fn(&mut Weaver<'_>) -> Result<bool, Error>,
    finish: impl Fn(&mut ClassFile) -> Result<(), Error>,
) -> Result<Woven, Error> {
    let class_name = class.name()?.into_owned();
    if settings.purpose == Purpose::Replay {
        raise::interface(&mut class)?;
    }
    let source = class.source_file();
    let shares_privates = [
        "NestHost",
        "NestMembers",
        "InnerClasses",
        "BootstrapMethods",
    ]
    .iter()
    .any(|name| class.attribute(name).is_some());
    let natives = natives(&class)?;
    let mut sites = Vec::new();
    let mut skipped = Vec::new();
    let given = reference::give_bodies(&mut class, settings.references, &choose);
    let Given {
        references,
        handles,
    } = given.unwrap_or_else(|error| {
        skipped.push((class_name.clone(), error.to_string()));
        Given::default()
    });
    let mut pool = std::mem::replace(&mut class.pool, Pool::new());
    let mut methods = std::mem::take(&mut class.methods);
    let mut detours = Vec::new();
    for (number, method) in methods.iter_mut().enumerate() {
        let name = pool.utf8(method.name)?.into_owned();
        let descriptor = pool.utf8(method.descriptor)?.into_owned();
        let mut strangers = settings.strangers.iter();
        if identity::is_added(method, &name, &descriptor)
            || strangers.any(|(n, d)| *n == name && *d == descriptor)
                && !reference::is_body_of(method, &name, &pool, &choose)?
        {
            continue;
        }
        let context = MethodContext {
            major: class.major,
            this_class: class.this_class,
            access: method.access,
            name: method.name,
            descriptor: method.descriptor,
        };
        let parts = MemberParts {
            class: &class_name,
            name: &name,
            descriptor: &descriptor,
            shares_privates,
            natives: &natives,
            source: source.as_deref(),
            context,
            in_interface: class.access & access::INTERFACE != 0,
            purpose: settings.purpose,
            number,
            handles: &handles,
        };
        match weave_method(method, parts, &mut pool, numbers, &plan) {
            Ok((made, more)) => {
                sites.extend(made);
                detours.extend(more);
            }
            Err(error) => skipped.push((
                format!("{}.{name}{descriptor}", class_name),
                error.to_string(),
            )),
        }
    }
    if settings.id_field {
        class.fields.push(id_field(&mut pool)?);
    }
    class.pool = pool;
    methods.append(&mut detours);
    class.methods = methods;
    if settings.id_field {
        identity::add_hash(&mut class)?;
    }
    finish(&mut class)?;
    Ok(Woven {
        bytes: class.write()?,
        sites,
        references,
        skipped,
    })
}

/// Names and descriptors of the native methods of a class.
pub(crate) fn natives(class: &ClassFile) -> Result<Vec<(String, String)>, Error> {
    let natives = class.methods.iter();
    let natives = natives.filter(|method| method.access & access::NATIVE != 0);
    natives
        .map(|method| {
            let name = class.pool.utf8(method.name)?.into_owned();
            Ok((name, class.pool.utf8(method.descriptor)?.into_owned()))
        })
        .collect()
}

/// The field that carries an object's id.
pub(crate) fn id_field(pool: &mut Pool) -> Result<Member, Error> {
    Ok(Member {
        access: access::PRIVATE | access::TRANSIENT | access::SYNTHETIC,
        name: pool.add_utf8(ID_FIELD)?,
        descriptor: pool.add_utf8("J")?,
        attributes: Vec::new(),
    })
}

#[derive(Clone, Copy)]
struct MemberParts<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    shares_privates: bool,
    natives: &'a [(String, String)],
    source: Option<&'a str>,
    context: MethodContext,
    in_interface: bool,
    purpose: Purpose,
    /// Its number in the class, for `handles`.
    number: usize,
    handles: &'a [(usize, u32, u16)],
}

fn weave_method(
    method: &mut Member,
    parts: MemberParts<'_>,
    pool: &mut Pool,
    numbers: &SiteNumbers,
    plan: &impl Fn(&mut Weaver<'_>) -> Result<bool, Error>,
) -> Result<(Vec<Site>, Vec<Member>), Error> {
    let Some(place) = method.attribute_index(pool, "Code") else {
        return Ok((Vec::new(), Vec::new()));
    };
    let code = Code::parse(&method.attributes[place], pool)?;
    if is_empty_finalizer(parts.name, parts.descriptor, &code) {
        return Ok((Vec::new(), Vec::new()));
    }
    let lines = code.lines(pool)?;
    let mut weaver = Weaver {
        class: parts.class,
        name: parts.name,
        descriptor: parts.descriptor,
        access: method.access,
        annotated: method
            .attribute(pool, "RuntimeVisibleAnnotations")
            .is_some(),
        code: &code,
        pool,
        editor: Editor::new(&code, parts.context),
        shares_privates: parts.shares_privates,
        natives: parts.natives,
        context: parts.context,
        in_interface: parts.in_interface,
        purpose: parts.purpose,
        number: parts.number,
        detours: Vec::new(),
        nulled: BTreeSet::new(),
        simulation: None,
        flow: None,
        lines,
        source: parts.source.map(str::to_owned),
        held: Vec::new(),
        sites: Vec::new(),
        numbers,
        temporaries: HashMap::new(),
    };
    let handles = parts.handles.iter().filter(|h| h.0 == parts.number);
    if !plan(&mut weaver)? {
        if handles.clone().next().is_none() {
            return Ok((Vec::new(), Vec::new()));
        }
        weaver.editor = Editor::new(&code, parts.context);
        weaver.sites.clear();
        weaver.detours.clear();
    }
    for (_, pc, handle) in handles {
        let mut asm = Asm::new();
        asm.ldc(*handle).pop();
        weaver.editor.insert_before(*pc, asm);
    }
    let Weaver {
        editor,
        sites,
        detours,
        pool,
        ..
    } = weaver;
    let edited = editor.finish(pool)?;
    method.attributes[place] = edited.write(pool)?;
    Ok((sites, detours))
}

/// An empty finalizer is to HotSpot as good as none. With code in it, every object of the class
/// would have to be finalized; with code in that of `Object`, every object of the JVM.
fn is_empty_finalizer(name: &str, descriptor: &str, code: &Code) -> bool {
    (name, descriptor) == ("finalize", "()V") && code.bytes == [op::RETURN]
}

impl Weaver<'_> {
    pub(crate) fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    pub(crate) fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// What is in the locals and on the stack before each instruction.
    pub(crate) fn simulation(&mut self) -> Result<Rc<Simulation>, Error> {
        if let Some(simulation) = &self.simulation {
            return Ok(Rc::clone(simulation));
        }
        let simulation = Rc::new(simulate(self.code, self.pool, self.context)?);
        self.simulation = Some(Rc::clone(&simulation));
        Ok(simulation)
    }

    /// Where this constructor calls `this(...)` or `super(...)`.
    pub(crate) fn this_calls(&self) -> Result<Vec<u32>, Error> {
        Ok(simulate(self.code, self.pool, self.context)?
            .this_inits()
            .collect())
    }

    /// The one call that initialises `this`, if it parts the code in two: all before it, none
    /// after it has an uninitialised `this`.
    fn parting_call(&self) -> Result<Option<u32>, Error> {
        let simulation = simulate(self.code, self.pool, self.context)?;
        let calls: Vec<u32> = simulation.this_inits().collect();
        let [call] = calls[..] else { return Ok(None) };
        for instruction in self.code.instructions() {
            let pc = instruction?.pc;
            let raw = simulation.at(pc).map(|state| state.is_this_uninitialized());
            if raw.is_some_and(|raw| raw != (pc <= call)) {
                return Ok(None);
            }
        }
        Ok(Some(call))
    }

    pub(crate) fn site(
        &mut self,
        kind: SiteKind,
        pc: Option<u32>,
        target: &MemberTarget<'_>,
    ) -> SiteId {
        let id = self.numbers.next();
        let line = match pc {
            Some(pc) => self.lines.line_at(pc),
            None => self.lines.entries().first().map(|(_, line)| *line),
        };
        self.sites.push(Site {
            id,
            kind,
            class: self.class.to_owned(),
            method: self.name.to_owned(),
            descriptor: self.descriptor.to_owned(),
            line,
            source: self.source.clone(),
            target: culprit_model::Member {
                owner: target.owner.to_owned(),
                name: target.name.to_owned(),
                descriptor: target.descriptor.to_owned(),
            },
            is_static: target.is_static,
        });
        id
    }

    /// Where lines begin: place in the code, and line.
    /// Whether an instruction calls the runtime that records what this one replays.
    pub(crate) fn is_probe_beside(&self, instruction: &Instruction<'_>) -> Result<bool, Error> {
        Ok(instruction.opcode == op::INVOKESTATIC
            && self
                .named(instruction)?
                .is_some_and(|named| named.owner.starts_with(probe::BESIDE)))
    }

    pub(crate) fn line_entries(&self) -> Vec<(u16, u16)> {
        self.lines.entries().to_vec()
    }

    /// The source line of a place in the code.
    pub(crate) fn line_at(&self, pc: u32) -> Option<u16> {
        self.lines.line_at(pc)
    }

    /// Sites made so far for this method.
    pub(crate) fn sites_made(&self) -> usize {
        self.sites.len()
    }

    /// The site of the method itself.
    pub(crate) fn own_site(&mut self, kind: SiteKind) -> SiteId {
        let (class, name, descriptor) = (self.class, self.name, self.descriptor);
        let is_static = self.is_static();
        self.site(
            kind,
            None,
            &MemberTarget {
                owner: class,
                name,
                descriptor,
                is_static,
            },
        )
    }

    /// A local that holds a token through the whole method.
    pub(crate) fn token(&mut self) -> u16 {
        self.editor.new_live_local(VerificationType::Long)
    }

    /// A temporary for the value at a position of a straight-line sequence; sequences share them.
    pub(crate) fn temporary(&mut self, position: usize, kind: LocalKind) -> u16 {
        self.temporary_for(position, kind, "")
    }

    /// A temporary for a value of some class. The verifier of versions up to 50 looks, where a
    /// handler begins, for what the classes of all values that a local had on the way have in
    /// common, and loads them for it; the program may run well without them. So there each class
    /// has a local of its own.
    pub(crate) fn temporary_for(&mut self, position: usize, kind: LocalKind, class: &str) -> u16 {
        let apart = kind == LocalKind::Reference && self.context.major <= 50;
        let class = if apart { class } else { "" };
        let editor = &mut self.editor;
        *self
            .temporaries
            .entry((position, kind, class.to_owned()))
            .or_insert_with(|| editor.new_local(kind))
    }

    /// For the same verifier: the value on the stack is of class `Object`, whatever it was. Only
    /// for values of which no more is asked.
    pub(crate) fn blur(&mut self, asm: &mut Asm) -> Result<(), Error> {
        if self.context.major <= 50 {
            asm.checkcast(self.pool.add_class("java/lang/Object")?);
        }
        Ok(())
    }

    /// A local that holds the `i`-th array of an outgoing call while that is under way, for the
    /// case that it ends with an exception.
    pub(crate) fn held(&mut self, i: usize) -> Result<u16, Error> {
        while self.held.len() <= i {
            let class = self.pool.add_class("java/lang/Object")?;
            let local = self.editor.new_live_local(VerificationType::Object(class));
            let mut entry = Asm::new();
            entry.aconst_null().astore(local);
            self.editor.insert_entry(entry);
            self.held.push(local);
        }
        Ok(self.held[i])
    }

    /// Code that records the arrays of an outgoing call that ended with an exception.
    pub(crate) fn record_held(&mut self, asm: &mut Asm, token: u16) -> Result<(), Error> {
        for local in self.held.clone() {
            asm.aload(local).lload(token);
            self.probe(asm, "held")?;
            asm.aconst_null().astore(local);
        }
        Ok(())
    }

    /// The member that an instruction names, if it names one.
    pub(crate) fn named(
        &self,
        instruction: &Instruction<'_>,
    ) -> Result<Option<NamedMember>, Error> {
        let Some(index) = instruction.pool_index() else {
            return Ok(None);
        };
        let member = self.pool.member(index)?;
        Ok(Some(NamedMember {
            owner: member.owner.into_owned(),
            name: member.name.into_owned(),
            descriptor: member.descriptor.into_owned(),
            is_static: matches!(
                instruction.opcode,
                op::INVOKESTATIC | op::GETSTATIC | op::PUTSTATIC
            ),
        }))
    }

    pub(crate) fn probe(&mut self, asm: &mut Asm, name: &str) -> Result<(), Error> {
        probe::call(asm, self.pool, name)
    }

    pub(crate) fn push_site(&mut self, asm: &mut Asm, site: SiteId) -> Result<(), Error> {
        asm.push_int(self.pool, site.0 as i32)?;
        Ok(())
    }

    /// Entry code: ask where the thread is; if the call crosses the border, ask for a token, write
    /// receiver and arguments under it, and commit.
    ///
    /// The branch is one of the method's own: the JIT sees from where this method is called, and
    /// leaves out what never happens.
    pub(crate) fn enter(
        &mut self,
        token: u16,
        site: SiteId,
        entrance: &Entrance,
    ) -> Result<(), Error> {
        let mut side = Asm::new();
        self.probe(&mut side, entrance.here)?;
        side.dup2();
        self.probe(&mut side, entrance.crosses)?;
        self.editor.insert_entry(side);
        let crossing = self.crossing(token, site, entrance)?;
        self.editor
            .insert_entry_if(crossing, vec![VerificationType::Long]);
        let mut keep = Asm::new();
        keep.lstore(token);
        self.editor.insert_entry(keep);
        Ok(())
    }

    /// Puts the token of a crossing in the place of the one on the stack.
    fn crossing(&mut self, token: u16, site: SiteId, entrance: &Entrance) -> Result<Asm, Error> {
        let mut asm = Asm::new();
        let on_receiver = !self.is_static() && !self.is_constructor();
        let shapes = parameter_shapes(self.descriptor)?;
        let mut probe = entrance.enter.to_owned();
        if on_receiver {
            asm.aload(0);
            probe.push_str("On");
        }
        // With at most one small argument one probe does it all.
        let whole = if entrance.enter == "enter" {
            whole_record(&shapes)
        } else {
            None
        };
        if let Some(suffix) = &whole {
            if let [shape] = shapes[..] {
                asm.load(local_kind(shape), u16::from(!self.is_static()));
            }
            probe.push_str(suffix);
        }
        self.push_site(&mut asm, site)?;
        self.probe(&mut asm, &probe)?;
        asm.lstore(token);
        if whole.is_none() {
            let mut local = u16::from(!self.is_static());
            for shape in shapes {
                let kind = local_kind(shape);
                asm.load(kind, local).lload(token);
                self.probe(&mut asm, &variant("put", Some(shape)))?;
                local += kind.slots();
            }
            asm.lload(token);
            self.probe(&mut asm, entrance.commit)?;
        }
        asm.lload(token);
        Ok(asm)
    }

    /// The same code before every return.
    pub(crate) fn at_returns(&mut self, asm: &Asm) -> Result<(), Error> {
        let code = self.code;
        for instruction in code.instructions() {
            let instruction = instruction?;
            if instruction.is_return() {
                self.editor.insert_before(instruction.pc, asm.clone());
            }
        }
        Ok(())
    }

    /// A probe before every return, given the value that is returned.
    pub(crate) fn before_returns(
        &mut self,
        token: u16,
        site: SiteId,
        stem: &str,
    ) -> Result<(), Error> {
        let result = result_shape(self.descriptor)?;
        let code = self.code;
        let keeps_this = !stores_local_zero(code)?;
        for instruction in code.instructions() {
            let instruction = instruction?;
            if !instruction.is_return() {
                continue;
            }
            let mut asm = Asm::new();
            let shape = match result {
                Some(shape) => {
                    asm.dup_value(local_kind(shape));
                    Some(shape)
                }
                None if self.is_constructor() => {
                    if keeps_this {
                        asm.aload(0);
                    } else {
                        asm.aconst_null();
                    }
                    Some(Shape::Reference)
                }
                None => None,
            };
            asm.lload(token);
            self.push_site(&mut asm, site)?;
            self.probe(&mut asm, &variant(stem, shape))?;
            self.editor.insert_before(instruction.pc, asm);
        }
        Ok(())
    }

    /// After `clone()`, which may come to `Object`: the added id field was copied too, and must not
    /// be. Whether the instruction is such a call.
    pub(crate) fn after_clone(&mut self, instruction: &Instruction<'_>) -> Result<bool, Error> {
        if !matches!(instruction.opcode, op::INVOKESPECIAL | op::INVOKEVIRTUAL) {
            return Ok(false);
        }
        let Some(named) = self.named(instruction)? else {
            return Ok(false);
        };
        let is_clone = named.name == "clone" && named.descriptor == "()Ljava/lang/Object;";
        if !is_clone || named.owner.starts_with('[') {
            return Ok(false);
        }
        let original = self.temporary(ORIGINAL, LocalKind::Reference);
        let mut before = Asm::new();
        before.dup().astore(original);
        self.editor.insert_before(instruction.pc, before);
        let mut after = Asm::new();
        after.dup().aload(original);
        self.probe(&mut after, "cloned")?;
        after.aconst_null().astore(original);
        self.editor.insert_after(instruction.pc, after);
        Ok(true)
    }

    /// A probe where exceptions arrive: at the start of every handler of the method.
    pub(crate) fn at_handlers(&mut self, token: u16, probe: &str) -> Result<(), Error> {
        let pcs: BTreeSet<u32> = self
            .code
            .handlers
            .iter()
            .map(|h| u32::from(h.handler))
            .collect();
        for pc in pcs {
            let mut arriving = Asm::new();
            self.record_held(&mut arriving, token)?;
            arriving.dup().lload(token);
            self.probe(&mut arriving, probe)?;
            self.editor.insert_before(pc, arriving);
        }
        Ok(())
    }

    /// A handler around the whole body that runs `body` with the exception on the stack and
    /// throws it again.
    pub(crate) fn around(&mut self, body: &Asm) -> Result<(), Error> {
        let mut body = body.clone();
        body.athrow();
        let handler = |from, to, frame_locals| HandlerSpec {
            from,
            to,
            catch_type: 0,
            frame_locals,
            body: body.clone(),
        };
        if !self.is_constructor() {
            self.editor.add_handler(handler(
                EditPosition::AfterEntry,
                EditPosition::End,
                Vec::new(),
            ));
            return Ok(());
        }
        // Before `this` is initialised a frame must say so, and afterwards it must not; the call
        // itself can be covered by neither. Where no range of code is one or the other, exceptions
        // go unseen.
        if let Some(call) = self.parting_call()? {
            let uninitialized = vec![VerificationType::UninitializedThis];
            self.editor.add_handler(handler(
                EditPosition::AfterEntry,
                EditPosition::At(call),
                uninitialized,
            ));
            self.editor.add_handler(handler(
                EditPosition::After(call),
                EditPosition::End,
                Vec::new(),
            ));
        }
        Ok(())
    }
}

/// The suffix of the probes that write a whole record, where the arguments allow it: none, or one
/// that takes one slot.
pub(crate) fn whole_record(shapes: &[Shape]) -> Option<String> {
    match shapes {
        [] => Some(variant("", None)),
        [Shape::Long | Shape::Double] => None,
        [shape] => Some(variant("", Some(*shape))),
        _ => None,
    }
}

/// Whether any instruction writes local 0, so that it may not be `this` any more.
pub(crate) fn stores_local_zero(code: &Code) -> Result<bool, Error> {
    for instruction in code.instructions() {
        let instruction = instruction?;
        let stores = (op::ISTORE..=op::ASTORE).contains(&instruction.generic_opcode());
        if stores && instruction.local() == Some(0) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn parameter_shapes(descriptor: &str) -> Result<Vec<Shape>, Error> {
    let malformed = || Error::Descriptor(descriptor.to_owned());
    let (parameters, _) = split_descriptor(descriptor).ok_or_else(malformed)?;
    parameters
        .iter()
        .map(|p| Shape::of(p).ok_or_else(malformed))
        .collect()
}

pub(crate) fn result_shape(descriptor: &str) -> Result<Option<Shape>, Error> {
    let malformed = || Error::Descriptor(descriptor.to_owned());
    match split_descriptor(descriptor).ok_or_else(malformed)?.1 {
        "V" => Ok(None),
        result => Shape::of(result).map(Some).ok_or_else(malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_woven(name: &str, descriptor: &str, body: &[u8]) -> bool {
        let mut pool = Pool::new();
        let this_class = pool.add_class("Finalized").unwrap();
        let super_class = pool.add_class("java/lang/Object").unwrap();
        let code = Code {
            max_stack: 0,
            max_locals: 2,
            bytes: body.to_vec(),
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let method = Member {
            access: access::PROTECTED,
            name: pool.add_utf8(name).unwrap(),
            descriptor: pool.add_utf8(descriptor).unwrap(),
            attributes: vec![code.write(&mut pool).unwrap()],
        };
        let class = ClassFile {
            minor: 0,
            major: 61,
            pool,
            access: access::PUBLIC,
            this_class,
            super_class,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
        };
        let settings = Settings {
            lines: None,
            strangers: &[],
            purpose: crate::Purpose::Record,
            arrays: culprit_model::options::Arrays::default(),
            id_field: false,
            kin: false,
            references: crate::References::Chosen,
        };
        let plan = |weaver: &mut Weaver<'_>| {
            let mut entry = Asm::new();
            entry.op(op::NOP);
            weaver.editor.insert_entry(entry);
            Ok(true)
        };
        let before = class.write().unwrap();
        let woven = weave_class(
            class,
            settings,
            &SiteNumbers::default(),
            |_, _| false,
            plan,
            |_| Ok(()),
        )
        .unwrap();
        assert_eq!(woven.skipped, []);
        woven.bytes != before
    }

    #[test]
    fn an_empty_finalizer_stays_empty() {
        for (name, descriptor, body, expect) in [
            ("finalize", "()V", &[op::RETURN][..], false),
            ("finalize", "()V", &[op::NOP, op::RETURN], true),
            ("finalize", "(I)V", &[op::RETURN], true),
            ("close", "()V", &[op::RETURN], true),
        ] {
            let woven = is_woven(name, descriptor, body);
            assert_eq!(woven, expect, "{name}{descriptor} {body:?}");
        }
    }
}
