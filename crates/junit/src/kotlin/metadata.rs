//! Declarations of Kotlin, from the annotation `kotlin.Metadata` that its compiler gives each class: the names that
//! source code uses, properties, defaults and nullability.

use culprit_classfile::{ClassFile, Pool};

use super::protobuf::{Message, delimited};

/// The kinds of classes that matter here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Class,
    Interface,
    /// `object`.
    Object,
    Companion,
    /// The functions and properties of a file, or a part of those.
    File,
}

/// A class as Kotlin declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KotlinClass {
    pub(crate) kind: Kind,
    /// The simple name of its companion object.
    pub(crate) companion: Option<String>,
    pub(crate) functions: Vec<Function>,
    pub(crate) properties: Vec<Property>,
    pub(crate) constructors: Vec<Function>,
    /// The classes that the functions of this facade come from.
    pub(crate) parts: Vec<String>,
}

/// A function or a constructor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    /// The name in Kotlin.
    pub(crate) name: String,
    pub(crate) jvm_name: String,
    /// The descriptor, where it is not the usual one.
    descriptor: Option<String>,
    /// The type that it extends.
    pub(crate) receiver: Option<KotlinType>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Option<KotlinType>,
    pub(crate) is_suspend: bool,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) of: KotlinType,
    pub(crate) is_vararg: bool,
    pub(crate) has_default: bool,
}

/// A property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) of: KotlinType,
    pub(crate) receiver: Option<KotlinType>,
    /// The names of its methods in the JVM.
    pub(crate) getter: Option<String>,
    pub(crate) setter: Option<String>,
    pub(crate) is_var: bool,
}

/// A type of Kotlin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KotlinType {
    /// The class, as `kotlin/collections/Map.Entry`; `None` for a type variable.
    pub(crate) class: Option<String>,
    /// `None` for a star.
    pub(crate) arguments: Vec<Option<KotlinType>>,
    pub(crate) is_nullable: bool,
}

impl KotlinClass {
    /// The declarations of a class file, or `None` if it is not of Kotlin or of a version that is not understood.
    pub(crate) fn parse(bytes: &[u8]) -> Option<KotlinClass> {
        let file = ClassFile::parse(bytes).ok()?;
        let annotation = Annotation::find(&file)?;
        if annotation.kind == 4 {
            return Some(KotlinClass {
                parts: annotation.data,
                ..KotlinClass::empty(Kind::File)
            });
        }
        let data = annotation.bytes()?;
        let mut rest = data.as_slice();
        let table = Message::parse(delimited(&mut rest)?)?;
        let names = Names::new(&table, &annotation.strings);
        let message = Message::parse(rest)?;
        match annotation.kind {
            1 => Some(KotlinClass::of_class(&message, &names)),
            2 | 5 => {
                let types = Types::new(&message, &names);
                Some(KotlinClass {
                    functions: functions(&message, 3, &types),
                    properties: properties(&message, 4, &types),
                    ..KotlinClass::empty(Kind::File)
                })
            }
            _ => None,
        }
    }

