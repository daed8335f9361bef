//! Decompiles the body of a lambda. Bodies with backward jumps or handlers have no tree.

use std::collections::BTreeMap;

use culprit_classfile::{ClassFile, Code, Instruction, Pool, access, op, tag};
use culprit_model::Member;
use culprit_model::script::HandleKind;
use culprit_model::value::Shape;

use crate::tree::{
    LambdaNode, LambdaSite, Lifted, Local, NumberOperator, Relation, Statement, TextPiece, Tree,
    negated,
};
use crate::types::{Type, parameters, result};

/// Instructions that are looked at: those behind two jumps are looked at twice.
const MANY: usize = 400;

/// Bytes of a body that is short enough to be read.
const LONGEST: usize = 1000;

/// The replacement for characters that are not valid.
const UNTOLD: char = '\u{fffd}';

/// The join of all paths that return.
const EXIT: u32 = u32::MAX;

/// Types of `newarray`, from 4 on.
const SCALARS: [Shape; 8] = [
    Shape::Boolean,
    Shape::Char,
    Shape::Float,
    Shape::Double,
    Shape::Byte,
    Shape::Short,
    Shape::Int,
    Shape::Long,
];

/// Int, long, float and double, as most instructions come.
const NUMBERS: [Shape; 4] = [Shape::Int, Shape::Long, Shape::Float, Shape::Double];

const SIGNS: [NumberOperator; 5] = [
    NumberOperator::Add,
    NumberOperator::Subtract,
    NumberOperator::Multiply,
    NumberOperator::Divide,
    NumberOperator::Remainder,
];

const BITS: [NumberOperator; 6] = [
    NumberOperator::ShiftLeft,
    NumberOperator::ShiftRight,
    NumberOperator::ShiftRightUnsigned,
    NumberOperator::And,
    NumberOperator::Or,
    NumberOperator::Xor,
];

/// The body that a static method has.
pub(crate) fn lift(bytes: &[u8], name: &str, descriptor: &str) -> Option<Lifted> {
    let file = ClassFile::parse(bytes).ok()?;
    let method = file.methods.iter().find(|method| {
        let is = |index: u16, text: &str| file.pool.utf8(index).is_ok_and(|it| it == text);
        is(method.name, name) && is(method.descriptor, descriptor)
    })?;
    if method.access & access::STATIC == 0 {
        return None;
    }
    let code = Code::parse(method.attribute(&file.pool, "Code")?, &file.pool).ok()?;
    if !code.handlers.is_empty() || code.bytes.len() > LONGEST {
        return None;
    }
    let types = parameters(descriptor);
    let mut slots = BTreeMap::new();
    let mut slot = 0;
    for (place, of) in types.iter().enumerate() {
        slots.insert(slot, place);
        let is_wide = matches!(of, Type::Primitive(Shape::Long | Shape::Double));
        slot += if is_wide { 2 } else { 1 };
    }
    let mut lifter = Lifter {
        file: &file,
        joins: joins(&code)?,
        code: &code,
        slots,
        locals: Vec::new(),
        seen: 0,
    };
    let (statements, is_ended) = lifter.run(0, None, &mut LiftState::default())?;
    is_ended.then_some(Lifted {
        statements,
        locals: lifter.locals,
        parameters: types,
        result: result(descriptor),
    })
}

struct Lifter<'a> {
    file: &'a ClassFile,
    code: &'a Code,
    /// For each jump, the instruction at which its paths join.
    joins: BTreeMap<u32, u32>,
    /// The parameters by their slots.
    slots: BTreeMap<u16, usize>,
    locals: Vec<Local>,
    seen: usize,
}

#[derive(Clone, Default, PartialEq)]
struct LiftState {
    stack: Vec<LiftedSlot>,
    locals: BTreeMap<u16, usize>,
}

#[derive(Clone, PartialEq)]
enum LiftedSlot {
    Of(Tree),
    /// An object of this class that has no value yet.
    New(String),
    /// A copy of the value below.
    Same,
}

impl LiftState {
    fn push(&mut self, tree: Tree) {
        self.stack.push(LiftedSlot::Of(tree));
    }

    fn pop(&mut self) -> Option<Tree> {
        match self.stack.pop()? {
            LiftedSlot::Of(tree) => Some(tree),
            _ => None,
        }
    }

    fn boxed(&mut self) -> Option<Box<Tree>> {
        self.pop().map(Box::new)
    }

