//! Arbitrary recordings: what several threads do, as one list in global order, from which both
//! the file and the expected events are made.

use std::collections::BTreeMap;

use culprit_model::site::TypeDef;
use culprit_model::value::{Contents, Shape, method_shapes};
use culprit_model::{
    BlobId, Event, EventIndex, EventKind, Member, ObjectId, Reference, Site, SiteId, SiteKind,
    ThreadId, Turn, TypeId, Value,
};
use culprit_trace::{EventsHead, RecordBuffer, Writer};
use proptest::prelude::*;

use super::{class, site, start};

pub(crate) fn types() -> Vec<TypeDef> {
    let mut types = vec![
        class(1, "com/acme/A"),
        class(2, "[I"),
        class(3, "[Ljava/lang/Object;"),
        class(4, "[[J"),
        class(5, "[Z"),
        class(7, "[D"),
        class(1 << 20, "com/acme/Far"),
    ];
    let field = |name: &str, descriptor: &str| Member {
        owner: "java/util/ArrayList".to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    };
    types.push(TypeDef {
        fields: vec![
            field("elementData", "[Ljava/lang/Object;"),
            field("size", "I"),
            field("flag", "Z"),
        ],
        ..class(8, "java/util/ArrayList")
    });
    types.push(TypeDef {
        constants: vec!["RED".to_owned(), "GREEN".to_owned()],
        ..class(6, "com/acme/Color")
    });
    types
}

pub(crate) fn sites() -> Vec<Site> {
    let mut sites = Vec::new();
    let methods = [
        ("run", "()V"),
        ("all", "(ZBSCIJFDLjava/lang/Object;[I)Ljava/lang/String;"),
        ("<init>", "(I)V"),
        ("count", "()I"),
        ("wide", "(JD)J"),
    ];
    for (kind, class) in [
        (SiteKind::Entry, "com/acme/A"),
        (SiteKind::Call, "com/acme/B"),
        (SiteKind::Callee, "com/acme/C"),
    ] {
        for (name, descriptor) in methods {
            let id = sites.len() as u32 + 1;
            sites.push(site(id, kind, class, 1, ("x/Y", name, descriptor)));
        }
    }
    for descriptor in ["Z", "B", "S", "C", "I", "J", "F", "D", "[I"] {
        for is_static in [false, true] {
            let id = sites.len() as u32 + 1;
            sites.push(Site {
                is_static,
                source: is_static.then(|| "Order.java".to_owned()),
                line: None,
                ..site(id, SiteKind::Field, "a/A", 0, ("x/Y", "f", descriptor))
            });
        }
        let id = sites.len() as u32 + 1;
        let target = ("", "", descriptor);
        sites.push(site(id, SiteKind::Array, "a/A", 9, target));
    }
    // A number far away from the others, as when a class is woven late.
    let id = 60_000_000;
    sites.push(site(id, SiteKind::Call, "z/Z", 5, ("x/Y", "z", "()Z")));
    sites
}

/// The kinds of events that a site can have.
fn kinds(site: &Site) -> Vec<EventKind> {
    match site.kind {
        SiteKind::Entry => vec![
            EventKind::IncomingCall,
            EventKind::IncomingReturn,
            EventKind::IncomingThrow,
            EventKind::Constructed,
        ],
        SiteKind::Call | SiteKind::Callee => vec![
            EventKind::OutgoingCall,
            EventKind::OutgoingReturn,
            EventKind::OutgoingThrow,
            EventKind::ArrayContents,
            EventKind::IdentityHash,
            EventKind::ObjectState,
            EventKind::Held,
            EventKind::Born,
            EventKind::Apart,
        ],
        SiteKind::Field => vec![
            EventKind::OutgoingRead,
            EventKind::OutgoingWrite,
            EventKind::IncomingRead,
            EventKind::IncomingWrite,
        ],
        SiteKind::Array => vec![EventKind::ArrayRead, EventKind::ArrayWrite],
    }
}

/// The specification of what follows a record's header, written a second time on purpose.
fn shapes(site: &Site, kind: EventKind) -> Vec<Shape> {
    let receiver = |has: bool| if has { vec![Shape::Reference] } else { vec![] };
    match kind {
        EventKind::IncomingCall | EventKind::OutgoingCall => {
            let (arguments, _) = method_shapes(&site.target.descriptor).unwrap();
            [receiver(site.has_receiver()), arguments].concat()
        }
        EventKind::IncomingReturn | EventKind::OutgoingReturn => {
            site.result_shape().into_iter().collect()
        }
        EventKind::IncomingThrow
        | EventKind::OutgoingThrow
        | EventKind::ArrayContents
        | EventKind::Constructed => vec![Shape::Reference],
        EventKind::IdentityHash | EventKind::Apart => vec![Shape::Reference, Shape::Int],
        // The object and two pieces.
        EventKind::ObjectState | EventKind::Held => vec![Shape::Reference; 3],
        EventKind::Born => vec![Shape::Reference, Shape::Int, Shape::Long],
        EventKind::ArrayRead | EventKind::ArrayWrite => vec![
            Shape::Reference,
            Shape::Int,
            Shape::of(&site.target.descriptor).unwrap(),
        ],
        _ => [
            receiver(!site.is_static),
            vec![Shape::of(&site.target.descriptor).unwrap()],
        ]
        .concat(),
    }
}