    fn empty(kind: Kind) -> KotlinClass {
        KotlinClass {
            kind,
            companion: None,
            functions: Vec::new(),
            properties: Vec::new(),
            constructors: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn of_class(message: &Message<'_>, names: &Names<'_>) -> KotlinClass {
        let types = Types::new(message, names);
        let kind = match message.number(1).unwrap_or(6) >> 6 & 7 {
            1 => Kind::Interface,
            5 => Kind::Object,
            6 => Kind::Companion,
            _ => Kind::Class,
        };
        let constructors = message.messages(8).map(|it| Function {
            parameters: parameters(&it, 2, &types),
            ..function(&it, "<init>".to_owned(), names)
        });
        KotlinClass {
            companion: message.number(4).and_then(|name| names.text(name)),
            functions: functions(message, 9, &types),
            properties: properties(message, 10, &types),
            constructors: constructors.collect(),
            ..KotlinClass::empty(kind)
        }
    }
}

impl Function {
    /// It is this method of the JVM.
    pub(crate) fn is(&self, name: &str, descriptor: &str) -> bool {
        if self.jvm_name != name {
            return false;
        }
        if let Some(own) = &self.descriptor {
            return own == descriptor;
        }
        let types = crate::types::parameters(descriptor);
        let own: Vec<&KotlinType> = self
            .receiver
            .iter()
            .chain(self.parameters.iter().map(|it| &it.of))
            .collect();
        let is_same = |of: &crate::types::Type, own: &KotlinType| {
            matches!(of, crate::types::Type::Primitive(_)) == own.is_primitive()
        };
        let more = usize::from(self.is_suspend);
        own.len() + more == types.len() && types.iter().zip(own).all(|(of, own)| is_same(of, own))
    }
}

impl KotlinType {
    fn is_primitive(&self) -> bool {
        const PRIMITIVES: [&str; 8] = [
            "Byte", "Double", "Float", "Int", "Long", "Short", "Boolean", "Char",
        ];
        let name = self
            .class
            .as_deref()
            .and_then(|it| it.strip_prefix("kotlin/"));
        !self.is_nullable && name.is_some_and(|name| PRIMITIVES.contains(&name))
    }
}

fn function(message: &Message<'_>, name: String, names: &Names<'_>) -> Function {
    let signature = message.message(100);
    let text = |field: u64| names.text(signature.as_ref()?.number(field)?);
    Function {
        jvm_name: text(1).unwrap_or_else(|| name.clone()),
        descriptor: text(2),
        name,
        receiver: None,
        parameters: Vec::new(),
        result: None,
        is_suspend: false,
    }
}

fn functions(message: &Message<'_>, field: u64, types: &Types<'_>) -> Vec<Function> {
    let all = message.messages(field);
    let all = all.filter_map(|it| {
        let name = types.names.text(it.number(2)?)?;
        Some(Function {
            receiver: types.of(&it, 5, 8),
            parameters: parameters(&it, 6, types),
            result: types.of(&it, 3, 7),
            is_suspend: it.number(9).unwrap_or(6) >> 13 & 1 == 1,
            ..function(&it, name, types.names)
        })
    });
    all.collect()
}

fn parameters(message: &Message<'_>, field: u64, types: &Types<'_>) -> Vec<Parameter> {
    let all = message.messages(field);
    let all = all.filter_map(|it| {
        Some(Parameter {
            name: types.names.text(it.number(2)?)?,
            of: types.of(&it, 3, 5)?,
            is_vararg: types.of(&it, 4, 6).is_some(),
            has_default: it.number(1).unwrap_or(0) >> 1 & 1 == 1,
        })
    });
    all.collect()
}

fn properties(message: &Message<'_>, field: u64, types: &Types<'_>) -> Vec<Property> {
    let all = message.messages(field);
    let all = all.filter_map(|it| {
        let signature = it.message(100);
        let method = |field: u64| {
            let method = signature.as_ref()?.message(field)?;
            types.names.text(method.number(1)?)
        };
        Some(Property {
            name: types.names.text(it.number(2)?)?,
            of: types.of(&it, 3, 9)?,
            receiver: types.of(&it, 5, 10),
            getter: method(3),
            setter: method(4),
            is_var: it.number(11).unwrap_or(518) >> 8 & 1 == 1,
        })
    });
    all.collect()
}

/// The types of a message, some of which are in a table.
struct Types<'m> {
    names: &'m Names<'m>,
    table: Vec<KotlinType>,
}

impl<'m> Types<'m> {
    fn new(message: &Message<'_>, names: &'m Names<'m>) -> Types<'m> {
        let mut types = Types {
            names,
            table: Vec::new(),
        };
        if let Some(table) = message.message(30) {
            let from = table.number(2);
            let all = table.messages(1).enumerate();
            let all: Vec<KotlinType> = all
                .map(|(place, it)| {
                    let of = types.read(&it);
                    let is_nullable = from.is_some_and(|from| place as u64 >= from);
                    KotlinType {
                        is_nullable: of.is_nullable || is_nullable,
                        ..of
                    }
                })
                .collect();
            types.table = all;
        }
        types
    }

    /// The type in one field, or by the number in another.
    fn of(&self, message: &Message<'_>, field: u64, by_number: u64) -> Option<KotlinType> {
        if let Some(of) = message.message(field) {
            return Some(self.read(&of));
        }
        let number = usize::try_from(message.number(by_number)?).ok()?;
        self.table.get(number).cloned()
    }

    fn read(&self, message: &Message<'_>) -> KotlinType {
        let argument = |it: Message<'_>| match it.number(1) {
            Some(3) => None,
            _ => self.of(&it, 2, 3),
        };
        KotlinType {
            class: message.number(6).and_then(|name| self.names.text(name)),
            arguments: message.messages(2).map(argument).collect(),
            is_nullable: message.number(3) == Some(1),
        }
    }
}

/// The strings of a message, by number.
struct Names<'a> {
    records: Vec<Record>,
    strings: &'a [String],
}

#[derive(Clone, Default)]
struct Record {
    text: Option<String>,
    predefined: Option<usize>,
    operation: u64,
    part: Vec<u64>,
    replace: Vec<u64>,
}

