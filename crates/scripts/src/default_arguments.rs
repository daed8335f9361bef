//! Calls of Kotlin functions that leave arguments to their defaults.
//!
//! The compiler calls a synthetic method, `add$default`, with a bit mask of the missing arguments; it puts in the defaults
//! and calls the function. No source code can name that method. A script calls the function itself, where the
//! defaults are constants: `cart.add("tea", 1)` for `cart.add("tea")`. Constructors have the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use culprit_classfile::{ClassFile, Code, Instruction, MemberRef, Pool, op, tag};
use culprit_model::script::{Action, Builder};
use culprit_model::value::{Shape, method_shapes};
use culprit_model::{Member, Reference, Value};
use culprit_program::Program;

use crate::{Script, Statement};

/// The end of the name of the synthetic method.
const SUFFIX: &str = "$default";

/// The last parameter of the synthetic constructor.
const MARKER: &str = "Lkotlin/jvm/internal/DefaultConstructorMarker;)V";

/// The most instructions that are looked at: a few for each parameter.
const MOST: usize = 1_000;

/// The script with calls of the functions, or `None` if there is nothing to replace.
pub fn with_default_arguments(script: &Script, program: &Program) -> Option<Script> {
    with_bodies(script, &|member| body(member, program))
}

/// The class and the code of a method.
pub(crate) type Body = (ClassFile, Code);

/// The body of a method, of its class or of one above: the facade of several files extends theirs.
pub(crate) fn body(member: &Member, program: &Program) -> Option<Body> {
    let classes = program.above(&member.owner);
    let mut classes = classes.iter();
    classes.find_map(|class| body_in(class, member, program))
}

fn body_in(class: &str, member: &Member, program: &Program) -> Option<Body> {
    let class = ClassFile::parse(&program.bytes(class)?).ok()?;
    let text = |index: u16| class.pool.utf8(index).ok();
    let method = class.methods.iter().find(|method| {
        text(method.name).is_some_and(|name| name == member.name)
            && text(method.descriptor).is_some_and(|of| of == member.descriptor)
    })?;
    let code = Code::parse(method.attribute(&class.pool, "Code")?, &class.pool).ok()?;
    Some((class, code))
}

fn with_bodies(script: &Script, body: &dyn Fn(&Member) -> Option<Body>) -> Option<Script> {
    let mut builder = Builder::of(script);
    let mut with = Script {
        statements: Vec::new(),
        waits: Default::default(),
        ..script.clone()
    };
    let mut places = Vec::new();
    let mut bodies: BTreeMap<Member, Option<Body>> = BTreeMap::new();
    let mut is_changed = false;
    for statement in &script.statements {
        let target = script.target(statement).filter(|target| has_mask(target));
        let call = target.and_then(|target| {
            let known = bodies.entry(target.clone());
            let (class, code) = known.or_insert_with(|| body(target)).as_ref()?;
            called(target, &statement.given, &class.pool, code)
        });
        let statement = match call {
            None => statement.clone(),
            Some(call) => {
                is_changed = true;
                call.statement(statement, &mut builder, &mut with.statements)
            }
        };
        places.push(with.statements.len());
        with.statements.push(statement);
    }
    for wait in &script.waits {
        with.wait(places[wait.statement], places[wait.on]);
    }
    with.tables = Arc::new(builder.finish());
    is_changed.then_some(with)
}

fn has_mask(target: &Member) -> bool {
    target.name.ends_with(SUFFIX) || target.name == "<init>" && target.descriptor.ends_with(MARKER)
}

/// An operand or a local variable.
#[derive(Clone, PartialEq, Debug)]
enum Item {
    Value(Value),
    /// A constant that a static field holds.
    Field(Member),
    /// The object that is being made.
    This,
}

/// The call at the end of a synthetic method.
#[derive(Debug)]
struct DefaultCall {
    target: Member,
    is_static: bool,
    given: Vec<Item>,
}

