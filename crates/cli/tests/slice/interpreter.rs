//! An interpreter of generated programs that knows, of each execution of a statement, which executions wrote what it read
//! and which branch it ran under.

use std::collections::{BTreeMap, BTreeSet};

use crate::generated::{
    Action, Condition, Expression, OBJECTS, Operand, Program, SLOTS, Slot, Statement,
};

/// An execution of a line: the line, and the number of times that it ran before.
pub(crate) type Execution = (u16, u32);

/// A run of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interpreted {
    pub(crate) value: i32,
    /// Uses with their definitions.
    pub(crate) data: BTreeSet<(Execution, Execution)>,
    /// Executions with the branch that they ran under.
    pub(crate) control: BTreeSet<(Execution, Execution)>,
    /// The lines in the order in which they ran, with the objects and elements that they accessed.
    pub(crate) path: Vec<(u16, Vec<usize>)>,
}

/// A value and the execution that wrote it.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    value: i32,
    by: Execution,
}

struct Interpreter {
    run: Interpreted,
    executions: BTreeMap<u16, u32>,
    /// The line of the body of the called method.
    body_line: u16,
    now: Execution,
    branches: Vec<Execution>,
    variables: BTreeMap<usize, Written>,
    /// The number of the object in each variable.
    objects: [Written; OBJECTS],
    fields: BTreeMap<(usize, usize), Written>,
    statics: [Written; SLOTS],
    array: Written,
    elements: [Written; SLOTS],
    list: [Written; SLOTS],
    map: [Written; SLOTS],
    collections: [Written; 2],
}

/// Runs a program that was printed with `before` lines before its class.
pub(crate) fn interpret(program: &Program, before: usize) -> Interpreted {
    let mut interpreter = Interpreter {
        run: Interpreted::default(),
        executions: BTreeMap::new(),
        body_line: before as u16 + 2,
        now: (0, 0),
        branches: Vec::new(),
        variables: BTreeMap::new(),
        objects: Default::default(),
        fields: BTreeMap::new(),
        statics: Default::default(),
        array: Written::default(),
        elements: Default::default(),
        list: Default::default(),
        map: Default::default(),
        collections: Default::default(),
    };
    interpreter.block(&program.statements);
    interpreter.run
}

impl Interpreter {
    fn begin(&mut self, line: u16) -> Execution {
        let count = self.executions.entry(line).or_insert(0);
        let execution = (line, *count);
        *count += 1;
        self.now = execution;
        if let Some(branch) = self.branches.last() {
            self.run.control.insert((execution, *branch));
        }
        self.run.path.push((line, Vec::new()));
        execution
    }

    fn read(&mut self, written: Written) -> i32 {
        if written.by != self.now {
            self.run.data.insert((self.now, written.by));
        }
        written.value
    }

