//! The code that a trace ran: methods, their instructions and where these are in the source.

mod names;

use std::collections::HashMap;

use culprit_classfile::descriptor::MethodDescriptor;
use culprit_classfile::{ClassFile, Code, LineTable, VariableTable, access, op};
use culprit_trace::instructions::{TracedClass, TracedMethod};

use crate::Error;
use crate::cfg::Cfg;
use crate::operation::{self, CallSite, Operation, ValueKind};
use crate::postdominators::PostDominators;
pub use names::Role;

/// The code of a run.
#[derive(Debug, Default)]
pub struct Program {
    classes: Vec<Class>,
    pub(crate) methods: Vec<Method>,
    pub(crate) calls: Vec<CallSite>,
    /// By the number of the first block.
    by_block: HashMap<u32, usize>,
    names: HashMap<String, usize>,
    fields: HashMap<(String, String), u32>,
}

#[derive(Debug)]
struct Class {
    name: String,
    super_name: Option<String>,
    source: Option<String>,
    fields: Vec<String>,
}

/// A method whose code was run.
#[derive(Debug)]
pub(crate) struct Method {
    class: usize,
    /// Its position in the class.
    index: u16,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) first_block: u32,
    /// The first instruction of each block, by its position in `steps`, and one more.
    pub(crate) blocks: Vec<usize>,
    pub(crate) steps: Vec<Step>,
    pub(crate) post_dominators: PostDominators,
    pub(crate) is_static: bool,
    /// The kinds of the receiver and of the arguments.
    pub(crate) arguments: Vec<ValueKind>,
    /// The number of its first instruction.
    pub(crate) first_instruction: u32,
    lines: Option<LineTable>,
    variables: VariableTable,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    pub(crate) operation: Operation,
    pub(crate) value: Option<ValueKind>,
    /// It reports that it is done.
    pub(crate) reports: bool,
    pub(crate) may_throw: bool,
}

/// Where an instruction is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The internal name of the class.
    pub class: String,
    pub method: String,
    pub descriptor: String,
    /// The name of the source file.
    pub source: Option<String>,
    pub line: Option<u16>,
    pub pc: u32,
}

impl Program {
    /// The code of some classes.
    pub(crate) fn of(classes: &[TracedClass]) -> Result<Program, Error> {
        let mut program = Program::default();
        let mut parsed = Vec::new();
        for traced in classes {
            let class = ClassFile::parse(&traced.bytes)?;
            program.add_class(&class)?;
            parsed.push((class, &traced.methods));
        }
        for (number, (class, methods)) in parsed.iter().enumerate() {
            for method in methods.iter() {
                program.add_method(number, class, method)?;
            }
        }
        Ok(program)
    }

    fn add_class(&mut self, class: &ClassFile) -> Result<(), Error> {
        let name = class.name()?.into_owned();
        let fields = class.fields.iter();
        let fields = fields.map(|field| Ok(class.pool.utf8(field.name)?.into_owned()));
        let fields = fields.collect::<Result<Vec<_>, Error>>()?;
        self.names.insert(name.clone(), self.classes.len());
        self.classes.push(Class {
            super_name: class.super_name()?.map(|it| it.into_owned()),
            source: class.source_file(),
            name,
            fields,
        });
        Ok(())
    }

