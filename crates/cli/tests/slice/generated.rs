//! Generated programs: a seeded generator of straight-line, branching and looping code on integers, fields, arrays and
//! collections, with each statement on a line of its own.

use std::fmt::Write;

/// The numbers of variables, objects, and of fields, elements and static fields.
pub(crate) const VARIABLES: usize = 4;
pub(crate) const OBJECTS: usize = 3;
pub(crate) const SLOTS: usize = 4;

/// The parts of Java that a program uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// Code of the program alone.
    Own,
    /// Also collections of the JDK.
    Collections,
}

/// A program: a method `run` that returns a number.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Program {
    pub(crate) statements: Vec<Statement>,
    profile: Profile,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Statement {
    /// The line, once the program was printed.
    pub(crate) line: u16,
    pub(crate) action: Action,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    Assign(usize, Expression),
    Increment(usize),
    /// `o1 = o0`, `o1 = new Box()` without a source.
    Object(usize, Option<usize>),
    SetField(Slot, Expression),
    SetStatic(usize, Expression),
    /// The array is made, with all its elements.
    Array,
    SetElement(usize, Expression),
    /// The list or the map is made.
    List,
    Map,
    SetListed(usize, Expression),
    PutMapped(usize, Expression),
    /// `v0 = mix(v1, v2)`.
    Call(usize, [usize; 2]),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// The counter is assigned and increased by statements of their own.
    While(Condition, Vec<Statement>),
    Return(Expression),
    /// What is left of a statement that was removed.
    Nothing,
}

/// A field of the object in a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) object: usize,
    pub(crate) field: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Expression {
    pub(crate) left: Operand,
    pub(crate) operator: char,
    pub(crate) right: Operand,
    pub(crate) constant: i32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    Variable(usize),
    Field(Slot),
    Static(usize),
    /// `array[v0 & 3]`.
    Element(usize),
    Listed(usize),
    Mapped(usize),
}

/// `left < constant`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Condition {
    pub(crate) left: Operand,
    pub(crate) constant: i32,
}

/// Numbers by chance, the same for the same seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn constant(&mut self) -> i32 {
        self.below(40) as i32 - 10
    }
}

/// Makes a program of some fifty statements.
pub(crate) fn generate(seed: u64, profile: Profile) -> Program {
    let mut generator = Generator {
        chance: Chance(seed),
        profile,
        counters: VARIABLES,
    };
    let mut statements = generator.beginning();
    statements.extend(generator.block(18, 2));
    let end = Action::Return(generator.expression());
    statements.push(statement(end));
    Program {
        statements,
        profile,
    }
}

fn statement(action: Action) -> Statement {
    Statement { line: 0, action }
}

struct Generator {
    chance: Chance,
    profile: Profile,
    /// The next variable that counts the rounds of a loop.
    counters: usize,
}

impl Generator {
    /// Everything that is read later is written first.
    fn beginning(&mut self) -> Vec<Statement> {
        let mut actions = Vec::new();
        for variable in 0..VARIABLES {
            actions.push(Action::Assign(
                variable,
                Expression::constant(self.chance.constant()),
            ));
        }
        for object in 0..OBJECTS {
            actions.push(Action::Object(object, None));
            for field in 0..SLOTS {
                let slot = Slot { object, field };
                actions.push(Action::SetField(
                    slot,
                    Expression::constant(self.chance.constant()),
                ));
            }
        }
        for number in 0..SLOTS {
            let value = Expression::constant(self.chance.constant());
            actions.push(Action::SetStatic(number, value));
        }
        actions.push(Action::Array);
        if self.profile == Profile::Collections {
            actions.extend([Action::List, Action::Map]);
        }
        actions.into_iter().map(statement).collect()
    }

    fn block(&mut self, length: usize, depth: usize) -> Vec<Statement> {
        let mut statements = Vec::new();
        for _ in 0..length {
            let kinds = match (self.profile, depth) {
                (_, 0) => 9,
                _ => 11,
            };
            match self.chance.below(kinds) {
                9 => {
                    let condition = Condition {
                        left: self.operand(),
                        constant: self.chance.constant(),
                    };
                    let then = self.block(3, depth - 1);
                    let other = self.block(2, depth - 1);
                    statements.push(statement(Action::If(condition, then, other)));
                }
                10 => statements.extend(self.repeated(depth)),
                kind => statements.push(statement(self.simple(kind))),
            }
        }
        statements
    }

