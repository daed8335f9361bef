//! Generated methods do the same followed as in the JVM: same result, same exception, same effects on fields
//! and arrays.
//!
//! The methods are random but valid bytecode: numbers of all types, references, arrays, fields, branches,
//! loops, switches, handlers, calls, and the instructions that shuffle the stack, which compilers seldom
//! emit. The classes are of a version without stack map frames. `CULPRIT_GENERATED` sets the number of classes.

use std::fs;
use std::path::Path;

use culprit_classfile::{Asm, ClassFile, Code, Handler, LocalKind, Member, Pool, access, op};

use super::follow;
use crate::fixture::Fixture;
use crate::stage::{folder, on_every_jdk};

const NAME: &str = "generated/Code";
const CELL: &str = "generated/Cell";
const METHOD: &str = "(IJFDLjava/lang/Object;)J";

/// The last version whose classes need no stack map frames.
const VERSION: u16 = 49;

/// Classes in an ordinary run, and methods in a class, which `Main` calls.
const CLASSES: u64 = 24;
const METHODS: usize = 5;

/// Static fields: name and descriptor.
const FIELDS: [(&str, &str); 8] = [
    ("number", "I"),
    ("wide", "J"),
    ("single", "F"),
    ("precise", "D"),
    ("object", "Ljava/lang/Object;"),
    ("array", "[I"),
    ("objects", "[Ljava/lang/Object;"),
    // An array of strings, to which objects are written.
    ("strings", "[Ljava/lang/Object;"),
];

/// Classes of exceptions that handlers catch.
const CAUGHT: [&str; 6] = [
    "java/lang/ArithmeticException",
    "java/lang/ArrayIndexOutOfBoundsException",
    "java/lang/NullPointerException",
    "java/lang/ClassCastException",
    "java/lang/RuntimeException",
    "java/lang/Throwable",
];

/// The first local variable after the parameters: one of each kind, then the counters of loops.
const OWN: u16 = 7;
const COUNTERS: u16 = 14;
const MOST_LOCALS: u16 = 20;

/// Numbers by chance: SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// The kinds of values on the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StackKind {
    Int,
    Long,
    Float,
    Double,
    Object,
}

impl StackKind {
    const ALL: [StackKind; 5] = [
        StackKind::Int,
        StackKind::Long,
        StackKind::Float,
        StackKind::Double,
        StackKind::Object,
    ];

    /// Its local variables: the parameter, and the one of the method's own.
    fn locals(self) -> [u16; 2] {
        let parameter = match self {
            StackKind::Int => 0,
            StackKind::Long => 1,
            StackKind::Float => 3,
            StackKind::Double => 4,
            StackKind::Object => 6,
        };
        [parameter, parameter + OWN]
    }

    fn local_kind(self) -> LocalKind {
        LocalKind::of(FIELDS[self as usize].1)
    }
}

/// A method that is being generated.
struct Generator<'p> {
    chance: Chance,
    pool: &'p mut Pool,
    asm: Asm,
    handlers: Vec<Handler>,
    /// The number of this method; it calls those before it.
    number: usize,
    /// Calls of generated methods that are left.
    calls: usize,
    loops: u16,
}