    fn add_method(
        &mut self,
        number: usize,
        class: &ClassFile,
        traced: &TracedMethod,
    ) -> Result<(), Error> {
        let bad = |what| Error::Malformed(what);
        let last = self.methods.last().filter(|it| it.class == number);
        if last.is_some_and(|last| last.index >= traced.index) {
            return Err(bad("methods out of order"));
        }
        let member = class.methods.get(usize::from(traced.index));
        let member = member.ok_or(bad("a method that its class does not have"))?;
        let code = member.attribute(&class.pool, "Code");
        let code = Code::parse(code.ok_or(bad("a method without code"))?, &class.pool)?;
        let is_static = member.access & access::STATIC != 0;
        let descriptor = class.pool.utf8(member.descriptor)?.into_owned();
        let (mut steps, mut blocks) = (Vec::new(), Vec::new());
        for instruction in code.instructions() {
            let instruction = instruction?;
            let pc = instruction.pc as u16;
            if traced.blocks.get(blocks.len()) == Some(&pc) {
                blocks.push(steps.len());
            }
            let operation = match instruction.opcode {
                op::GETSTATIC..=op::PUTFIELD => self.access(class, &instruction)?,
                op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                    let call = operation::call_site(class, &instruction);
                    self.calls.push(call.ok_or(bad("a call of nothing"))?);
                    Operation::Invoke {
                        call: self.calls.len() as u32 - 1,
                    }
                }
                _ => operation::simple(&instruction),
            };
            steps.push(Step {
                pc: instruction.pc,
                operation,
                value: operation::value_kind(class, &instruction),
                reports: traced.reporting.binary_search(&pc).is_ok(),
                may_throw: operation::may_throw(instruction.opcode),
            });
        }
        if blocks.len() != traced.blocks.len() || blocks.first() != Some(&0) {
            return Err(bad("blocks that begin nowhere"));
        }
        blocks.push(steps.len());
        let cfg = Cfg::of(&code, &traced.blocks).ok_or(bad("a jump to no block"))?;
        let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
        let mut arguments = vec![ValueKind::Object; usize::from(!is_static)];
        arguments.extend(parsed.arguments().map(ValueKind::of_type));
        let first_instruction = self
            .methods
            .last()
            .map_or(0, |last| last.first_instruction + last.steps.len() as u32);
        self.by_block.insert(traced.first_block, self.methods.len());
        self.methods.push(Method {
            class: number,
            index: traced.index,
            name: class.pool.utf8(member.name)?.into_owned(),
            descriptor,
            first_block: traced.first_block,
            blocks,
            steps,
            post_dominators: cfg.post_dominators(),
            is_static,
            arguments,
            first_instruction,
            lines: code.lines(&class.pool).ok(),
            // Without names, values have none.
            variables: code.variables(&class.pool).unwrap_or_default(),
        });
        Ok(())
    }

    fn access(
        &mut self,
        class: &ClassFile,
        instruction: &culprit_classfile::Instruction<'_>,
    ) -> Result<Operation, Error> {
        let index = instruction.pool_index().unwrap_or(0);
        let member = class.pool.member(index)?;
        let slots = ValueKind::of(&member.descriptor).slots();
        let key = (
            self.declaring(&member.owner, &member.name),
            member.name.into_owned(),
        );
        let count = self.fields.len() as u32;
        let field = *self.fields.entry(key).or_insert(count);
        let is_static = matches!(instruction.opcode, op::GETSTATIC | op::PUTSTATIC);
        Ok(match instruction.opcode {
            op::GETSTATIC | op::GETFIELD => Operation::GetField {
                field,
                slots,
                is_static,
            },
            _ => Operation::PutField {
                field,
                slots,
                is_static,
            },
        })
    }

    /// The class that declares a field, looked for from `class` upwards as far as the classes are known.
    fn declaring(&self, class: &str, field: &str) -> String {
        let mut name = class.to_owned();
        // A class file may name itself as its ancestor.
        for _ in 0..self.classes.len() {
            let Some(known) = self.names.get(&name).and_then(|at| self.classes.get(*at)) else {
                break;
            };
            match &known.super_name {
                Some(above) if !known.fields.iter().any(|it| it == field) => name.clone_from(above),
                _ => break,
            }
        }
        name
    }

    /// The method whose first block has a number.
    pub(crate) fn method_at(&self, first_block: u32) -> Option<usize> {
        self.by_block.get(&first_block).copied()
    }

    /// True for the name of a class whose code was traced.
    pub(crate) fn is_traced(&self, class: &str) -> bool {
        self.names.contains_key(class)
    }

    /// The number of static instructions.
    pub fn instructions(&self) -> usize {
        self.methods.iter().map(|it| it.steps.len()).sum()
    }

    /// The number of the first instruction in the method of an instruction: it identifies the method.
    pub fn method_start(&self, instruction: u32) -> Option<u32> {
        self.method(instruction).map(|it| it.first_instruction)
    }

    fn method(&self, instruction: u32) -> Option<&Method> {
        let after = self
            .methods
            .partition_point(|it| it.first_instruction <= instruction);
        self.methods.get(after.checked_sub(1)?)
    }

    /// The place of an instruction.
    pub fn place(&self, instruction: u32) -> Option<Place> {
        let method = self.method(instruction)?;
        let step = method
            .steps
            .get((instruction - method.first_instruction) as usize)?;
        let class = self.classes.get(method.class)?;
        Some(Place {
            class: class.name.clone(),
            method: method.name.clone(),
            descriptor: method.descriptor.clone(),
            source: class.source.clone(),
            line: method
                .lines
                .as_ref()
                .and_then(|lines| lines.line_at(step.pc)),
            pc: step.pc,
        })
    }

    /// True for a method of a class of the JDK.
    pub(crate) fn is_of_library(&self, method: &Method) -> bool {
        let class = self.classes.get(method.class);
        class.is_some_and(|class| class.name.starts_with("java/"))
    }

    /// True if an instruction is in a class of the JDK.
    pub fn is_library(&self, instruction: u32) -> bool {
        let place = self.place(instruction);
        place.is_some_and(|place| place.class.starts_with("java/"))
    }
}