    /// A loop of two or three rounds.
    fn repeated(&mut self, depth: usize) -> [Statement; 2] {
        let counter = self.counters;
        self.counters += 1;
        let condition = Condition {
            left: Operand::Variable(counter),
            constant: 2 + self.chance.below(2) as i32,
        };
        let mut body = self.block(3, depth - 1);
        body.push(statement(Action::Increment(counter)));
        let start = Action::Assign(counter, Expression::constant(0));
        [start, Action::While(condition, body)].map(statement)
    }

    fn simple(&mut self, kind: usize) -> Action {
        let [variable, other, third] = [(); 3].map(|()| self.chance.below(VARIABLES));
        let (object, slot) = (self.chance.below(OBJECTS), self.chance.below(SLOTS));
        let with_collections = self.profile == Profile::Collections;
        match kind {
            0 => Action::Increment(variable),
            1 => Action::Object(object, Some(self.chance.below(OBJECTS))),
            2 => {
                let slot = Slot {
                    object,
                    field: slot,
                };
                Action::SetField(slot, self.expression())
            }
            3 => Action::SetStatic(slot, self.expression()),
            4 => Action::SetElement(variable, self.expression()),
            5 => Action::Call(variable, [other, third]),
            6 if with_collections => Action::SetListed(slot, self.expression()),
            7 if with_collections => Action::PutMapped(slot, self.expression()),
            _ => Action::Assign(variable, self.expression()),
        }
    }

    fn expression(&mut self) -> Expression {
        let operators = ['+', '-', '*', '^'];
        Expression {
            left: self.operand(),
            operator: operators[self.chance.below(operators.len())],
            right: self.operand(),
            constant: self.chance.constant(),
        }
    }

    fn operand(&mut self) -> Operand {
        let (object, slot) = (self.chance.below(OBJECTS), self.chance.below(SLOTS));
        let with_collections = self.profile == Profile::Collections;
        match self.chance.below(7) {
            0 => Operand::Field(Slot {
                object,
                field: slot,
            }),
            1 => Operand::Static(slot),
            2 => Operand::Element(self.chance.below(VARIABLES)),
            3 if with_collections => Operand::Listed(slot),
            4 if with_collections => Operand::Mapped(slot),
            _ => Operand::Variable(self.chance.below(VARIABLES)),
        }
    }
}

impl Expression {
    /// An expression that reads nothing: a variable less itself would read it, so that the operator says so.
    fn constant(constant: i32) -> Expression {
        Expression {
            left: Operand::Variable(0),
            operator: 'c',
            right: Operand::Variable(0),
            constant,
        }
    }

    /// True if it reads nothing.
    pub(crate) fn is_constant(&self) -> bool {
        self.operator == 'c'
    }

    fn java(&self) -> String {
        let Expression {
            left,
            operator,
            right,
            constant,
        } = self;
        match self.is_constant() {
            true => constant.to_string(),
            false => format!("({} {operator} {}) + {constant}", left.java(), right.java()),
        }
    }
}

impl Operand {
    fn java(&self) -> String {
        match self {
            Operand::Variable(number) => format!("v{number}"),
            Operand::Field(slot) => slot.java(),
            Operand::Static(number) => format!("s{number}"),
            Operand::Element(index) => format!("array[v{index} & 3]"),
            Operand::Listed(index) => format!("list.get({index})"),
            Operand::Mapped(key) => format!("map.get({key})"),
        }
    }
}

impl Slot {
    fn java(&self) -> String {
        format!("o{}.f{}", self.object, self.field)
    }
}

impl Program {
    /// The source of the program as a class, with the lines of its statements counted after `before` others.
    pub(crate) fn java(&mut self, class: &str, before: usize) -> Vec<String> {
        let mut printer = Printer {
            lines: Vec::new(),
            before,
        };
        printer.line(format!("class {class} {{ static int s0, s1, s2, s3;"));
        // The line of the call's body is the one after the head.
        printer.line("static int mix(int x, int y) { return x * 3 + y; }".to_owned());
        printer.line("static int run() {".to_owned());
        printer.block(&mut self.statements);
        printer.line("} }".to_owned());
        printer.lines
    }