fn value(shape: Shape, depth: u32) -> BoxedStrategy<Value> {
    match shape {
        Shape::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        Shape::Byte => any::<i8>().prop_map(Value::Byte).boxed(),
        Shape::Short => any::<i16>().prop_map(Value::Short).boxed(),
        Shape::Char => any::<u16>().prop_map(Value::Char).boxed(),
        Shape::Int => any::<i32>().prop_map(Value::Int).boxed(),
        Shape::Long => any::<i64>().prop_map(Value::Long).boxed(),
        // Numbers only: a NaN is not equal to itself.
        Shape::Float => any::<i32>().prop_map(|v| Value::Float(v as f32)).boxed(),
        Shape::Double => any::<i64>().prop_map(|v| Value::Double(v as f64)).boxed(),
        Shape::Reference => reference(depth).prop_map(Value::Reference).boxed(),
    }
}

fn array(class: u32, element: Shape, depth: u32) -> BoxedStrategy<Reference> {
    let elements = prop::collection::vec(value(element, depth + 1), 0..4);
    (any::<u64>(), elements)
        .prop_map(move |(id, elements)| Reference::Array {
            id: ObjectId(id),
            class: TypeId(class),
            length: elements.len() as u32,
            contents: Contents::Elements(elements),
        })
        .boxed()
}

/// A part of an array whose other elements are not told.
fn part(class: u32, element: Shape) -> BoxedStrategy<Reference> {
    let elements = prop::collection::vec(value(element, 2), 0..4).prop_map(Contents::Elements);
    let known = prop_oneof![
        elements,
        any::<u32>().prop_map(|id| Contents::Blob(BlobId(id)))
    ];
    (any::<u64>(), any::<u32>(), any::<u32>(), known)
        .prop_map(move |(id, length, from, known)| Reference::Array {
            id: ObjectId(id),
            class: TypeId(class),
            length,
            contents: Contents::Part {
                from,
                known: Box::new(known),
            },
        })
        .boxed()
}

fn reference(depth: u32) -> BoxedStrategy<Reference> {
    let id = prop_oneof![0..1000u64, any::<u64>()].prop_map(ObjectId);
    let class = prop_oneof![Just(TypeId(1)), Just(TypeId(1 << 20))];
    let scalars = [
        Shape::Boolean,
        Shape::Byte,
        Shape::Short,
        Shape::Char,
        Shape::Int,
        Shape::Long,
        Shape::Float,
        Shape::Double,
    ];
    let boxed = prop::sample::select(scalars.to_vec()).prop_flat_map(|shape| value(shape, 0));
    let leaf = prop_oneof![
        Just(Reference::Null),
        Just(Reference::Redacted),
        Just(Reference::Unknown),
        (id, class.clone()).prop_map(|(id, class)| Reference::Object { id, class }),
        prop::collection::vec(0..0x100u16, 0..20).prop_map(Reference::String),
        prop::collection::vec(any::<u16>(), 0..20).prop_map(Reference::String),
        any::<u32>().prop_map(|id| Reference::StringBlob(BlobId(id))),
        class.prop_map(Reference::Class),
        (0..2u32).prop_map(|ordinal| Reference::Enum {
            class: TypeId(6),
            ordinal
        }),
        boxed.prop_map(|value| Reference::Boxed(Box::new(value))),
        (any::<u64>(), any::<u32>(), any::<Option<u32>>()).prop_map(|(id, length, blob)| {
            Reference::Array {
                id: ObjectId(id),
                class: TypeId(2),
                length,
                contents: blob.map_or(Contents::Unknown, |id| Contents::Blob(BlobId(id))),
            }
        }),
    ];
    if depth >= 2 {
        return leaf.boxed();
    }
    prop_oneof![
        8 => leaf,
        1 => array(2, Shape::Int, depth),
        1 => array(5, Shape::Boolean, depth),
        1 => array(7, Shape::Double, depth),
        1 => array(3, Shape::Reference, depth),
        1 => part(7, Shape::Double),
        1 => structure(depth),
        1 => (0..1u32 << 24).prop_map(Reference::Piece),
        1 => prop::sample::select(vec!["", "EMPTY", "PRESENT"]).prop_map(|name| {
            Reference::Constant { class: TypeId(8), name: name.to_owned() }
        }),
    ]
    .boxed()
}