impl Generator<'_> {
    fn pc(&self) -> u16 {
        u16::try_from(self.asm.len()).unwrap()
    }

    fn op(&mut self, opcode: u8) {
        self.asm.op(opcode);
    }

    fn field(&mut self, opcode: u8, field: usize) {
        let (name, descriptor) = FIELDS[field];
        let index = self.pool.add_field_ref(NAME, name, descriptor).unwrap();
        self.asm.op_index(opcode, index);
    }

    fn class(&mut self, opcode: u8, name: &str) {
        let index = self.pool.add_class(name).unwrap();
        self.asm.op_index(opcode, index);
    }

    fn call(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) {
        let index = self.pool.add_method_ref(owner, name, descriptor).unwrap();
        self.asm.op_index(opcode, index);
    }

    /// A jump whose target is set by `land`; its place.
    fn jump(&mut self, opcode: u8) -> usize {
        let at = self.asm.len();
        self.asm.op_index(opcode, 0);
        at
    }

    fn constant(&mut self, kind: StackKind) {
        match kind {
            StackKind::Int => {
                let value = self.chance.next() as i32;
                let value = self
                    .chance
                    .one_of(&[0, 1, -1, 5, 32, 300, i32::MIN, i32::MAX, value]);
                self.asm.push_int(self.pool, value).unwrap();
            }
            StackKind::Long => {
                let value = self.chance.next() as i64;
                let value = self
                    .chance
                    .one_of(&[0, 1, -1, 63, 1 << 33, i64::MIN, i64::MAX, value]);
                self.asm.push_long(self.pool, value).unwrap();
            }
            StackKind::Float => {
                let opcode = self
                    .chance
                    .one_of(&[op::FCONST_0, op::FCONST_0 + 1, op::FCONST_2]);
                self.op(opcode);
            }
            StackKind::Double => {
                let opcode = self.chance.one_of(&[op::DCONST_0, op::DCONST_1]);
                self.op(opcode);
            }
            StackKind::Object => match self.chance.below(3) {
                0 => self.op(op::ACONST_NULL),
                _ => {
                    let text = self.chance.one_of(&["", "a", "some text"]);
                    self.asm.push_string(self.pool, text).unwrap();
                }
            },
        }
    }

    /// Pushes a value.
    fn value(&mut self, kind: StackKind, depth: usize) {
        match self.chance.below(if depth == 0 { 3 } else { 9 }) {
            0 => self.constant(kind),
            1 => {
                let local = self.chance.one_of(&kind.locals());
                self.asm.load(kind.local_kind(), local);
            }
            2 => self.field(op::GETSTATIC, kind as usize),
            _ => match kind {
                StackKind::Int => self.int(depth - 1),
                StackKind::Long => self.long(depth - 1),
                StackKind::Float => self.number(kind, depth - 1),
                StackKind::Double => self.number(kind, depth - 1),
                StackKind::Object => self.object(depth - 1),
            },
        }
    }

    fn int(&mut self, depth: usize) {
        match self.chance.below(12) {
            0 => {
                self.value(StackKind::Object, depth);
                self.class(op::INSTANCEOF, "java/lang/String");
            }
            1 => {
                self.field(op::GETSTATIC, 5);
                self.op(op::ARRAYLENGTH);
            }
            2 => {
                self.field(op::GETSTATIC, 5);
                self.index(depth);
                self.op(op::IALOAD);
            }
            3 if self.chance.below(3) == 0 => {
                self.value(StackKind::Object, depth);
                self.class(op::CHECKCAST, CELL);
                let field = self.pool.add_field_ref(CELL, "number", "I").unwrap();
                self.asm.op_index(op::GETFIELD, field);
            }
            4 if self.chance.below(3) == 0 => {
                self.value(StackKind::Object, depth);
                self.class(op::CHECKCAST, "java/lang/String");
                self.call(op::INVOKEVIRTUAL, "java/lang/String", "length", "()I");
            }
            5 => {
                let kind =
                    self.chance
                        .one_of(&[StackKind::Long, StackKind::Float, StackKind::Double]);
                self.value(kind, depth);
                self.value(kind, depth);
                let opcode = match kind {
                    StackKind::Long => op::LCMP,
                    StackKind::Float => op::LCMP + 1 + self.chance.below(2) as u8,
                    _ => op::LCMP + 3 + self.chance.below(2) as u8,
                };
                self.op(opcode);
            }
            6 => {
                self.value(StackKind::Int, depth);
                let narrow = op::I2S - self.chance.below(3) as u8;
                self.op(narrow);
            }
            7 => {
                // An int below a long, and the other way round.
                self.value(StackKind::Long, depth);
                self.value(StackKind::Int, depth);
                self.asm.op(op::DUP_X2).pop();
                self.op(op::L2I);
                self.op(op::IADD);
            }
            8 => {
                self.value(StackKind::Int, depth);
                self.value(StackKind::Int, depth);
                self.asm.op(op::DUP_X1);
                self.op(op::ISUB);
                self.op(op::IXOR);
            }
            9 => {
                self.value(StackKind::Int, depth);
                self.value(StackKind::Int, depth);
                self.asm.swap();
                self.op(op::ISUB);
            }
            _ => self.number(StackKind::Int, depth),
        }
    }

    fn long(&mut self, depth: usize) {
        match self.chance.below(6) {
            0 if self.calls > 0 && self.number > 0 && self.loops == 0 => {
                self.calls -= 1;
                for kind in StackKind::ALL {
                    self.value(kind, depth.min(1));
                }
                let callee = format!("m{}", self.chance.below(self.number));
                self.call(op::INVOKESTATIC, NAME, &callee, METHOD);
            }
            1 => {
                self.value(StackKind::Long, depth);
                self.value(StackKind::Long, depth);
                self.asm.op(op::DUP2_X2);
                self.op(op::LSUB);
                self.op(op::LXOR);
            }
            2 => {
                self.value(StackKind::Int, depth);
                self.value(StackKind::Long, depth);
                self.asm.op(op::DUP2_X1).op(op::POP2);
                self.op(op::I2L);
                self.op(op::LMUL);
            }
            _ => self.number(StackKind::Long, depth),
        }
    }

    /// Arithmetic, a negation or a conversion.
    fn number(&mut self, kind: StackKind, depth: usize) {
        let at = kind as u8;
        match self.chance.below(6) {
            0 => {
                self.value(kind, depth);
                self.op(op::INEG + at);
            }
            1 => {
                let from = self.chance.one_of(&[
                    StackKind::Int,
                    StackKind::Long,
                    StackKind::Float,
                    StackKind::Double,
                ]);
                self.value(from, depth);
                if from != kind {
                    // Three conversions from each kind, without the one to itself.
                    let to = at - u8::from(kind as u8 > from as u8);
                    self.op(op::I2L + 3 * from as u8 + to);
                }
            }
            2 if matches!(kind, StackKind::Int | StackKind::Long) => {
                self.value(kind, depth);
                self.value(StackKind::Int, depth);
                let shift = op::ISHL + 2 * self.chance.below(3) as u8;
                self.op(shift + at);
            }
            3 if matches!(kind, StackKind::Int | StackKind::Long) => {
                self.value(kind, depth);
                self.value(kind, depth);
                let bits = op::ISHL + 6 + 2 * self.chance.below(3) as u8;
                self.op(bits + at);
            }
            _ => {
                self.value(kind, depth);
                self.value(kind, depth);
                let sum = op::IADD + 4 * self.chance.below(5) as u8;
                self.op(sum + at);
            }
        }
    }

    fn object(&mut self, depth: usize) {
        match self.chance.below(4) {
            0 => {
                self.class(op::NEW, CELL);
                self.asm.dup();
                self.value(StackKind::Int, depth);
                self.call(op::INVOKESPECIAL, CELL, "<init>", "(I)V");
            }
            1 => {
                let field = 6 + self.chance.below(2);
                self.field(op::GETSTATIC, field);
                self.index(depth);
                self.op(op::AALOAD);
            }
            2 => {
                self.value(StackKind::Int, depth);
                let (owner, name) = ("java/lang/String", "valueOf");
                self.call(op::INVOKESTATIC, owner, name, "(I)Ljava/lang/String;");
            }
            _ => {
                self.value(StackKind::Object, depth);
                let class = self.chance.one_of(&["java/lang/String", CELL]);
                self.class(op::CHECKCAST, class);
            }
        }
    }

    /// Pushes an index of an array of eight elements, which is seldom outside.
    fn index(&mut self, depth: usize) {
        self.value(StackKind::Int, depth);
        if self.chance.below(5) > 0 {
            self.asm.push_int(self.pool, 7).unwrap();
            self.op(op::IAND);
        }
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.chance.below(4) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.chance.below(if depth == 0 { 7 } else { 12 }) {
            0 | 1 => {
                let kind = self.chance.one_of(&StackKind::ALL);
                self.value(kind, 3);
                let local = self.chance.one_of(&kind.locals());
                self.asm.store(kind.local_kind(), local);
            }
            2 => {
                let kind = self.chance.one_of(&StackKind::ALL);
                self.value(kind, 3);
                self.field(op::PUTSTATIC, kind as usize);
            }
            3 => {
                self.field(op::GETSTATIC, 5);
                self.index(2);
                self.value(StackKind::Int, 2);
                self.op(op::IASTORE);
            }
            4 => {
                let field = 6 + self.chance.below(2);
                self.field(op::GETSTATIC, field);
                self.index(2);
                self.value(StackKind::Object, 2);
                self.op(op::AASTORE);
            }
            5 => {
                self.value(StackKind::Object, 2);
                self.class(op::CHECKCAST, CELL);
                self.value(StackKind::Int, 2);
                let field = self.pool.add_field_ref(CELL, "number", "I").unwrap();
                self.asm.op_index(op::PUTFIELD, field);
            }
            6 => {
                let local = self.chance.one_of(&StackKind::Int.locals());
                let by = self.chance.next() as u8;
                self.asm.raw(&[op::IINC, local as u8, by]);
            }
            7 | 8 => self.branch(depth - 1),
            9 => self.repeat(depth - 1),
            10 => self.switch(depth - 1),
            _ => self.attempt(depth - 1),
        }
    }

    fn branch(&mut self, depth: usize) {
        let opcode = match self.chance.below(4) {
            0 => {
                self.value(StackKind::Int, 2);
                op::IFEQ + self.chance.below(6) as u8
            }
            1 => {
                self.value(StackKind::Object, 2);
                self.chance.one_of(&[op::IFNULL, op::IFNONNULL])
            }
            2 => {
                self.value(StackKind::Object, 2);
                self.value(StackKind::Object, 1);
                self.chance.one_of(&[op::IF_ACMPEQ, op::IF_ACMPNE])
            }
            _ => {
                self.value(StackKind::Int, 2);
                self.value(StackKind::Int, 2);
                op::IF_ICMPEQ + self.chance.below(6) as u8
            }
        };
        let past = self.jump(opcode);
        self.statements(depth);
        let end = self.jump(op::GOTO);
        self.land(past);
        self.statements(depth);
        self.land(end);
    }

    fn repeat(&mut self, depth: usize) {
        let counter = COUNTERS + self.loops;
        if counter >= MOST_LOCALS {
            return self.statements(depth);
        }
        self.loops += 1;
        self.op(op::ICONST_0);
        self.asm.istore(counter);
        let start = self.asm.len();
        self.asm.iload(counter);
        self.asm.push_int(self.pool, 3).unwrap();
        let end = self.jump(op::IF_ICMPGE);
        self.statements(depth);
        self.asm.raw(&[op::IINC, counter as u8, 1]);
        let back = self.jump(op::GOTO);
        self.aim(back, start);
        self.land(end);
        self.loops -= 1;
    }

    fn switch(&mut self, depth: usize) {
        self.value(StackKind::Int, 2);
        let is_table = self.chance.below(2) == 0;
        if is_table {
            self.asm.push_int(self.pool, 3).unwrap();
            self.op(op::IAND);
        }
        let at = self.asm.len();
        self.op(match is_table {
            true => op::TABLESWITCH,
            false => op::LOOKUPSWITCH,
        });
        while self.asm.len() % 4 != 0 {
            self.asm.raw(&[0]);
        }
        let default = self.asm.len();
        self.asm.raw(&[0; 4]);
        let mut targets = vec![default];
        if is_table {
            self.asm.raw(&0i32.to_be_bytes()).raw(&2i32.to_be_bytes());
        } else {
            self.asm.raw(&3i32.to_be_bytes());
        }
        for key in [-1i32, 0, 1] {
            if !is_table {
                self.asm.raw(&key.to_be_bytes());
            }
            targets.push(self.asm.len());
            self.asm.raw(&[0; 4]);
        }
        let mut ends = Vec::new();
        for target in targets {
            let offset = (self.asm.len() - at) as u32;
            self.patch(target, &offset.to_be_bytes());
            self.statements(depth);
            // Some cases fall into the next one.
            if self.chance.below(3) > 0 {
                ends.push(self.jump(op::GOTO));
            }
        }
        for end in ends {
            self.land(end);
        }
    }

    fn attempt(&mut self, depth: usize) {
        let start = self.pc();
        self.statements(depth);
        let end = self.pc();
        let past = self.jump(op::GOTO);
        let handler = self.pc();
        let caught = self.chance.below(CAUGHT.len() + 1);
        let catch_type = CAUGHT.get(caught).map(|name| self.pool.add_class(name));
        self.handlers.push(Handler {
            start,
            end,
            handler,
            catch_type: catch_type.map_or(0, Result::unwrap),
        });
        let local = self.chance.one_of(&StackKind::Object.locals());
        self.asm.astore(local);
        self.statements(depth);
        if self.chance.below(4) == 0 {
            self.asm.aload(local);
            self.class(op::CHECKCAST, "java/lang/Throwable");
            // The rest must be reachable for the verifier.
            self.value(StackKind::Int, 1);
            let skip = self.jump(op::IFEQ);
            self.asm.athrow();
            self.land(skip);
            self.asm.pop();
        }
        self.land(past);
    }

    /// Has a jump go to where the next instruction will be.
    fn land(&mut self, jump: usize) {
        let target = self.asm.len();
        self.aim(jump, target);
    }

    fn aim(&mut self, jump: usize, target: usize) {
        let offset = i16::try_from(target as i64 - jump as i64).unwrap();
        self.patch(jump + 1, &offset.to_be_bytes());
    }

    fn patch(&mut self, at: usize, bytes: &[u8]) {
        let mut all = self.asm.bytes().to_vec();
        all[at..at + bytes.len()].copy_from_slice(bytes);
        let mut asm = Asm::new();
        asm.raw(&all);
        self.asm = asm;
    }

    /// The whole method.
    fn method(mut self) -> Member {
        for kind in StackKind::ALL {
            self.constant(kind);
            self.asm.store(kind.local_kind(), kind.locals()[1]);
        }
        for counter in COUNTERS..MOST_LOCALS {
            self.op(op::ICONST_0);
            self.asm.istore(counter);
        }
        for _ in 0..3 {
            self.attempt(2);
            self.statements(2);
        }
        self.value(StackKind::Long, 3);
        self.op(op::LRETURN);
        let code = Code {
            max_stack: 64,
            max_locals: MOST_LOCALS,
            bytes: self.asm.bytes().to_vec(),
            handlers: self.handlers,
            attributes: Vec::new(),
        };
        Member {
            access: access::PUBLIC | access::STATIC,
            name: self.pool.add_utf8(&format!("m{}", self.number)).unwrap(),
            descriptor: self.pool.add_utf8(METHOD).unwrap(),
            attributes: vec![code.write(self.pool).unwrap()],
        }
    }
}