    /// The program with a statement changed: its constant, or else the statement is removed. None for what cannot be changed.
    pub(crate) fn changed(&self, line: u16) -> Option<Program> {
        let mut changed = self.clone();
        let found = find(&mut changed.statements, line)?;
        match &mut found.action {
            Action::Assign(_, value)
            | Action::SetField(_, value)
            | Action::SetStatic(_, value)
            | Action::SetElement(_, value)
            | Action::SetListed(_, value)
            | Action::PutMapped(_, value) => value.constant += 7,
            // Loops are to end, and objects to exist.
            Action::Increment(counter) if *counter >= VARIABLES => return None,
            action @ (Action::Increment(_) | Action::Object(_, Some(_)) | Action::Call(..)) => {
                *action = Action::Nothing;
            }
            Action::If(condition, ..) => condition.constant += 5,
            _ => return None,
        }
        Some(changed)
    }

    /// The lines of all statements.
    pub(crate) fn lines(&self) -> Vec<u16> {
        fn add(statements: &[Statement], lines: &mut Vec<u16>) {
            for statement in statements {
                lines.push(statement.line);
                match &statement.action {
                    Action::If(_, then, other) => {
                        add(then, lines);
                        add(other, lines);
                    }
                    Action::While(_, body) => add(body, lines),
                    _ => {}
                }
            }
        }
        let mut lines = Vec::new();
        add(&self.statements, &mut lines);
        lines
    }
}

fn find(statements: &mut [Statement], line: u16) -> Option<&mut Statement> {
    for statement in statements {
        if statement.line == line {
            return Some(statement);
        }
        let inner = match &mut statement.action {
            Action::If(_, then, other) => find(then, line).or_else(|| find(other, line)),
            Action::While(_, body) => find(body, line),
            _ => None,
        };
        if inner.is_some() {
            return inner;
        }
    }
    None
}

struct Printer {
    lines: Vec<String>,
    /// Lines of the file before the class.
    before: usize,
}

impl Printer {
    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    fn block(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            statement.line = (self.before + self.lines.len() + 1) as u16;
            let line = match &mut statement.action {
                Action::If(condition, then, other) => {
                    self.line(format!("if ({}) {{", condition.java()));
                    self.block(then);
                    self.line("} else {".to_owned());
                    self.block(other);
                    "}".to_owned()
                }
                Action::While(condition, body) => {
                    self.line(format!("while ({}) {{", condition.java()));
                    self.block(body);
                    "}".to_owned()
                }
                action => simple(action),
            };
            self.line(line);
        }
    }
}

impl Condition {
    fn java(&self) -> String {
        format!("{} < {}", self.left.java(), self.constant)
    }
}

/// A statement without others in it.
fn simple(action: &Action) -> String {
    let mut line = String::new();
    let declared = match action {
        // Variables begin with a constant.
        Action::Assign(_, value) if value.is_constant() => "int ",
        Action::Object(_, None) => "Box ",
        _ => "",
    };
    // Writing to a text cannot fail.
    let _ = match action {
        Action::Assign(variable, value) => {
            write!(line, "{declared}v{variable} = {};", value.java())
        }
        Action::Increment(variable) => write!(line, "v{variable}++;"),
        Action::Object(object, None) => write!(line, "{declared}o{object} = new Box();"),
        Action::Object(object, Some(other)) => write!(line, "o{object} = o{other};"),
        Action::SetField(slot, value) => write!(line, "{} = {};", slot.java(), value.java()),
        Action::SetStatic(number, value) => write!(line, "s{number} = {};", value.java()),
        Action::Array => write!(line, "int[] array = {{ 3, 1, 4, 1 }};"),
        Action::SetElement(index, value) => write!(line, "array[v{index} & 3] = {};", value.java()),
        Action::List => write!(
            line,
            "java.util.List<Integer> list = new java.util.ArrayList<>(java.util.List.of(2, 7, 1, 8));"
        ),
        Action::Map => write!(
            line,
            "java.util.Map<Integer, Integer> map = new java.util.HashMap<>(java.util.Map.of(0, 5, 1, 7, 2, 2, 3, 1));"
        ),
        Action::SetListed(index, value) => write!(line, "list.set({index}, {});", value.java()),
        Action::PutMapped(key, value) => write!(line, "map.put({key}, {});", value.java()),
        Action::Call(variable, [x, y]) => write!(line, "v{variable} = mix(v{x}, v{y});"),
        Action::Return(value) => write!(line, "return {};", value.java()),
        Action::If(..) | Action::While(..) | Action::Nothing => write!(line, ";"),
    };
    line
}