    fn take(&mut self, count: usize) -> Option<Vec<Tree>> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.pop()?);
        }
        all.reverse();
        Some(all)
    }
}

impl Lifter<'_> {
    /// Statements from one place to another, and whether all ways end before they get there.
    fn run(
        &mut self,
        from: u32,
        to: Option<u32>,
        state: &mut LiftState,
    ) -> Option<(Vec<Statement>, bool)> {
        let mut all = Vec::new();
        let mut pc = from;
        while Some(pc) != to {
            self.seen += 1;
            if self.seen > MANY {
                return None;
            }
            let code = self.code;
            let instruction = Instruction::decode(&code.bytes, pc).ok()?;
            pc = instruction.next_pc();
            match instruction.opcode {
                _ if instruction.is_conditional() => {
                    let ends = self.branch(&instruction, to, state, &mut all)?;
                    match ends {
                        Some(join) => pc = join,
                        None => return Some((all, true)),
                    }
                }
                op::GOTO | op::GOTO_W => pc = u32::try_from(instruction.target()?).ok()?,
                op::RETURN => {
                    all.push(Statement::Return(None));
                    return state.stack.is_empty().then_some((all, true));
                }
                op::IRETURN..=op::ARETURN => {
                    all.push(Statement::Return(Some(state.pop()?)));
                    return state.stack.is_empty().then_some((all, true));
                }
                op::ATHROW => {
                    all.push(Statement::Throw(state.pop()?));
                    return state.stack.is_empty().then_some((all, true));
                }
                _ => {
                    if let Some(statement) = self.step(&instruction, state)? {
                        // What is on the stack was evaluated before.
                        if !state.stack.is_empty() {
                            return None;
                        }
                        all.push(statement);
                    }
                }
            }
        }
        Some((all, false))
    }

    /// Both ways from a jump. The place where they meet, or nothing where they never do.
    #[expect(clippy::option_option, reason = "to give up and to end are two things")]
    fn branch(
        &mut self,
        jump: &Instruction<'_>,
        to: Option<u32>,
        state: &mut LiftState,
        all: &mut Vec<Statement>,
    ) -> Option<Option<u32>> {
        let condition = negated(condition(jump.opcode, state)?);
        let join = self.joins.get(&jump.pc).copied();
        let join = join.filter(|join| *join != EXIT);
        let stop = join.or(to);
        let target = u32::try_from(jump.target()?).ok()?;
        let (mut yes_state, mut no_state) = (state.clone(), state.clone());
        let (yes, yes_ends) = self.run(jump.next_pc(), stop, &mut yes_state)?;
        let (no, no_ends) = self.run(target, stop, &mut no_state)?;
        let is_value = !yes_ends && !no_ends && yes.is_empty() && no.is_empty();
        if is_value && yes_state.stack.len() == state.stack.len() + 1 {
            let (yes, no) = (yes_state.pop()?, no_state.pop()?);
            if yes_state.stack != state.stack || no_state.stack != state.stack {
                return None;
            }
            state.push(Tree::choice(condition, yes, no));
            return Some(Some(join?));
        }
        let is_empty = |ends: bool, state: &LiftState| ends || state.stack.is_empty();
        let plain = is_empty(yes_ends, &yes_state) && is_empty(no_ends, &no_state);
        if !state.stack.is_empty() || !plain {
            return None;
        }
        all.push(Statement::choice(condition, yes, no));
        match yes_ends && no_ends {
            true => Some(None),
            false => Some(Some(join?)),
        }
    }

    /// One instruction that does not jump, and the statement that it ends.
    #[expect(
        clippy::option_option,
        reason = "to give up and to go on are two things"
    )]
    fn step(
        &mut self,
        instruction: &Instruction<'_>,
        state: &mut LiftState,
    ) -> Option<Option<Statement>> {
        let pool = &self.file.pool;
        let opcode = instruction.opcode;
        let made = match opcode {
            op::NOP => return Some(None),
            op::ACONST_NULL => Tree::Null,
            op::ICONST_M1..=op::ICONST_5 => Tree::Int(i32::from(opcode) - i32::from(op::ICONST_0)),
            op::LCONST_0 | op::LCONST_1 => Tree::Long(i64::from(opcode - op::LCONST_0)),
            op::FCONST_0..=op::FCONST_2 => Tree::Float(f32::from(opcode - op::FCONST_0).to_bits()),
            op::DCONST_0 | op::DCONST_1 => Tree::Double(f64::from(opcode - op::DCONST_0).to_bits()),
            op::BIPUSH => Tree::Int(i32::from(*instruction.bytes.get(1)? as i8)),
            op::SIPUSH => {
                let bytes = instruction.bytes.get(1..3)?.try_into().ok()?;
                Tree::Int(i32::from(i16::from_be_bytes(bytes)))
            }
            op::LDC | op::LDC_W | op::LDC2_W => constant(pool, instruction.pool_index()?)?,
            op::ILOAD..=op::ALOAD | op::ILOAD_0..=op::ALOAD_3 => {
                self.load(instruction.local()?, state)?
            }
            op::ISTORE..=op::ASTORE | op::ISTORE_0..=op::ASTORE_3 => {
                return Some(Some(self.store(instruction, state)?));
            }
            op::IINC => return Some(Some(self.increment(instruction, state)?)),
            op::IALOAD..=op::SALOAD => {
                let index = state.boxed()?;
                Tree::Element(array_type(opcode - op::IALOAD), state.boxed()?, index)
            }
            op::IASTORE..=op::SASTORE => return store_element(opcode, state),
            op::POP | op::POP2 => return Some(Some(Statement::Do(state.pop()?))),
            op::DUP => {
                let top = state.stack.last()?;
                let is_new = matches!(top, LiftedSlot::New(_) | LiftedSlot::Of(Tree::Array(..)));
                is_new.then_some(())?;
                state.stack.push(LiftedSlot::Same);
                return Some(None);
            }
            op::IADD..=op::DREM => {
                let at = usize::from(opcode - op::IADD);
                let right = state.boxed()?;
                Tree::Binary(SIGNS[at / 4], NUMBERS[at % 4], state.boxed()?, right)
            }
            op::INEG..=op::DNEG => {
                Tree::Negate(NUMBERS[usize::from(opcode - op::INEG)], state.boxed()?)
            }
            op::ISHL..=op::LXOR => {
                let at = usize::from(opcode - op::ISHL);
                let right = state.boxed()?;
                Tree::Binary(BITS[at / 2], NUMBERS[at % 2], state.boxed()?, right)
            }
            op::I2L..=op::I2S => Tree::Convert(converted(opcode), state.boxed()?),
            op::LCMP..=op::DCMPG => {
                let right = state.boxed()?;
                let (shape, neither) = match opcode {
                    op::LCMP => (Shape::Long, 0),
                    op::FCMPL => (Shape::Float, -1),
                    op::FCMPG => (Shape::Float, 1),
                    op::DCMPL => (Shape::Double, -1),
                    _ => (Shape::Double, 1),
                };
                Tree::Order(shape, state.boxed()?, right, neither)
            }
            op::GETSTATIC => Tree::Static(member(pool, instruction)?),
            op::GETFIELD => Tree::Field(state.boxed()?, member(pool, instruction)?),
            op::PUTSTATIC => {
                let value = state.pop()?;
                let field = Tree::Static(member(pool, instruction)?);
                return Some(Some(Statement::Assign(field, value)));
            }
            op::PUTFIELD => {
                let value = state.pop()?;
                let field = Tree::Field(state.boxed()?, member(pool, instruction)?);
                return Some(Some(Statement::Assign(field, value)));
            }
            op::INVOKEVIRTUAL | op::INVOKESTATIC | op::INVOKEINTERFACE => {
                let member = member(pool, instruction)?;
                let arguments = state.take(parameters(&member.descriptor).len())?;
                let receiver = match opcode {
                    op::INVOKESTATIC => None,
                    _ => Some(state.boxed()?),
                };
                let is_void = result(&member.descriptor).is_none();
                let call = Tree::Call(receiver, member, arguments);
                if is_void {
                    return Some(Some(Statement::Do(call)));
                }
                call
            }
            op::INVOKESPECIAL => {
                let member = member(pool, instruction)?;
                let arguments = state.take(parameters(&member.descriptor).len())?;
                let is_copy = state.stack.pop()? == LiftedSlot::Same;
                match state.stack.pop()? {
                    LiftedSlot::New(class) if is_copy && class == member.owner => {
                        Tree::New(member, arguments)
                    }
                    _ => return None,
                }
            }
            op::INVOKEDYNAMIC => self.dynamic(instruction.pool_index()?, state)?,
            op::NEW => {
                let class = pool.class_name(instruction.pool_index()?).ok()?;
                state.stack.push(LiftedSlot::New(class.into_owned()));
                return Some(None);
            }
            op::NEWARRAY => {
                let code = instruction.bytes.get(1)?.checked_sub(4)?;
                let of = Type::Primitive(*SCALARS.get(usize::from(code))?);
                Tree::Array(Type::Array(Box::new(of)), state.boxed()?, Vec::new())
            }
            op::ANEWARRAY => {
                let class = pool.class_name(instruction.pool_index()?).ok()?;
                let of = Type::Array(Box::new(Type::of_class(&class)));
                Tree::Array(of, state.boxed()?, Vec::new())
            }
            op::ARRAYLENGTH => Tree::Length(state.boxed()?),
            op::CHECKCAST | op::INSTANCEOF => {
                let class = pool.class_name(instruction.pool_index()?).ok()?;
                let of = Type::of_class(&class);
                let value = state.boxed()?;
                match opcode {
                    op::CHECKCAST => Tree::Cast(of, value),
                    _ => Tree::Instance(of, value),
                }
            }
            _ => return None,
        };
        state.push(made);
        Some(None)
    }

    fn load(&self, slot: u16, state: &LiftState) -> Option<Tree> {
        let parameter = self.slots.get(&slot).copied().map(Tree::Parameter);
        parameter.or_else(|| state.locals.get(&slot).copied().map(Tree::Local))
    }

    fn store(&mut self, instruction: &Instruction<'_>, state: &mut LiftState) -> Option<Statement> {
        let slot = instruction.local()?;
        let value = state.pop()?;
        if self.slots.contains_key(&slot) {
            return None;
        }
        let told = self.told(slot, instruction.next_pc());
        let known = state.locals.get(&slot).copied();
        let start = told.as_ref().and_then(|local| local.start);
        match known {
            Some(known) if start.is_some() && self.locals[known].start == start => {
                return Some(Statement::Assign(Tree::Local(known), value));
            }
            // It may be the same variable, or another.
            Some(_) if start.is_none() => return None,
            _ => {}
        }
        let id = self.locals.len();
        self.locals.push(told.unwrap_or(Local {
            name: None,
            of: None,
            start: None,
        }));
        state.locals.insert(slot, id);
        Some(Statement::Declare(id, value))
    }

    fn increment(&self, instruction: &Instruction<'_>, state: &LiftState) -> Option<Statement> {
        let id = *state.locals.get(&instruction.local()?)?;
        let by = match instruction.is_wide() {
            true => i32::from(i16::from_be_bytes(
                instruction.bytes.get(4..6)?.try_into().ok()?,
            )),
            false => i32::from(*instruction.bytes.get(2)? as i8),
        };
        let (local, by) = (Box::new(Tree::Local(id)), Box::new(Tree::Int(by)));
        let sum = Tree::Binary(NumberOperator::Add, Shape::Int, local, by);
        Some(Statement::Assign(Tree::Local(id), sum))
    }

    /// The entry of the class file for a variable in a slot at an instruction.
    fn told(&self, slot: u16, pc: u32) -> Option<Local> {
        let pool = &self.file.pool;
        let mut attributes = self.code.attributes.iter();
        let table = attributes.find(|it| it.is(pool, "LocalVariableTable"))?;
        let words = table.bytes.chunks_exact(2);
        let words: Vec<u16> = words.map(|w| u16::from_be_bytes([w[0], w[1]])).collect();
        words.get(1..)?.chunks_exact(5).find_map(|entry| {
            let (start, length) = (u32::from(entry[0]), u32::from(entry[1]));
            let is_here = entry[4] == slot && start <= pc && pc < start + length.max(1);
            is_here.then_some(())?;
            Some(Local {
                name: Some(pool.utf8(entry[2]).ok()?.into_owned()),
                of: Some(Type::of(&pool.utf8(entry[3]).ok()?)),
                start: Some(entry[0]),
            })
        })
    }

    /// The value of a call site: a concatenation or a lambda.
    fn dynamic(&self, index: u16, state: &mut LiftState) -> Option<Tree> {
        let pool = &self.file.pool;
        let site = pool.dynamic(index).ok()?;
        let types = parameters(&site.descriptor);
        let given = state.take(types.len())?;
        let (handle, arguments) = bootstrap(self.file, site.bootstrap)?;
        let (_, factory) = pool.method_handle(handle).ok()?;
        let factory = pool.member(factory).ok()?;
        match (&*factory.owner, &*factory.name) {
            ("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants") => {
                let (recipe, constants) = arguments.split_first()?;
                let recipe = pool.string(*recipe).ok()?.into_owned();
                concatenation(pool, &recipe, constants, types, given)
            }
            ("java/lang/invoke/StringConcatFactory", "makeConcat") => {
                let values = types.into_iter().zip(given);
                let pieces = values.map(|(of, tree)| TextPiece::Value(of, tree));
                Some(Tree::Concat(pieces.collect()))
            }
            ("java/lang/invoke/LambdaMetafactory", "metafactory") => {
                let [erased, body, exact] = arguments.as_slice() else {
                    return None;
                };
                let (kind, body) = pool.method_handle(*body).ok()?;
                let body = pool.member(body).ok()?;
                let site = LambdaSite {
                    body: Member {
                        owner: body.owner.into_owned(),
                        name: body.name.into_owned(),
                        descriptor: body.descriptor.into_owned(),
                    },
                    kind: HandleKind::from_code(kind)?,
                    interface: result(&site.descriptor)?,
                    method: site.name.into_owned(),
                    erased: pool.method_type(*erased).ok()?.into_owned(),
                    exact: pool.method_type(*exact).ok()?.into_owned(),
                };
                let captured = given;
                Some(Tree::Lambda(Box::new(LambdaNode { site, captured })))
            }
            _ => None,
        }
    }
}