fn structure(depth: u32) -> BoxedStrategy<Reference> {
    let fields = (
        value(Shape::Reference, depth + 1),
        value(Shape::Int, 0),
        value(Shape::Boolean, 0),
    );
    fields
        .prop_map(|(data, size, flag)| Reference::Structure {
            class: TypeId(8),
            fields: vec![data, size, flag],
        })
        .boxed()
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Event(EventKind, SiteId, Vec<Value>),
    Unwound(u32),
    Gap(u32, u64),
    Pad(u32),
    /// The thread's buffer is handed over.
    HandOver,
}

/// The events, in global order, each with its thread.
pub(crate) type Story = Vec<(u32, Happening)>;

pub(crate) fn story(threads: u32, length: usize) -> impl Strategy<Value = Story> {
    let event = prop::sample::select(sites()).prop_flat_map(|site| {
        let id = site.id;
        prop::sample::select(kinds(&site)).prop_flat_map(move |kind| {
            let values: Vec<_> = shapes(&site, kind)
                .into_iter()
                .map(|shape| value(shape, 0))
                .collect();
            values.prop_map(move |values| Happening::Event(kind, id, told(kind, values)))
        })
    });
    let happening = prop_oneof![
        16 => event,
        1 => (0..3u32).prop_map(Happening::Unwound),
        1 => (any::<u32>(), any::<u64>()).prop_map(|(reason, count)| Happening::Gap(reason, count)),
        1 => (0..9u32).prop_map(Happening::Pad),
        3 => Just(Happening::HandOver),
    ];
    prop::collection::vec((0..threads, happening), 0..length)
}

/// Elements of boolean arrays have sites that say byte.
fn told(kind: EventKind, mut values: Vec<Value>) -> Vec<Value> {
    let access = matches!(kind, EventKind::ArrayRead | EventKind::ArrayWrite);
    if let (true, [Value::Reference(Reference::Array { class, .. }), _, element]) =
        (access, values.as_mut_slice())
        && let (TypeId(5), Value::Byte(byte)) = (*class, &element)
    {
        *element = Value::Boolean(*byte != 0);
    }
    values
}

struct Lane {
    buffer: RecordBuffer,
    head: EventsHead,
    turn: Turn,
    open: u32,
    ordinal: u64,
}

/// The recording of a story, and the events a reader must find in it.
pub(crate) fn record(story: &Story) -> (Vec<u8>, Vec<Event>) {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.start(&start()).unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    let mut lanes: BTreeMap<u32, Lane> = BTreeMap::new();
    let mut turn = Turn(0);
    let mut last = None;
    let mut expected = Vec::new();
    for (thread, happening) in story {
        if last != Some(*thread) {
            turn.0 += 1;
            last = Some(*thread);
        }
        let lane = lanes.entry(*thread).or_insert_with(|| Lane {
            buffer: RecordBuffer::new(),
            head: EventsHead {
                thread: ThreadId(*thread),
                turn,
                ordinal: 0,
                count: 0,
            },
            turn,
            open: 0,
            ordinal: 0,
        });
        if lane.turn != turn {
            lane.turn = turn;
            if lane.buffer.bytes().is_empty() {
                lane.head.turn = turn;
            } else {
                lane.buffer.turn(turn);
            }
        }
        match happening {
            Happening::Event(kind, site, values) => {
                lane.buffer.event(*kind, *site, values);
                expected.push(Event {
                    index: EventIndex(expected.len() as u64),
                    thread: ThreadId(*thread),
                    turn,
                    ordinal: lane.ordinal,
                    kind: *kind,
                    site: *site,
                    values: values.clone(),
                    depth: lane.open,
                });
                lane.ordinal += 1;
                lane.open = match kind {
                    EventKind::IncomingCall | EventKind::OutgoingCall => lane.open + 1,
                    EventKind::IncomingReturn
                    | EventKind::IncomingThrow
                    | EventKind::OutgoingReturn
                    | EventKind::OutgoingThrow => lane.open.saturating_sub(1),
                    _ => lane.open,
                };
            }
            Happening::Unwound(crossings) => {
                lane.buffer.unwound(*crossings);
                lane.open = lane.open.saturating_sub(*crossings);
            }
            Happening::Gap(reason, count) => {
                lane.buffer.gap(*reason, *count);
                lane.ordinal = lane.ordinal.wrapping_add(*count);
            }
            Happening::Pad(length) => lane.buffer.pad(*length),
            Happening::HandOver => hand_over(&mut writer, lane),
        }
    }
    for lane in lanes.values_mut() {
        hand_over(&mut writer, lane);
    }
    (writer.into_store().unwrap(), expected)
}

fn hand_over(writer: &mut Writer<Vec<u8>>, lane: &mut Lane) {
    lane.head.count = lane.buffer.events();
    writer.events(lane.head, lane.buffer.bytes()).unwrap();
    lane.buffer.clear();
    lane.head.turn = lane.turn;
    lane.head.ordinal = lane.ordinal;
}