impl DefaultCall {
    /// The statement of the call. Statements that read fields come before it.
    fn statement(
        self,
        of: &Statement,
        builder: &mut Builder,
        before: &mut Vec<Statement>,
    ) -> Statement {
        let mut given = Vec::new();
        for item in self.given {
            match item {
                Item::Value(value) => given.push(value),
                Item::Field(field) => {
                    let class = field.descriptor.strip_prefix('L');
                    let class = class.and_then(|name| name.strip_suffix(';'));
                    let value = builder.variable(class.unwrap_or("java/lang/Object"));
                    before.push(builder.read(field, None, value.clone()));
                    given.push(value);
                }
                Item::This => {}
            }
        }
        let mut call = builder.called(self.target, self.is_static, given, of.end.clone());
        if let Action::Call(call) = &mut call.action {
            call.answers = of.answers().to_vec();
        }
        let by_alias = of.by_alias.iter().copied();
        call.by_alias = by_alias.filter(|by| by.place < call.given.len()).collect();
        call.alias = of.alias;
        call
    }
}

/// Runs a synthetic method up to the call of the function, as far as everything is known.
fn called(target: &Member, given: &[Value], pool: &Pool, code: &Code) -> Option<DefaultCall> {
    let (shapes, _) = method_shapes(&target.descriptor)?;
    let mut locals: Vec<Option<Item>> = Vec::new();
    let wanted = match target.name.strip_suffix(SUFFIX) {
        Some(name) => name,
        None => {
            locals.push(Some(Item::This));
            "<init>"
        }
    };
    for (shape, value) in shapes.iter().zip(given) {
        locals.push(Some(Item::Value(value.clone())));
        if matches!(shape, Shape::Long | Shape::Double) {
            locals.push(None);
        }
    }
    let mut stack: Vec<Item> = Vec::new();
    let mut pc = 0;
    for _ in 0..MOST {
        let instruction = Instruction::decode(&code.bytes, pc).ok()?;
        pc = instruction.next_pc();
        let opcode = instruction.generic_opcode();
        match opcode {
            op::NOP | op::CHECKCAST => {}
            op::ILOAD..=op::ALOAD => {
                let local = usize::from(instruction.local()?);
                stack.push(locals.get(local)?.clone()?);
            }
            op::ISTORE..=op::ASTORE => {
                *locals.get_mut(usize::from(instruction.local()?))? = Some(stack.pop()?);
            }
            op::IAND => {
                let (one, other) = (int(stack.pop()?)?, int(stack.pop()?)?);
                stack.push(Item::Value(Value::Int(one & other)));
            }
            op::IFEQ | op::IFNE => {
                let is_zero = int(stack.pop()?)? == 0;
                if is_zero == (opcode == op::IFEQ) {
                    pc = u32::try_from(instruction.target()?).ok()?;
                }
            }
            op::IFNULL | op::IFNONNULL => {
                let Item::Value(Value::Reference(value)) = stack.pop()? else {
                    return None;
                };
                if (value == Reference::Null) == (opcode == op::IFNULL) {
                    pc = u32::try_from(instruction.target()?).ok()?;
                }
            }
            op::GOTO => pc = u32::try_from(instruction.target()?).ok()?,
            op::GETSTATIC => {
                let field = member(&pool.member(instruction.pool_index()?).ok()?);
                stack.push(Item::Field(field));
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                let target = member(&pool.member(instruction.pool_index()?).ok()?);
                if target.name != wanted {
                    return None;
                }
                let (shapes, _) = method_shapes(&target.descriptor)?;
                let is_static = opcode == op::INVOKESTATIC;
                let from = stack
                    .len()
                    .checked_sub(shapes.len() + usize::from(!is_static))?;
                let mut given = stack.split_off(from);
                let arguments = given.iter_mut().skip(usize::from(!is_static));
                arguments
                    .zip(shapes)
                    .for_each(|(item, shape)| fit(item, shape));
                return Some(DefaultCall {
                    target,
                    is_static,
                    given,
                });
            }
            _ => stack.push(Item::Value(constant(&instruction, pool)?)),
        }
    }
    None
}

pub(crate) fn member(of: &MemberRef<'_>) -> Member {
    Member {
        owner: of.owner.to_string(),
        name: of.name.to_string(),
        descriptor: of.descriptor.to_string(),
    }
}

fn int(item: Item) -> Option<i32> {
    match item {
        Item::Value(Value::Int(value)) => Some(value),
        _ => None,
    }
}

/// Gives a constant the type of the parameter: the JVM has an `int` for every small type.
fn fit(item: &mut Item, shape: Shape) {
    let Item::Value(Value::Int(value)) = *item else {
        return;
    };
    *item = Item::Value(match shape {
        Shape::Boolean => Value::Boolean(value != 0),
        Shape::Byte => Value::Byte(value as i8),
        Shape::Char => Value::Char(value as u16),
        Shape::Short => Value::Short(value as i16),
        _ => Value::Int(value),
    });
}