/// The nearest common post-dominator of each instruction's paths; paths that throw join no other. `None` where a
/// jump leads back.
fn joins(code: &Code) -> Option<BTreeMap<u32, u32>> {
    let all: Option<Vec<_>> = code.instructions().map(Result::ok).collect();
    let mut joins: BTreeMap<u32, u32> = BTreeMap::new();
    for instruction in all?.iter().rev() {
        let mut next: Vec<u32> = Vec::new();
        if instruction.falls_through() {
            next.push(instruction.next_pc());
        }
        for target in instruction.targets() {
            let target = u32::try_from(target).ok()?;
            (target > instruction.pc).then_some(())?;
            next.push(target);
        }
        if instruction.is_return() {
            next.push(EXIT);
        }
        let way = |from: u32| {
            let chain = std::iter::successors(Some(from), |pc| joins.get(pc).copied());
            chain.collect::<Vec<u32>>()
        };
        let ways = next.into_iter().map(way);
        let mut ways: Vec<Vec<u32>> = ways.filter(|way| way.ends_with(&[EXIT])).collect();
        let Some(first) = ways.pop() else {
            continue;
        };
        let meets = |pc: &u32| ways.iter().all(|way| way.contains(pc));
        let join = first.into_iter().find(meets)?;
        joins.insert(instruction.pc, join);
    }
    Some(joins)
}

