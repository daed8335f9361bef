//! Small recordings, made without a JVM. What is right about them is made wrong by the tests.

use culprit_model::site::TypeDef;
use culprit_model::{
    EventKind, Losses, Member, ObjectId, Reference, Site, SiteId, SiteKind, ThreadId, TypeId, Value,
};
use culprit_trace::{
    BlobKind, ClassDef, EndReason, Ending, EventsHead, RecordBuffer, Recording, Start, ThreadDef,
    Writer,
};

pub(crate) use culprit_model::EventKind as K;

/// A recording in the making.
pub(crate) struct Made {
    pub(crate) start: Start,
    /// Observed classes, with their flag `ahead`.
    pub(crate) classes: Vec<(&'static str, bool)>,
    /// What each thread did, the first one first.
    pub(crate) threads: Vec<RecordBuffer>,
    pub(crate) blobs: Vec<(u32, BlobKind, Vec<u8>)>,
    pub(crate) losses: Losses,
    pub(crate) ended: bool,
}

impl Made {
    /// One thread that calls `A.f`, which asks `B.g` and returns: nothing is wrong with it.
    pub(crate) fn sound() -> Made {
        let mut main = RecordBuffer::new();
        call(&mut main);
        end(&mut main);
        Made {
            start: Start {
                jvm_version: "21.0.2+13".to_owned(),
                options: "out=/r,observe=a.A".to_owned(),
                ..Start::default()
            },
            classes: vec![("a/A", false)],
            threads: vec![main],
            blobs: Vec::new(),
            losses: Losses::default(),
            ended: true,
        }
    }

    /// A sound recording but for what its thread does.
    pub(crate) fn with(main: impl FnOnce(&mut RecordBuffer)) -> Made {
        let mut made = Made::sound();
        made.threads[0].clear();
        main(&mut made.threads[0]);
        made
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&self.start).unwrap();
        for (name, ahead) in &self.classes {
            let class = ClassDef {
                name,
                loader: 1,
                observed: true,
                ahead: *ahead,
                bytes: CLASS_FILE,
                ..ClassDef::default()
            };
            writer.class(&class).unwrap();
        }
        writer.types(&types()).unwrap();
        writer.sites(&sites()).unwrap();
        for (id, kind, bytes) in &self.blobs {
            let id = culprit_model::BlobId(*id);
            writer.blob(id, *kind, bytes).unwrap();
        }
        for (id, buffer) in (1..).zip(&self.threads) {
            let thread = ThreadDef {
                id: ThreadId(id),
                name: format!("thread {id}"),
                ..ThreadDef::default()
            };
            writer.thread(&thread).unwrap();
            let head = EventsHead {
                thread: thread.id,
                count: buffer.events(),
                ..EventsHead::default()
            };
            writer.events(head, buffer.bytes()).unwrap();
        }
        writer.losses(&self.losses).unwrap();
        if self.ended {
            let ending = Ending {
                reason: EndReason::JvmEnded,
                exit_status: Some(0),
                duration_ms: 1,
            };
            writer.end(&ending).unwrap();
        }
        writer.into_store().unwrap()
    }

    pub(crate) fn recording(&self) -> Recording {
        read(self.bytes())
    }
}

pub(crate) const CLASS_FILE: &[u8] = b"\xca\xfe\xba\xbe";

pub(crate) fn read(bytes: Vec<u8>) -> Recording {
    Recording::from_bytes("memory", bytes).unwrap()
}

/// A call of `A.f` that has asked `B.g` for something, and was answered.
pub(crate) fn call(out: &mut RecordBuffer) {
    out.event(K::IncomingCall, SiteId(1), &[object(1, 1), text("x")]);
    ask(out, text("y"), text("z"));
}

/// `A.f` asks `B.g`.
pub(crate) fn ask(out: &mut RecordBuffer, argument: Value, answer: Value) {
    out.event(K::OutgoingCall, SiteId(2), &[argument]);
    out.event(K::OutgoingReturn, SiteId(2), &[answer]);
}

/// `A.f` returns.
pub(crate) fn end(out: &mut RecordBuffer) {
    out.event(EventKind::IncomingReturn, SiteId(1), &[]);
}

pub(crate) fn object(id: u64, class: u32) -> Value {
    Value::Reference(Reference::Object {
        id: ObjectId(id),
        class: TypeId(class),
    })
}

pub(crate) fn text(text: &str) -> Value {
    Value::Reference(Reference::String(text.encode_utf16().collect()))
}

fn types() -> Vec<TypeDef> {
    let named = |(id, name): (u32, &str)| TypeDef {
        id: TypeId(id),
        name: name.to_owned(),
        loader: 1,
        constants: Vec::new(),
        fields: Vec::new(),
    };
    [
        (1, "a/A"),
        (2, "b/B"),
        (3, "[I"),
        (4, "[Ljava/lang/Object;"),
    ]
    .map(named)
    .to_vec()
}

fn sites() -> Vec<Site> {
    let any = "(Ljava/lang/Object;)Ljava/lang/Object;";
    let site = |(id, kind, owner, name, descriptor): (u32, _, &str, &str, &str)| Site {
        id: SiteId(id),
        kind,
        class: "a/A".to_owned(),
        method: "f".to_owned(),
        descriptor: "(Ljava/lang/Object;)V".to_owned(),
        line: Some(3),
        source: Some("A.java".to_owned()),
        target: Member {
            owner: owner.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        },
        is_static: kind == SiteKind::Call,
    };
    [
        (1, SiteKind::Entry, "a/A", "f", "(Ljava/lang/Object;)V"),
        (2, SiteKind::Call, "b/B", "g", any),
        (3, SiteKind::Field, "b/B", "x", "Ljava/lang/Object;"),
        (4, SiteKind::Callee, "b/B", "hashCode", "()I"),
    ]
    .map(site)
    .to_vec()
}