/// The class of a seed.
fn class(seed: u64) -> Vec<u8> {
    let mut pool = Pool::new();
    let mut chance = Chance(seed);
    let mut methods = Vec::new();
    for number in 0..METHODS {
        let generator = Generator {
            chance: Chance(chance.next()),
            pool: &mut pool,
            asm: Asm::new(),
            handlers: Vec::new(),
            number,
            calls: 2,
            loops: 0,
        };
        methods.push(generator.method());
    }
    let fields = FIELDS.map(|(name, descriptor)| Member {
        access: access::PUBLIC | access::STATIC,
        name: pool.add_utf8(name).unwrap(),
        descriptor: pool.add_utf8(descriptor).unwrap(),
        attributes: Vec::new(),
    });
    let class = ClassFile {
        minor: 0,
        major: VERSION,
        access: access::PUBLIC | 0x0020, // ACC_SUPER
        this_class: pool.add_class(NAME).unwrap(),
        super_class: pool.add_class("java/lang/Object").unwrap(),
        interfaces: Vec::new(),
        fields: fields.into(),
        methods,
        attributes: Vec::new(),
        pool,
    };
    class.write().unwrap()
}

fn write_classes(folder: &Path) -> Vec<String> {
    let wanted = std::env::var("CULPRIT_GENERATED").ok();
    let count = wanted.map_or(CLASSES, |count| count.parse().unwrap());
    let write = |seed: u64| {
        let place = folder.join(format!("seed-{seed}"));
        fs::create_dir_all(place.join("generated")).unwrap();
        fs::write(place.join(format!("{NAME}.class")), class(seed)).unwrap();
        place.display().to_string()
    };
    (0..count).map(write).collect()
}

#[test]
fn generated_methods_do_the_same_as_in_the_jvm() {
    let fixture = Fixture::named("follow/generated");
    let classes = folder();
    let places = write_classes(classes.path());
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    on_every_jdk(&fixture, |stage| {
        let plain = stage.run(&fixture).args(&places).plain();
        assert_eq!((plain.status, plain.err.as_str()), (0, ""), "{}", plain.out);
        let (followed, script) = follow(stage, &fixture, "generated.Code", &places);
        let mut seed = "";
        for (plain, followed) in plain.out.lines().zip(followed.out.lines()) {
            if plain.starts_with("seed-") {
                seed = plain;
            }
            assert_eq!(followed, plain, "{seed} on JDK {}", stage.feature());
        }
        assert_eq!(followed, plain, "JDK {}", stage.feature());
        assert!(!script.statements.is_empty());
    });
}