/// When a jump is taken.
fn condition(opcode: u8, state: &mut LiftState) -> Option<Tree> {
    let zero = |opcode: u8, from: u8| Relation::ALL[usize::from(opcode - from)];
    Some(match opcode {
        op::IFEQ..=op::IFLE => {
            let relation = zero(opcode, op::IFEQ);
            match state.pop()? {
                Tree::Order(shape, left, right, neither) => {
                    ordered(relation, shape, left, right, neither)
                }
                value => {
                    let none = Box::new(Tree::Int(0));
                    Tree::Compare(relation, Shape::Int, Box::new(value), none)
                }
            }
        }
        op::IF_ICMPEQ..=op::IF_ICMPLE => {
            let right = state.boxed()?;
            let relation = zero(opcode, op::IF_ICMPEQ);
            Tree::Compare(relation, Shape::Int, state.boxed()?, right)
        }
        op::IF_ACMPEQ | op::IF_ACMPNE => {
            let right = state.boxed()?;
            let relation = zero(opcode, op::IF_ACMPEQ);
            Tree::Compare(relation, Shape::Reference, state.boxed()?, right)
        }
        op::IFNULL | op::IFNONNULL => {
            let relation = zero(opcode, op::IFNULL);
            let null = Box::new(Tree::Null);
            Tree::Compare(relation, Shape::Reference, state.boxed()?, null)
        }
        _ => return None,
    })
}