/// The constant that an instruction pushes, if it does.
fn constant(instruction: &Instruction<'_>, pool: &Pool) -> Option<Value> {
    let operand = |at: usize| instruction.bytes.get(at).copied();
    Some(match instruction.opcode {
        op::ACONST_NULL => Value::Reference(Reference::Null),
        it @ op::ICONST_M1..=op::ICONST_5 => Value::Int(i32::from(it) - i32::from(op::ICONST_0)),
        it @ (op::LCONST_0 | op::LCONST_1) => Value::Long(i64::from(it - op::LCONST_0)),
        it @ op::FCONST_0..=op::FCONST_2 => Value::Float(f32::from(it - op::FCONST_0)),
        it @ (op::DCONST_0 | op::DCONST_1) => Value::Double(f64::from(it - op::DCONST_0)),
        op::BIPUSH => Value::Int(i32::from(operand(1)? as i8)),
        op::SIPUSH => Value::Int(i32::from(i16::from_be_bytes([operand(1)?, operand(2)?]))),
        op::LDC | op::LDC_W | op::LDC2_W => {
            let index = instruction.pool_index()?;
            match pool.tag(index)? {
                tag::STRING => Value::text(&pool.string(index).ok()?),
                tag::INTEGER => Value::Int(pool.integer(index).ok()?),
                tag::LONG => Value::Long(pool.long(index).ok()?),
                tag::FLOAT => {
                    Value::Float(f32::from_be_bytes(pool.bits(index).ok()?.try_into().ok()?))
                }
                tag::DOUBLE => {
                    Value::Double(f64::from_be_bytes(pool.bits(index).ok()?.try_into().ok()?))
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use culprit_model::script::MemberName;
    use culprit_model::{ObjectId, Tables};

    use super::*;

    const ADD: MemberName<'_> = MemberName::of(
        "shop/Cart",
        "add$default",
        "(Lshop/Cart;Ljava/lang/String;ZILjava/lang/Object;)V",
    );

    /// `if ((mask & 2) != 0) gift = true; cart.add(name, gift)`
    fn pool_and_code() -> (Pool, Code) {
        let mut pool = Pool::new();
        let add = pool.add_method_ref("shop/Cart", "add", "(Ljava/lang/String;Z)V");
        let [high, low] = add.unwrap().to_be_bytes();
        let bytes = vec![
            op::ILOAD_0 + 3,
            op::ICONST_2,
            op::IAND,
            op::IFEQ,
            0,
            5,
            op::ICONST_1,
            op::ISTORE_0 + 2,
            op::ALOAD_0,
            op::ALOAD_0 + 1,
            op::ILOAD_0 + 2,
            op::INVOKEVIRTUAL,
            high,
            low,
            op::RETURN,
        ];
        let code = Code {
            max_stack: 3,
            max_locals: 5,
            bytes,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        (pool, code)
    }

    fn given(mask: Value) -> Vec<Value> {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let cart = builder.variable("shop/Cart");
        let null = Value::Reference(Reference::Null);
        vec![cart, Value::text("tea"), Value::Boolean(false), mask, null]
    }

    #[test]
    fn a_missing_argument_has_its_default() {
        let (pool, code) = pool_and_code();
        for (mask, expect) in [(2, true), (0, false)] {
            let given = given(Value::Int(mask));
            let call = called(&ADD.into(), &given, &pool, &code).unwrap();
            assert_eq!((call.target.name.as_str(), call.is_static), ("add", false));
            let items: Vec<Item> = given[..2].iter().cloned().map(Item::Value).collect();
            assert_eq!(call.given[..2], items);
            assert_eq!(call.given[2], Item::Value(Value::Boolean(expect)));
        }
    }

    #[test]
    fn a_mask_that_is_not_known_is_left_as_it_is() {
        let (pool, code) = pool_and_code();
        let mask = given(Value::Int(0))[0].clone();
        assert!(called(&ADD.into(), &given(mask), &pool, &code).is_none());
    }

    #[test]
    fn a_default_that_is_computed_is_left_to_the_synthetic_method() {
        let (pool, mut code) = pool_and_code();
        code.bytes[6] = op::ARRAYLENGTH;
        assert!(called(&ADD.into(), &given(Value::Int(2)), &pool, &code).is_none());
    }
}
