//! Synthetic recordings: programs of a few kinds, played without a JVM. Everything follows from
//! a seed.
#![allow(
    dead_code,
    reason = "each test binary and the bench use a part of this"
)]

pub(crate) mod file;
pub(crate) mod story;

use culprit_model::site::TypeDef;
use culprit_model::{
    EventKind, Member, ObjectId, Reference, Site, SiteId, SiteKind, TypeId, Value,
};
use culprit_trace::{RecordBuffer, Start};

/// A small generator of numbers that look random (SplitMix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

pub(crate) fn site(
    id: u32,
    kind: SiteKind,
    class: &str,
    line: u16,
    target: (&str, &str, &str),
) -> Site {
    Site {
        id: SiteId(id),
        kind,
        class: class.to_owned(),
        method: "run".to_owned(),
        descriptor: "()V".to_owned(),
        line: Some(line),
        target: Member {
            owner: target.0.to_owned(),
            name: target.1.to_owned(),
            descriptor: target.2.to_owned(),
        },
        is_static: false,
        source: None,
    }
}

pub(crate) fn class(id: u32, name: &str) -> TypeDef {
    TypeDef {
        id: TypeId(id),
        name: name.to_owned(),
        loader: 1,
        constants: Vec::new(),
        fields: Vec::new(),
    }
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

pub(crate) fn start() -> Start {
    Start {
        culprit: "0.1.0".to_owned(),
        pid: 4711,
        started_ms: 1_700_000_000_000,
        command: ["java", "-cp", "app.jar", "com.acme.Main"]
            .map(str::to_owned)
            .to_vec(),
        directory: "/srv/app".to_owned(),
        jvm_name: "OpenJDK 64-Bit Server VM".to_owned(),
        jvm_version: "21.0.2+13".to_owned(),
        jvm_vendor: "Eclipse Adoptium".to_owned(),
        ..Start::default()
    }
}

pub(crate) fn types() -> Vec<TypeDef> {
    vec![
        class(1, "com/acme/Scanner"),
        class(2, "java/io/StringReader"),
        class(3, "java/lang/StringBuilder"),
        class(4, "com/acme/Token"),
        class(5, "java/util/HashMap"),
        class(6, "com/acme/Key"),
        class(7, "com/acme/Entry"),
        class(8, "com/acme/Point"),
        class(9, "[I"),
    ]
}

pub(crate) fn sites() -> Vec<Site> {
    let entry = |id, line, target| site(id, SiteKind::Entry, "com/acme/Scanner", line, target);
    let call = |id, line, target| site(id, SiteKind::Call, "com/acme/Scanner", line, target);
    let mut sites = vec![
        entry(1, 10, ("com/acme/Scanner", "next", "()Lcom/acme/Token;")),
        call(2, 12, ("java/io/Reader", "read", "()I")),
        call(
            3,
            13,
            (
                "java/lang/StringBuilder",
                "append",
                "(C)Ljava/lang/StringBuilder;",
            ),
        ),
        call(4, 16, ("java/lang/StringBuilder", "<init>", "()V")),
        call(
            5,
            17,
            (
                "java/lang/StringBuilder",
                "toString",
                "()Ljava/lang/String;",
            ),
        ),
        call(
            6,
            30,
            (
                "java/util/Map",
                "get",
                "(Ljava/lang/Object;)Ljava/lang/Object;",
            ),
        ),
        site(
            7,
            SiteKind::Callee,
            "com/acme/Key",
            31,
            ("com/acme/Key", "hashCode", "()I"),
        ),
        site(
            8,
            SiteKind::Callee,
            "com/acme/Key",
            32,
            ("com/acme/Key", "equals", "(Ljava/lang/Object;)Z"),
        ),
        entry(9, 40, ("com/acme/Shape", "distance", "(Lcom/acme/Point;)D")),
        site(
            10,
            SiteKind::Field,
            "com/acme/Shape",
            41,
            ("com/acme/Point", "x", "D"),
        ),
        site(
            11,
            SiteKind::Field,
            "com/acme/Shape",
            42,
            ("com/acme/Point", "y", "D"),
        ),
        entry(12, 50, ("com/acme/Graph", "add", "(IJZ)V")),
        entry(13, 51, ("com/acme/Graph", "log", "(Ljava/lang/String;)V")),
    ];
    sites.push(Site {
        is_static: true,
        source: None,
        ..entry(14, 60, ("com/acme/Util", "sum", "([II)I"))
    });
    sites
}

/// Programs to play; each call of `play` adds a handful of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Program {
    /// A scanner: reads characters, builds strings, makes tokens.
    Scanner,
    /// Look-ups in a map with keys of the program's own.
    Lookups,
    /// Distances between points: doubles that never repeat.
    Geometry,
    /// Small calls with counters and strings.
    Updates,
}