/// Two numbers in this order. What is no number is in none.
fn ordered(
    relation: Relation,
    shape: Shape,
    left: Box<Tree>,
    right: Box<Tree>,
    neither: i32,
) -> Tree {
    let holds = match relation {
        Relation::Less => neither < 0,
        Relation::AtMost => neither < 0,
        Relation::Greater => neither > 0,
        Relation::AtLeast => neither > 0,
        Relation::Equal | Relation::Different => false,
    };
    match holds {
        true => {
            let opposite = Tree::Compare(relation.opposite(), shape, left, right);
            Tree::Not(Box::new(opposite))
        }
        false => Tree::Compare(relation, shape, left, right),
    }
}

/// An element of an array that is being made, or of another.
#[expect(
    clippy::option_option,
    reason = "to give up and to go on are two things"
)]
fn store_element(opcode: u8, state: &mut LiftState) -> Option<Option<Statement>> {
    let value = state.pop()?;
    let index = state.boxed()?;
    match state.stack.pop()? {
        LiftedSlot::Same => {
            let Some(LiftedSlot::Of(Tree::Array(_, _, elements))) = state.stack.last_mut() else {
                return None;
            };
            let place = i32::try_from(elements.len()).ok()?;
            (*index == Tree::Int(place)).then_some(())?;
            elements.push(value);
            Some(None)
        }
        LiftedSlot::Of(array) => {
            let of = array_type(opcode - op::IASTORE);
            let element = Tree::Element(of, Box::new(array), index);
            Some(Some(Statement::Assign(element, value)))
        }
        LiftedSlot::New(_) => None,
    }
}