impl<'a> Names<'a> {
    fn new(table: &Message<'_>, strings: &'a [String]) -> Names<'a> {
        let mut records = Vec::new();
        for it in table.messages(1) {
            let record = Record {
                text: it.text(6),
                predefined: it.number(2).and_then(|it| usize::try_from(it).ok()),
                operation: it.number(3).unwrap_or(0),
                part: it.numbers(4),
                replace: it.numbers(5),
            };
            let times = it.number(1).unwrap_or(1).min(strings.len() as u64);
            records.extend((0..times).map(|_| record.clone()));
        }
        Names { records, strings }
    }

    fn text(&self, number: u64) -> Option<String> {
        let number = usize::try_from(number).ok()?;
        let record = self.records.get(number).cloned().unwrap_or_default();
        let known = record.predefined.and_then(|at| PREDEFINED.get(at));
        let known = known.map(|known| format!("kotlin/{known}"));
        let text = record.text.or(known);
        let mut text = text.or_else(|| self.strings.get(number).cloned())?;
        if let [from, to] = record.part.as_slice() {
            text = text.get(*from as usize..*to as usize)?.to_owned();
        }
        if let [from, to] = record.replace.as_slice() {
            let letter = |code: &u64| char::from_u32(u32::try_from(*code).ok()?);
            text = text.replace(letter(from)?, &letter(to)?.to_string());
        }
        Some(match record.operation {
            1 => text.replace('$', "."),
            2 => {
                let inner = text.get(1..text.len().saturating_sub(1))?;
                inner.replace('$', ".")
            }
            _ => text,
        })
    }
}

/// The annotation of a class.
struct Annotation {
    kind: u64,
    data: Vec<String>,
    strings: Vec<String>,
}

impl Annotation {
    fn find(file: &ClassFile) -> Option<Annotation> {
        let attribute = file.attribute("RuntimeVisibleAnnotations")?;
        let mut bytes = attribute.bytes.as_slice();
        let pool = &file.pool;
        for _ in 0..short(&mut bytes)? {
            let name = pool.utf8(short(&mut bytes)?).ok()?;
            let mut found = Annotation {
                kind: 0,
                data: Vec::new(),
                strings: Vec::new(),
            };
            for _ in 0..short(&mut bytes)? {
                let key = pool.utf8(short(&mut bytes)?).ok()?;
                let values = element(&mut bytes, pool)?;
                match &*key {
                    "k" => found.kind = values.first()?.parse().ok()?,
                    "d1" => found.data = values,
                    "d2" => found.strings = values,
                    _ => {}
                }
            }
            if name == "Lkotlin/Metadata;" {
                return Some(found);
            }
        }
        None
    }

    /// The bytes that the strings stand for; old compilers had another encoding.
    fn bytes(&self) -> Option<Vec<u8>> {
        let text: String = self.data.concat();
        let text = text.strip_prefix('\0')?;
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).ok())
            .collect()
    }
}

/// The numbers and strings of an element of an annotation.
fn element(bytes: &mut &[u8], pool: &Pool) -> Option<Vec<String>> {
    let (tag, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(match tag {
        b's' => vec![pool.utf8(short(bytes)?).ok()?.into_owned()],
        b'I' => vec![pool.integer(short(bytes)?).ok()?.to_string()],
        b'[' => {
            let mut all = Vec::new();
            for _ in 0..short(bytes)? {
                all.extend(element(bytes, pool)?);
            }
            all
        }
        b'e' => {
            short(bytes)?;
            short(bytes)?;
            Vec::new()
        }
        b'@' => {
            short(bytes)?;
            for _ in 0..short(bytes)? {
                short(bytes)?;
                element(bytes, pool)?;
            }
            Vec::new()
        }
        _ => {
            short(bytes)?;
            Vec::new()
        }
    })
}

fn short(bytes: &mut &[u8]) -> Option<u16> {
    let taken = bytes.get(..2)?;
    *bytes = &bytes[2..];
    Some(u16::from_be_bytes(taken.try_into().ok()?))
}

/// Names of the Kotlin library that have numbers, without `kotlin/`.
const PREDEFINED: [&str; 44] = [
    "Any",
    "Nothing",
    "Unit",
    "Throwable",
    "Number",
    "Byte",
    "Double",
    "Float",
    "Int",
    "Long",
    "Short",
    "Boolean",
    "Char",
    "CharSequence",
    "String",
    "Comparable",
    "Enum",
    "Array",
    "ByteArray",
    "DoubleArray",
    "FloatArray",
    "IntArray",
    "LongArray",
    "ShortArray",
    "BooleanArray",
    "CharArray",
    "Cloneable",
    "Annotation",
    "collections/Iterable",
    "collections/MutableIterable",
    "collections/Collection",
    "collections/MutableCollection",
    "collections/List",
    "collections/MutableList",
    "collections/Set",
    "collections/MutableSet",
    "collections/Map",
    "collections/MutableMap",
    "collections/Map.Entry",
    "collections/MutableMap.MutableEntry",
    "collections/Iterator",
    "collections/MutableIterator",
    "collections/ListIterator",
    "collections/MutableListIterator",
];