    fn access(&mut self, address: usize) {
        if let Some((_, accesses)) = self.run.path.last_mut() {
            accesses.push(address);
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.action {
            Action::Nothing => {}
            Action::If(condition, then, other) => {
                let branch = self.begin(statement.line);
                let block = match self.holds(condition) {
                    true => then,
                    false => other,
                };
                self.branches.push(branch);
                self.block(block);
                self.branches.pop();
            }
            Action::While(condition, body) => {
                let depth = self.branches.len();
                loop {
                    let branch = self.begin(statement.line);
                    // The next round is there because of this one.
                    self.branches.truncate(depth);
                    self.branches.push(branch);
                    if !self.holds(condition) {
                        break;
                    }
                    self.block(body);
                }
                self.branches.truncate(depth);
            }
            action => {
                self.begin(statement.line);
                self.simple(action);
            }
        }
    }

    fn simple(&mut self, action: &Action) {
        let by = self.now;
        match action {
            Action::Assign(variable, value) => {
                let value = self.expression(value);
                self.variables.insert(*variable, Written { value, by });
            }
            Action::Increment(variable) => {
                let value = self.variable(*variable).wrapping_add(1);
                self.variables.insert(*variable, Written { value, by });
            }
            Action::Object(object, source) => {
                let value = match source {
                    Some(other) => self.read(self.objects[*other]),
                    None => *object as i32,
                };
                self.objects[*object] = Written { value, by };
            }
            Action::SetField(slot, value) => {
                let object = self.object(*slot);
                let value = self.expression(value);
                self.fields
                    .insert((object, slot.field), Written { value, by });
            }
            Action::SetStatic(number, value) => {
                let value = self.expression(value);
                self.statics[*number] = Written { value, by };
            }
            Action::Array => {
                self.array = Written { value: 0, by };
                self.elements = [3, 1, 4, 1].map(|value| Written { value, by });
            }
            Action::SetElement(index, value) => {
                self.read(self.array);
                let index = self.index(*index);
                let value = self.expression(value);
                self.elements[index] = Written { value, by };
            }
            Action::List => {
                self.collections[0].by = by;
                self.list = [2, 7, 1, 8].map(|value| Written { value, by });
            }
            Action::Map => {
                self.collections[1].by = by;
                self.map = [5, 7, 2, 1].map(|value| Written { value, by });
            }
            Action::SetListed(index, value) => {
                self.read(self.collections[0]);
                let value = self.expression(value);
                self.list[*index] = Written { value, by };
            }
            Action::PutMapped(key, value) => {
                self.read(self.collections[1]);
                let value = self.expression(value);
                self.map[*key] = Written { value, by };
            }
            Action::Call(variable, [x, y]) => {
                // The body is given what the variables have; that they are passed on is no use of its own.
                let given = [x, y].map(|it| self.variables[it]);
                let count = self.executions.entry(self.body_line).or_insert(0);
                self.now = (self.body_line, *count);
                *count += 1;
                let [x, y] = given.map(|written| self.read(written));
                let value = x.wrapping_mul(3).wrapping_add(y);
                let returned = Written {
                    value,
                    by: self.now,
                };
                self.now = by;
                let value = self.read(returned);
                self.variables.insert(*variable, Written { value, by });
            }
            Action::Return(value) => self.run.value = self.expression(value),
            Action::If(..) | Action::While(..) | Action::Nothing => {}
        }
    }

    fn holds(&mut self, condition: &Condition) -> bool {
        self.operand(condition.left) < condition.constant
    }

    fn expression(&mut self, expression: &Expression) -> i32 {
        if expression.is_constant() {
            return expression.constant;
        }
        let left = self.operand(expression.left);
        let right = self.operand(expression.right);
        let value = match expression.operator {
            '+' => left.wrapping_add(right),
            '-' => left.wrapping_sub(right),
            '*' => left.wrapping_mul(right),
            _ => left ^ right,
        };
        value.wrapping_add(expression.constant)
    }

    fn operand(&mut self, operand: Operand) -> i32 {
        match operand {
            Operand::Variable(number) => self.variable(number),
            Operand::Field(slot) => {
                let object = self.object(slot);
                self.read(self.fields[&(object, slot.field)])
            }
            Operand::Static(number) => self.read(self.statics[number]),
            Operand::Element(index) => {
                self.read(self.array);
                let index = self.index(index);
                self.read(self.elements[index])
            }
            Operand::Listed(index) => {
                self.read(self.collections[0]);
                self.read(self.list[index])
            }
            Operand::Mapped(key) => {
                self.read(self.collections[1]);
                self.read(self.map[key])
            }
        }
    }

    fn variable(&mut self, number: usize) -> i32 {
        self.read(self.variables[&number])
    }

    fn object(&mut self, slot: Slot) -> usize {
        let object = self.read(self.objects[slot.object]) as usize;
        self.access(object);
        object
    }

    fn index(&mut self, variable: usize) -> usize {
        let index = (self.variable(variable) & 3) as usize;
        self.access(index);
        index
    }
}