/// The array that an instruction takes, by its place among them.
fn array_type(place: u8) -> Option<Type> {
    let of = match place {
        0 => Type::Primitive(Shape::Int),
        1 => Type::Primitive(Shape::Long),
        2 => Type::Primitive(Shape::Float),
        3 => Type::Primitive(Shape::Double),
        4 => Type::object(),
        6 => Type::Primitive(Shape::Char),
        7 => Type::Primitive(Shape::Short),
        // Of bytes, or of booleans.
        _ => return None,
    };
    Some(Type::Array(Box::new(of)))
}

fn converted(opcode: u8) -> Shape {
    match opcode {
        op::L2I | op::F2I | op::D2I => Shape::Int,
        op::I2L | op::F2L | op::D2L => Shape::Long,
        op::I2F | op::L2F | op::D2F => Shape::Float,
        op::I2D | op::L2D | op::F2D => Shape::Double,
        op::I2B => Shape::Byte,
        op::I2C => Shape::Char,
        _ => Shape::Short,
    }
}

fn constant(pool: &Pool, index: u16) -> Option<Tree> {
    Some(match pool.tag(index)? {
        tag::INTEGER => Tree::Int(pool.integer(index).ok()?),
        tag::LONG => Tree::Long(pool.long(index).ok()?),
        tag::FLOAT => {
            let bits = pool.bits(index).ok()?.try_into().ok()?;
            Tree::Float(u32::from_be_bytes(bits))
        }
        tag::DOUBLE => {
            let bits = pool.bits(index).ok()?.try_into().ok()?;
            Tree::Double(u64::from_be_bytes(bits))
        }
        tag::STRING => {
            let text = pool.string(index).ok()?.into_owned();
            (!text.contains(UNTOLD)).then_some(Tree::Text(text))?
        }
        tag::CLASS => Tree::Class(Type::of_class(&pool.class_name(index).ok()?)),
        _ => return None,
    })
}

fn member(pool: &Pool, instruction: &Instruction<'_>) -> Option<Member> {
    let member = pool.member(instruction.pool_index()?).ok()?;
    Some(Member {
        owner: member.owner.into_owned(),
        name: member.name.into_owned(),
        descriptor: member.descriptor.into_owned(),
    })
}

/// A text in which each `\u{1}` stands for a value, and each `\u{2}` for a constant.
fn concatenation(
    pool: &Pool,
    recipe: &str,
    constants: &[u16],
    types: Vec<Type>,
    given: Vec<Tree>,
) -> Option<Tree> {
    let mut values = types.into_iter().zip(given);
    let mut constants = constants.iter();
    let mut pieces = Vec::new();
    let mut text = String::new();
    for letter in recipe.chars() {
        match letter {
            '\u{1}' => {
                if !text.is_empty() {
                    pieces.push(TextPiece::Text(std::mem::take(&mut text)));
                }
                let (of, tree) = values.next()?;
                pieces.push(TextPiece::Value(of, tree));
            }
            '\u{2}' => match constant(pool, *constants.next()?)? {
                Tree::Text(constant) => text.push_str(&constant),
                _ => return None,
            },
            UNTOLD => return None,
            letter => text.push(letter),
        }
    }
    if !text.is_empty() {
        pieces.push(TextPiece::Text(text));
    }
    Some(Tree::Concat(pieces))
}

