//! Expressions in Kotlin.

use culprit_model::value::Shape;

use super::literals;
use super::type_names::{TypeArguments, is_mapped, primitive};
use super::{Level, Text, Writer, Written, word};
use crate::code::{Code, Target, TypeName};
use crate::expr::Expr;
use crate::types::Type;

impl Writer<'_> {
    /// An expression.
    pub(super) fn expression(&self, expr: &Expr) -> Written<Text> {
        Ok(match &expr.code {
            Code::Name(name) => {
                let is_nullable = self.nullable.borrow().contains(name);
                Text::new(word(name)).nullable(is_nullable)
            }
            Code::This => Text::new("this"),
            Code::Null => Text::new("null").nullable(true),
            Code::Scalar(value) => literals::scalar(&value.0, false),
            Code::Constant(value) => literals::scalar(&value.0, true),
            Code::Text(units) => Text::new(literals::string(units)),
            Code::Quoted(name) => Text::new(quoted(name)),
            Code::Class(name) => Text::new(self.class_literal(&name.of)),
            Code::ClassForName(_, name) => Text::new(format!("Class.forName({})", quoted(name))),
            Code::Classes(all) => {
                let all = self.list(all)?;
                Text::new(format!("arrayOf<Class<*>>({all})"))
            }
            Code::Brackets(inner) => self.expression(inner)?,
            Code::StaticField(class, member) => self.static_field(class, &member.name),
            Code::Field(object, member) => {
                let object = self.receiver(object)?;
                Text::new(format!("{object}.{}", word(&member.name)))
            }
            Code::Call(call) => self.call(call)?,
            Code::Helper(name, arguments) => {
                if let Some(call) = self.with_left_out(arguments)? {
                    return Ok(call);
                }
                self.helpers.borrow_mut().insert(*name);
                let text = format!("{name}({})", self.list(arguments)?);
                Text::new(text).nullable(true)
            }
            Code::New(class, member, arguments) => self.construction(class, member, arguments)?,
            Code::NewWithin(outer, class, member, arguments) => {
                let outer = self.receiver(outer)?;
                let name = class.java.rsplit('.').next().unwrap_or(&class.java);
                let arguments = self.arguments(member, arguments, None, 1)?;
                Text::new(format!("{outer}.{}({arguments})", word(name)))
            }
            Code::Array(name, elements) => self.array(&name.of, elements)?,
            Code::Row(of, elements) => self.array(of, elements)?,
            Code::Zeros(name, length) => {
                let length = self.expression(length)?.text;
                let Type::Array(component) = &name.of else {
                    return Err("an array without elements".to_owned());
                };
                Text::new(match &**component {
                    Type::Primitive(shape) => format!("{}Array({length})", primitive(*shape)),
                    component => {
                        let of = self.type_name(component, TypeArguments::Stars);
                        format!("arrayOfNulls<{of}>({length})")
                    }
                })
            }
            Code::Characters(text) => Text::new(format!("{}.toCharArray()", self.receiver(text)?)),
            Code::Bytes(text, _) => {
                let text = self.receiver(text)?;
                Text::new(format!("{text}.toByteArray(Charsets.ISO_8859_1)"))
            }
            Code::Element(array, index) => {
                let (array, index) = (self.receiver(array)?, self.expression(index)?.text);
                Text::new(format!("{array}[{index}]"))
            }
            Code::Length(array) => Text::new(format!("{}.size", self.receiver(array)?)),
            Code::Boxed(_, value) => self.expression(value)?,
            Code::Cast(of, value) => self.cast(of, value, true)?,
            Code::Instance(value, of) => {
                let value = self.expression(value)?.within(Level::Infix);
                let of = self.type_name(&of.of, TypeArguments::Stars);
                Text::new(format!("{value} is {of}")).at(Level::Check)
            }
            Code::Unary(sign, value) => self.unary(sign, value)?,
            Code::Binary(left, sign, right) => self.binary(left, sign, right)?,
            Code::Choice(condition, yes, no) => {
                let condition = self.expression(condition)?.text;
                let (yes, no) = (self.expression(yes)?, self.expression(no)?);
                let is_nullable = yes.is_nullable || no.is_nullable;
                let text = format!("if ({condition}) {} else {}", yes.text, no.text);
                Text::new(text).at(Level::Statement).nullable(is_nullable)
            }
            Code::Lambda(parameters, body) => self.lambda(&expr.of, None, parameters, body)?,
            Code::Proxy(proxy) => self.proxy(proxy)?,
            Code::Assign(to, value) => {
                let left = self.expression(to)?.text;
                let value = self.fitted(value, &to.of)?.text;
                Text::new(format!("{left} = {value}")).at(Level::Statement)
            }
            Code::Throw(thrown) | Code::Sneak(_, _, thrown) => {
                let thrown = self.expression(thrown)?.present().text;
                Text::new(format!("throw {thrown}")).at(Level::Statement)
            }
        })
    }

    /// An expression that `.member` can follow.
    pub(super) fn receiver(&self, expr: &Expr) -> Written<String> {
        match &expr.code {
            Code::Brackets(inner) => self.receiver(inner),
            Code::Cast(of, value) => Ok(self.cast(of, value, false)?.closed()),
            _ => Ok(self.expression(expr)?.closed()),
        }
    }

    /// Expressions, as they are.
    pub(super) fn list(&self, all: &[Expr]) -> Written<String> {
        let all: Written<Vec<String>> = all
            .iter()
            .map(|each| Ok(self.expression(each)?.text))
            .collect();
        Ok(all?.join(", "))
    }

    /// A value where this type is wanted: Kotlin converts no numbers.
    pub(super) fn fitted(&self, expr: &Expr, wanted: &Type) -> Written<Text> {
        if let Code::Brackets(inner) = &expr.code {
            return self.fitted(inner, wanted);
        }
        let own = match &expr.of {
            Type::Primitive(shape) => Some(*shape),
            _ => None,
        };
        let wanted = match wanted {
            Type::Primitive(shape) => Some(*shape),
            of => match of.unboxed() {
                Some(Type::Primitive(shape)) if own.is_some() => Some(shape),
                _ => None,
            },
        };
        match (own, wanted) {
            (Some(own), Some(wanted)) if own != wanted => self.number(expr, wanted),
            (None, Some(_)) => Ok(self.expression(expr)?.present()),
            _ => self.expression(expr),
        }
    }

    /// A number of another type.
    fn number(&self, expr: &Expr, to: Shape) -> Written<Text> {
        if let Code::Scalar(value) | Code::Constant(value) = &expr.code {
            if let Some(value) = literals::converted(&value.0, to) {
                return Ok(literals::scalar(&value, false));
            }
        }
        let value = self.receiver(expr)?;
        let is_char = expr.of == Type::Primitive(Shape::Char);
        Ok(Text::new(match (is_char, to) {
            (true, Shape::Int) => format!("{value}.code"),
            (true, to) => format!("{value}.code.to{}()", primitive(to)),
            (false, Shape::Char | Shape::Byte | Shape::Short)
                if expr.of != Type::Primitive(Shape::Int) =>
            {
                format!("{value}.toInt().to{}()", primitive(to))
            }
            (false, to) => format!("{value}.to{}()", primitive(to)),
        }))
    }

    /// A cast; one to a class keeps null, unless there can be none.
    pub(super) fn cast(&self, of: &TypeName, value: &Expr, or_null: bool) -> Written<Text> {
        if let (Type::Primitive(to), Type::Primitive(from)) = (&of.of, &value.of) {
            return match from == to {
                true => self.expression(value),
                false => self.number(value, *to),
            };
        }
        let name = self.type_name(&of.of, TypeArguments::Any);
        let or_null = or_null && !matches!(of.of, Type::Primitive(_));
        self.cast_to(&name, value, or_null)
    }

    /// A cast to a type by its name.
    pub(super) fn cast_to(&self, name: &str, value: &Expr, or_null: bool) -> Written<Text> {
        let written = self.expression(value)?;
        if name.contains('<') {
            self.is_unchecked.set(true);
        }
        let sign = if or_null { "?" } else { "" };
        let text = format!("{} as {name}{sign}", written.within(Level::Cast));
        Ok(Text::new(text).at(Level::Cast).nullable(or_null))
    }

    fn unary(&self, sign: &str, value: &Expr) -> Written<Text> {
        let written = self.expression(value)?;
        Ok(match sign {
            "~" => Text::new(format!("{}.inv()", written.closed())),
            "-" if written.text.starts_with('-') => {
                Text::new(format!("-({})", written.text)).at(Level::Prefix)
            }
            sign => Text::new(format!("{sign}{}", written.within(Level::Prefix))).at(Level::Prefix),
        })
    }

    fn binary(&self, left: &Expr, sign: &str, right: &Expr) -> Written<Text> {
        let string = Type::class("java/lang/String");
        let (name, level) = match sign {
            "+" | "-" => (sign, Level::Sum),
            "*" | "/" | "%" => (sign, Level::Product),
            "&" => ("and", Level::Infix),
            "|" => ("or", Level::Infix),
            "^" => ("xor", Level::Infix),
            "<<" => ("shl", Level::Infix),
            ">>" => ("shr", Level::Infix),
            ">>>" => ("ushr", Level::Infix),
            "<" | "<=" | ">" | ">=" => (sign, Level::Comparison),
            "==" | "!=" => (sign, Level::Equality),
            "&&" => (sign, Level::And),
            _ => (sign, Level::Or),
        };
        let is_text = left.of == string || right.of == string;
        if sign == "+" && is_text {
            let first = self.expression(left)?;
            let second = self.expression(right)?.within(Level::Product);
            let first = match plain(left).of == string {
                true => first.within(Level::Sum),
                false => format!("\"\" + {}", first.within(Level::Product)),
            };
            return Ok(Text::new(format!("{first} + {second}")).at(Level::Sum));
        }
        let is_number = |of: &Type| matches!(of, Type::Primitive(_));
        if level == Level::Equality && !is_number(&left.of) && !is_number(&right.of) {
            let has_null = [left, right].iter().any(|it| plain(it).code == Code::Null);
            let sign = match (has_null, sign) {
                (true, sign) => sign.to_owned(),
                (false, sign) => format!("{sign}="),
            };
            let [left, right] = [left, right].map(|it| self.expression(it));
            let (left, right) = (
                left?.within(Level::Comparison),
                right?.within(Level::Comparison),
            );
            return Ok(Text::new(format!("{left} {sign} {right}")).at(Level::Equality));
        }
        // Numbers of different types are neither compared nor combined bit by bit.
        let is_shift = matches!(sign, "<<" | ">>" | ">>>");
        let common = match is_shift {
            true => promoted(&left.of, &left.of),
            false => promoted(&left.of, &right.of),
        };
        let wide = |expr: &Expr| match &common {
            Some(common) => self.fitted(expr, common),
            None => self.expression(expr),
        };
        let first = wide(left)?;
        let second = match is_shift {
            true => self.fitted(right, &Type::Primitive(Shape::Int))?,
            false => wide(right)?,
        };
        let above = match level {
            Level::Sum => Level::Product,
            Level::Product => Level::Cast,
            Level::Infix => Level::Sum,
            Level::Comparison => Level::Infix,
            Level::Equality => Level::Comparison,
            Level::And => Level::Equality,
            _ => Level::And,
        };
        let least = match level {
            Level::Infix => Level::Sum,
            level => level,
        };
        let text = format!("{} {name} {}", first.within(least), second.within(above));
        Ok(Text::new(text).at(level))
    }

    /// A class as a value.
    pub(super) fn class_literal(&self, of: &Type) -> String {
        if of.name() == Some("void") {
            return "Void.TYPE".to_owned();
        }
        if of.unboxed().is_some() {
            let name = self.type_name(of, TypeArguments::None);
            return format!("{name}::class.javaObjectType");
        }
        let name = self.type_name(of, TypeArguments::None);
        format!("{name}::class.java")
    }

    /// An array with its elements.
    pub(super) fn array(&self, of: &Type, elements: &[Expr]) -> Written<Text> {
        let Type::Array(component) = of else {
            return Err("an array of an unknown type".to_owned());
        };
        let written: Written<Vec<Text>> = elements
            .iter()
            .map(|each| self.fitted(each, component))
            .collect();
        let written = written?;
        let list: Vec<String> = written.iter().map(|each| each.text.clone()).collect();
        let list = list.join(", ");
        if let Type::Primitive(shape) = &**component {
            let name = primitive(*shape).to_lowercase();
            return Ok(Text::new(format!("{name}ArrayOf({list})")));
        }
        let has_null = written.iter().any(|each| each.is_nullable);
        let is_plain = elements.iter().all(|each| each.of == **component);
        if is_plain && !has_null && !elements.is_empty() {
            return Ok(Text::new(format!("arrayOf({list})")));
        }
        let name = self.type_name(component, TypeArguments::Stars);
        let sign = if has_null { "?" } else { "" };
        Ok(Text::new(format!("arrayOf<{name}{sign}>({list})")))
    }

    fn static_field(&self, class: &TypeName, name: &str) -> Text {
        let owner = class.of.name().unwrap_or_default();
        if let Some(kotlin) = self.kotlin(owner) {
            use super::metadata::Kind;
            match kotlin.kind {
                Kind::Object if name == "INSTANCE" => return Text::new(self.class_name(owner)),
                Kind::File => {
                    self.import_member(owner, name);
                    return Text::new(word(name));
                }
                _ if kotlin.companion.as_deref() == Some(name) => {
                    return Text::new(self.class_name(owner));
                }
                _ => {}
            }
        }
        let class = match is_mapped(owner) {
            true => self.java_class_name(owner),
            false => self.class_name(owner),
        };
        Text::new(format!("{class}.{}", word(name)))
    }

    /// A call of something that is imported by its target.
    pub(super) fn imported(&self, target: &Target, owner: &str, name: &str) -> Option<String> {
        matches!(target, Target::Imported(_)).then(|| {
            let home = owner.replace('$', "/");
            self.members.borrow_mut().insert(format!("{home}/{name}"));
            word(name)
        })
    }

    /// A function or property of a file.
    pub(super) fn import_member(&self, owner: &str, name: &str) {
        let home = crate::access::package(owner);
        if home != self.scope.access.package && !home.is_empty() {
            self.members.borrow_mut().insert(format!("{home}/{name}"));
        }
    }
}

/// Without brackets.
fn plain(expr: &Expr) -> &Expr {
    match &expr.code {
        Code::Brackets(inner) => plain(inner),
        _ => expr,
    }
}

pub(super) fn quoted(name: &str) -> String {
    let units: Vec<u16> = name.encode_utf16().collect();
    literals::string(&units)
}

/// The type in which two numbers meet, if they are of different types or of one that Kotlin does not compute with.
fn promoted(left: &Type, right: &Type) -> Option<Type> {
    let number = |of: &Type| match of {
        Type::Primitive(shape) => Some(*shape),
        of => match of.unboxed()? {
            Type::Primitive(shape) => Some(shape),
            _ => None,
        },
    };
    let (left, right) = (number(left)?, number(right)?);
    if left == right && !matches!(left, Shape::Char | Shape::Byte | Shape::Short) {
        return None;
    }
    if left == Shape::Boolean || right == Shape::Boolean {
        return None;
    }
    let has = |shape: Shape| left == shape || right == shape;
    let widest = [Shape::Double, Shape::Float, Shape::Long];
    let widest = widest.into_iter().find(|shape| has(*shape));
    Some(Type::Primitive(widest.unwrap_or(Shape::Int)))
}