pub(crate) const PROGRAMS: [Program; 4] = [
    Program::Scanner,
    Program::Lookups,
    Program::Geometry,
    Program::Updates,
];

/// A program in the middle of its run.
pub(crate) struct Player {
    program: Program,
    numbers: Numbers,
    next_object: u64,
    round: u64,
}

impl Player {
    pub(crate) fn new(program: Program, seed: u64) -> Player {
        Player {
            program,
            numbers: Numbers(seed),
            next_object: 100,
            round: 0,
        }
    }

    pub(crate) fn play(&mut self, out: &mut RecordBuffer) {
        self.round += 1;
        match self.program {
            Program::Scanner => self.scan(out),
            Program::Lookups => self.look_up(out),
            Program::Geometry => self.measure(out),
            Program::Updates => self.update(out),
        }
    }

    fn new_object(&mut self) -> u64 {
        self.next_object += 1;
        self.next_object
    }

    fn scan(&mut self, out: &mut RecordBuffer) {
        use EventKind::{IncomingCall, IncomingReturn, OutgoingCall, OutgoingReturn};
        const LETTERS: &[u8] = b"etaoinshrdlu      etaoetaoinin(){};=.,0123";
        let (scanner, reader) = (object(5, 1), object(6, 2));
        out.event(IncomingCall, SiteId(1), std::slice::from_ref(&scanner));
        let builder = object(self.new_object(), 3);
        out.event(OutgoingCall, SiteId(4), &[]);
        out.event(OutgoingReturn, SiteId(4), std::slice::from_ref(&builder));
        let mut word = String::new();
        for _ in 0..=self.numbers.below(9) {
            let letter = LETTERS[self.numbers.below(LETTERS.len() as u64) as usize];
            word.push(letter as char);
            out.event(OutgoingCall, SiteId(2), std::slice::from_ref(&reader));
            out.event(OutgoingReturn, SiteId(2), &[Value::Int(letter.into())]);
            out.event(
                OutgoingCall,
                SiteId(3),
                &[builder.clone(), Value::Char(letter.into())],
            );
            out.event(OutgoingReturn, SiteId(3), std::slice::from_ref(&builder));
        }
        out.event(OutgoingCall, SiteId(5), std::slice::from_ref(&builder));
        out.event(OutgoingReturn, SiteId(5), &[text(&word)]);
        let token = object(self.new_object(), 4);
        out.event(IncomingReturn, SiteId(1), &[token]);
    }

    fn look_up(&mut self, out: &mut RecordBuffer) {
        use EventKind::{OutgoingCall, OutgoingReturn};
        let map = object(7, 5);
        let number = self.numbers.below(2000);
        let key = object(1000 + number, 6);
        out.event(OutgoingCall, SiteId(6), &[map, key.clone()]);
        out.event(OutgoingCall, SiteId(7), std::slice::from_ref(&key));
        let hash = (number as i32).wrapping_mul(31 * 31).wrapping_add(17);
        out.event(OutgoingReturn, SiteId(7), &[Value::Int(hash)]);
        if number % 4 != 0 {
            let other = object(5000 + number, 6);
            out.event(OutgoingCall, SiteId(8), &[key, other]);
            out.event(OutgoingReturn, SiteId(8), &[Value::Boolean(true)]);
        }
        out.event(OutgoingReturn, SiteId(6), &[object(9000 + number, 7)]);
    }

    fn measure(&mut self, out: &mut RecordBuffer) {
        use EventKind::{IncomingCall, IncomingReturn, OutgoingRead};
        let point = object(200 + self.numbers.below(500), 8);
        let (x, y) = (self.numbers.next() as f64, self.numbers.next() as f64);
        out.event(IncomingCall, SiteId(9), &[object(9, 8), point.clone()]);
        out.event(OutgoingRead, SiteId(10), &[point.clone(), Value::Double(x)]);
        out.event(OutgoingRead, SiteId(11), &[point, Value::Double(y)]);
        out.event(IncomingReturn, SiteId(9), &[Value::Double(x.hypot(y))]);
    }

    fn update(&mut self, out: &mut RecordBuffer) {
        use EventKind::{IncomingCall, IncomingReturn};
        let graph = object(10, 7);
        let values = [
            graph.clone(),
            Value::Int(self.round as i32),
            Value::Long(self.numbers.below(100) as i64),
            Value::Boolean(self.round % 2 == 0),
        ];
        out.event(IncomingCall, SiteId(12), &values);
        out.event(IncomingReturn, SiteId(12), &[]);
        if self.round % 8 == 0 {
            let line = format!("node {} added after {}", self.round, self.round - 1);
            out.event(IncomingCall, SiteId(13), &[graph, text(&line)]);
            out.event(IncomingReturn, SiteId(13), &[]);
        }
    }
}