/// A bootstrap method: the handle, and the constants it is given.
fn bootstrap(file: &ClassFile, number: u16) -> Option<(u16, Vec<u16>)> {
    let words = file.attribute("BootstrapMethods")?.bytes.chunks_exact(2);
    let mut words = words.map(|word| u16::from_be_bytes([word[0], word[1]]));
    words.next()?;
    for _ in 0..number {
        let (_, length) = (words.next()?, words.next()?);
        words.by_ref().take(usize::from(length)).for_each(drop);
    }
    let (handle, length) = (words.next()?, words.next()?);
    Some((handle, words.take(usize::from(length)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Operators.class");

    fn parameter(place: usize) -> Box<Tree> {
        Box::new(Tree::Parameter(place))
    }

    /// A class with one static method.
    fn class(name: &str, descriptor: &str, code: &[u8]) -> Vec<u8> {
        let mut pool = Pool::new();
        let code = Code {
            max_stack: 4,
            max_locals: 4,
            bytes: code.to_vec(),
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let method = culprit_classfile::Member {
            access: access::STATIC,
            name: pool.add_utf8(name).unwrap(),
            descriptor: pool.add_utf8(descriptor).unwrap(),
            attributes: vec![code.write(&mut pool).unwrap()],
        };
        let class = ClassFile {
            minor: 0,
            major: 49,
            access: 0,
            this_class: pool.add_class("Sums").unwrap(),
            super_class: pool.add_class("java/lang/Object").unwrap(),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
            pool,
        };
        class.write().unwrap()
    }

    #[test]
    fn a_body_is_read_back() {
        let statements =
            |class: &[u8], name, descriptor| lift(class, name, descriptor).unwrap().statements;
        let sum = Tree::Binary(NumberOperator::Add, Shape::Long, parameter(0), parameter(1));
        // lload_0, lload_2, ladd, lreturn
        let add = class("add", "(JJ)J", &[0x1e, 0x20, op::LADD, op::LRETURN]);
        assert_eq!(
            statements(&add, "add", "(JJ)J"),
            [Statement::Return(Some(sum))],
            "a long takes two slots"
        );
        assert_eq!(lift(&add, "add", "(JI)J"), None, "there is no such method");
        let less = Tree::Compare(Relation::Less, Shape::Double, parameter(0), parameter(1));
        let (yes, no) = (Box::new(Tree::Int(1)), Box::new(Tree::Int(0)));
        // dload_0, dload_2, dcmpg, ifge to iconst_0, iconst_1, goto to ireturn, iconst_0, ireturn
        let is_less = [
            0x26,
            0x28,
            op::DCMPG,
            op::IFGE,
            0,
            7,
            op::ICONST_1,
            op::GOTO,
            0,
            4,
            op::ICONST_0,
            op::IRETURN,
        ];
        assert_eq!(
            statements(&class("isLess", "(DD)Z", &is_less), "isLess", "(DD)Z"),
            [Statement::Return(Some(Tree::Conditional(
                Box::new(less),
                yes,
                no
            )))]
        );
    }

    #[test]
    fn no_bytes_make_the_reader_panic() {
        let file = ClassFile::parse(CLASS).unwrap();
        let text = |index| file.pool.utf8(index).unwrap().into_owned();
        let method =
            |method: &culprit_classfile::Member| (text(method.name), text(method.descriptor));
        let methods: Vec<_> = file.methods.iter().map(method).collect();
        let mut read = 0;
        for (at, (name, descriptor)) in (0..CLASS.len()).step_by(5).zip(methods.iter().cycle()) {
            let mut bytes = CLASS.to_vec();
            bytes[at] = bytes[at].wrapping_mul(31).wrapping_add(at as u8);
            read += usize::from(lift(&bytes, name, descriptor).is_some());
        }
        assert!(read > 100, "{read} bodies");
    }
}
