//! A recording is data, and may come from anywhere: before any of its calls is made, it is seen to that they
//! are calls of a program.
//!
//! `culprit record` never observes classes in packages of `java`. A recording that says so was made to have Culprit
//! call `Files.delete`, or anything else, in the name of the user. Other classes of the JDK, such as those of its
//! compiler, can be observed; a replay runs their recorded code, but a script would call those of the JDK.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use culprit_jvm::Jdk;
use culprit_model::EventKind;
use culprit_model::observe::is_jdk_name;
use culprit_trace::Recording;

use crate::{Error, JdkClasses};

/// A claim of a recording that no recording of ours makes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Forged {
    /// A class of the JDK is called as if it were observed.
    #[error("{path}: {class}, a class of the JDK, is said to be observed", class = .class.replace('/', "."))]
    OfJdk {
        /// The recording.
        path: String,
        /// Its internal name.
        class: String,
    },
    /// No class can have this name.
    #[error("{path}: {class:?} is said to be an observed class, and is no name of one")]
    Name {
        /// The recording.
        path: String,
        /// The name.
        class: String,
    },
}

/// The code that the calls of a recording go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CalledCode {
    /// The code of the recording, where it has the class.
    Recorded,
    /// The code of a class path and of the JDK.
    Installed,
}

/// Refuses a recording whose calls would go elsewhere than to the program that it claims to be of.
pub fn vet(recording: &Recording, jdk: &Jdk, code: CalledCode) -> Result<(), Error> {
    // Few recordings have anything to look up.
    let classes = OnceCell::new();
    let recorded: BTreeSet<&str> = match code {
        CalledCode::Recorded => {
            let observed = recording.classes().iter().filter(|class| class.observed);
            observed.map(|class| class.name.as_str()).collect()
        }
        CalledCode::Installed => BTreeSet::new(),
    };
    vet_with(recording, |class| {
        // A JVM has no other classes in these packages, image or not.
        class.starts_with("java/")
            || !recorded.contains(class) && classes.get_or_init(|| JdkClasses::of(jdk)).has(class)
    })
}

/// The same, with what tells whether the JDK has a class of one of its packages.
fn vet_with(recording: &Recording, jdk_has: impl Fn(&str) -> bool) -> Result<(), Error> {
    let path = || recording.path().display().to_string();
    let observed = recording.classes().iter().filter(|class| class.observed);
    let mut names: BTreeSet<&str> = observed.map(|class| class.name.as_str()).collect();
    // What calls are made of is told by events, whatever kind of site they have.
    let owners: BTreeMap<u32, &str> = (recording.sites().iter())
        .map(|site| (site.id.0, site.target.owner.as_str()))
        .collect();
    let mut seen = BTreeSet::new();
    for head in recording.heads() {
        let head = head?;
        if is_incoming(head.kind) && seen.insert(head.site.0) {
            names.extend(owners.get(&head.site.0));
        }
    }
    for class in names {
        let class = class.to_owned();
        if !is_legal(&class) {
            return Err(Forged::Name {
                path: path(),
                class,
            }
            .into());
        }
        if is_jdk_name(&class) && jdk_has(&class) {
            return Err(Forged::OfJdk {
                path: path(),
                class,
            }
            .into());
        }
    }
    Ok(())
}

/// Whether a replay makes such an event happen.
fn is_incoming(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::IncomingCall | EventKind::IncomingRead | EventKind::IncomingWrite
    )
}

/// Whether the JVM could have loaded a class of this internal name. It allows much, and compilers of other
/// languages than Java use it; what steers a terminal, a path or a descriptor is not among it.
pub(crate) fn is_legal(class: &str) -> bool {
    let part = |part: &str| {
        let odd = |c: char| c.is_control() || matches!(c, ';' | '[' | '\\' | '<' | '>' | ':');
        !part.is_empty() && part != "." && part != ".." && !part.contains(odd)
    };
    class.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use culprit_model::{Member, Site, SiteId, SiteKind, ThreadId, Turn};
    use culprit_trace::{ClassDef, EventsHead, RecordBuffer, Start, Writer};

    use super::*;

    /// A recording with a call of a method of a class, at a site of some kind.
    fn calling(class: &str, kind: SiteKind, event: EventKind) -> Recording {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&Start::default()).unwrap();
        let target = Member {
            owner: class.to_owned(),
            name: "delete".to_owned(),
            descriptor: "()V".to_owned(),
        };
        let site = Site {
            id: SiteId(1),
            kind,
            class: "app/Main".to_owned(),
            method: "main".to_owned(),
            descriptor: "()V".to_owned(),
            line: None,
            source: None,
            target,
            is_static: true,
        };
        writer.sites(&[site]).unwrap();
        let mut records = RecordBuffer::new();
        records.event(event, SiteId(1), &[]);
        let head = EventsHead {
            thread: ThreadId(1),
            turn: Turn(0),
            ordinal: 0,
            count: 1,
        };
        writer.events(head, records.bytes()).unwrap();
        Recording::from_bytes("r.culprit", writer.into_store().unwrap()).unwrap()
    }

    fn storing(class: &str) -> Recording {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&Start::default()).unwrap();
        let class = ClassDef {
            name: class,
            observed: true,
            ..ClassDef::default()
        };
        writer.class(&class).unwrap();
        Recording::from_bytes("r.culprit", writer.into_store().unwrap()).unwrap()
    }

    fn is_of_jdk(class: &str) -> bool {
        [
            "java/nio/file/Files",
            "sun/misc/Unsafe",
            "javax/crypto/Cipher",
        ]
        .contains(&class)
    }

    #[track_caller]
    fn check(recording: &Recording, expect: &str) {
        let found = vet_with(recording, is_of_jdk).map_err(|error| error.to_string());
        assert_eq!(found.err().unwrap_or_default(), expect);
    }

    #[test]
    fn calls_of_the_jdk_are_refused_whatever_their_site_is() {
        for kind in [SiteKind::Entry, SiteKind::Call, SiteKind::Callee] {
            check(
                &calling("java/nio/file/Files", kind, EventKind::IncomingCall),
                "r.culprit: java.nio.file.Files, a class of the JDK, is said to be observed",
            );
        }
        check(
            &storing("sun/misc/Unsafe"),
            "r.culprit: sun.misc.Unsafe, a class of the JDK, is said to be observed",
        );
    }

    #[test]
    fn a_program_may_call_the_jdk_and_have_packages_of_such_names() {
        let out = calling(
            "java/nio/file/Files",
            SiteKind::Call,
            EventKind::OutgoingCall,
        );
        check(&out, "");
        for class in [
            "javax/inject/Provider",
            "javax/servlet/http/HttpServlet",
            "jdk/proxy1/$Proxy3",
            "com/sun/mail/smtp/SMTPTransport",
            "app/CartTest$adds two (at most)$1",
            "Main",
        ] {
            check(&storing(class), "");
            check(
                &calling(class, SiteKind::Entry, EventKind::IncomingCall),
                "",
            );
        }
        check(
            &storing("javax/crypto/Cipher"),
            "r.culprit: javax.crypto.Cipher, a class of the JDK, is said to be observed",
        );
    }

    #[test]
    fn names_that_no_class_can_have_are_refused() {
        for name in [
            "",
            "a//b",
            "/etc/A",
            "../../A",
            "a/../B",
            "[I",
            "La;",
            "A\nB",
            "A\u{1b}[2J",
        ] {
            let recording = storing(name);
            let error = vet_with(&recording, is_of_jdk).unwrap_err();
            assert!(
                matches!(error, Error::Forged(Forged::Name { .. })),
                "{name}"
            );
        }
    }
}
