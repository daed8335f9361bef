//! The agent: what it needs to weave and record, from the JVM's start to its end.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use culprit_jvmti::sys::jvmti as t;
use culprit_jvmti::{Jni, Jvmti, Local, Passed};
use culprit_model::AgentOptions;
use culprit_model::options::{Arrays, RecordOptions, WeaveOptions, WorkerOptions};
use culprit_model::secret::{self, MASK};
use culprit_trace::{EXTENSION, SALT_NOTE, Start, Writer};
use culprit_weave::lines::LineCounters;
use culprit_weave::{Purpose, SiteNumbers, hook};
use regex_lite::Regex;

use crate::callbacks::write_private;
use crate::caught::Describer;
use crate::classes::{Classes, Heirs};
use crate::load::connect_module;
use crate::lock::LockSafe;
use crate::natives;
use crate::recorder::{Message, Recorder, RecorderThread};
use crate::roots::{Launch, Roots};
use crate::runtime::{self, RuntimeNames};
use crate::surroundings;
use crate::tracing::tracing;
use crate::worker;

/// Trouble that keeps the agent from recording; the program runs as if it were not there.
pub(crate) type Trouble = Box<dyn std::error::Error>;

pub(crate) struct Agent {
    pub(crate) jvmti: Jvmti,
    pub(crate) purpose: Purpose,
    /// The names of the runtime in this JVM.
    pub(crate) names: RuntimeNames,
    /// Classes are woven; a witness records failures alone.
    pub(crate) weaves: bool,
    pub(crate) arrays: Arrays,
    salt: Option<i64>,
    /// The contents of library objects that observed code is given are recorded.
    pub(crate) records_contents: bool,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) classes: Classes,
    pub(crate) heirs: Heirs,
    pub(crate) numbers: SiteNumbers,
    /// The lines of observed classes, if they are counted.
    pub(crate) lines: Option<LineCounters>,
    pub(crate) redact: Vec<Regex>,
    pub(crate) losses: [&'static str; 6],
    /// Exceptions that are caught are noted. Set once the runtime is there.
    pub(crate) describer: OnceLock<Describer>,
    thread: Mutex<Option<RecorderThread>>,
    path: PathBuf,
    feature: u16,
}

/// Packages of `java.base` whose objects run live: the runtime follows their fields when one of
/// them escapes to external code.
const OPENED: [&str; 11] = [
    "java.lang",
    "java.lang.ref",
    "java.lang.invoke",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
    "java.util.regex",
    "java.util.stream",
    "java.math",
    "java.text",
];

impl Agent {
    /// Sets everything up in the JVM's live phase and starts to record.
    pub(crate) fn record(
        jvmti: Jvmti,
        jni: &Jni<'_>,
        options: &AgentOptions,
        record: &RecordOptions,
        feature: u16,
    ) -> Result<Agent, Trouble> {
        let redact = record
            .redact
            .iter()
            .map(|p| Regex::new(p))
            .collect::<Result<Vec<_>, _>>()?;
        let folder = Path::new(&options.out);
        let path = folder.join(format!("jvm-{}.{EXTENSION}", std::process::id()));
        let writer = Writer::create(&path)?;
        let recorder = Arc::new(Recorder::new(record.sample)?);
        let selection = &record.weave.selection;
        let roots = if selection.app || selection.observe.is_empty() {
            Roots::find(&Launch::of(jvmti))
        } else {
            Roots::default()
        };
        let mut start = facts_at_start(jvmti, options);
        surroundings::note(jni, &mut start);
        mask(&mut start, options, &redact);
        start.notes.extend(match record.weave.salt {
            Some(salt) => Some((SALT_NOTE.to_owned(), salt.to_string())),
            None => salt(jni),
        });
        let thread =
            RecorderThread::spawn(Arc::clone(&recorder), record, path.clone(), writer, start)?;
        let agent = Agent::new(jvmti, feature, recorder, roots, &record.weave);
        Ok(Agent {
            names: match record.beside {
                true => RuntimeNames::Beside,
                false => RuntimeNames::Usual,
            },
            records_contents: record.contents,
            redact,
            path,
            thread: Mutex::new(Some(thread)),
            ..agent
        })
    }

    /// The same with no class woven: the recording has the failures of the program alone.
    pub(crate) fn witness(
        jvmti: Jvmti,
        jni: &Jni<'_>,
        options: &AgentOptions,
        feature: u16,
    ) -> Result<Agent, Trouble> {
        let agent = Agent::record(jvmti, jni, options, &RecordOptions::default(), feature)?;
        Ok(Agent {
            weaves: false,
            ..agent
        })
    }

    /// The same in a JVM that replays: what is recorded is for the executor, and goes nowhere else.
    pub(crate) fn replay(
        jvmti: Jvmti,
        options: &WorkerOptions,
        weave: &WeaveOptions,
        feature: u16,
    ) -> Result<Agent, Trouble> {
        let recorder = Arc::new(Recorder::new(None)?);
        Ok(Agent {
            purpose: Purpose::Replay,
            lines: options.coverage.then(LineCounters::default),
            ..Agent::new(jvmti, feature, recorder, Roots::default(), weave)
        })
    }

    /// An agent that records events of woven classes.
    fn new(
        jvmti: Jvmti,
        feature: u16,
        recorder: Arc<Recorder>,
        roots: Roots,
        weave: &WeaveOptions,
    ) -> Agent {
        Agent {
            jvmti,
            purpose: Purpose::Record,
            names: RuntimeNames::Usual,
            weaves: true,
            arrays: weave.arrays,
            salt: weave.salt,
            records_contents: false,
            classes: Classes::new(weave.selection.clone(), roots),
            recorder,
            heirs: Heirs::default(),
            numbers: SiteNumbers::default(),
            lines: None,
            redact: Vec::new(),
            losses: [
                "arrays over 65536 references, recorded without contents",
                "arrays nested over 6 levels, recorded without contents",
                "library objects that escaped with over 65536 others",
                "values that could not be recorded because the heap was full",
                "accesses to fields by reflection that could not be followed",
                "states of objects over 1 MB or 65536 pieces, left out",
            ],
            describer: OnceLock::new(),
            thread: Mutex::new(None),
            path: PathBuf::new(),
            feature,
        }
    }

    /// Puts the Java runtime into the JVM. The agent must be reachable by native methods by now.
    pub(crate) fn install(&self, jni: &Jni<'_>) -> Result<(), Trouble> {
        let mut ours = None;
        let names = self.names;
        for (name, bytes) in runtime::CLASSES {
            let bytes = names.write(bytes.to_vec())?;
            let class = jni.define_class(&names.class(name), None, &bytes)?;
            if name.ends_with("/Native") {
                jni.register_natives(&class, &natives::table())?;
                ours = Some(class);
            }
        }
        let ours = ours.ok_or("the runtime has no class Native")?;
        if let Some(salt) = self.salt {
            set_salt(self.jvmti, jni, salt);
        }
        if self.purpose == Purpose::Replay {
            for (name, bytes) in runtime::REPLAY {
                let class = jni.define_class(name, None, bytes)?;
                if name.ends_with("/Executor") {
                    jni.register_natives(&class, &worker::table())?;
                }
            }
        }
        connect_module(self.jvmti, jni, &ours, &OPENED)?;
        if let Some(tracing) = tracing() {
            tracing.install(jni)?;
        }
        if !self.redact.is_empty() {
            let values = jni.find_class(&names.class("culprit/runtime/Values"))?;
            jni.set_static_field(&values, "masking", "Z", &Passed::Boolean(true))?;
        }
        // Asking for a method initialises its class, so that no woven method has to: there the
        // stack or the heap might be full, and the class be unusable for good.
        for (class, method, descriptor) in [
            ("State", "of", "(J)J"),
            ("Records", "end", "(J)V"),
            ("Beside", "self", "()Ljava/lang/Object;"),
            ("ClassInfo", "role", "(Ljava/lang/Object;)I"),
            ("Identity", "crossed", "(Ljava/lang/Object;)Z"),
            ("Hashes", "isOpen", "(Ljava/lang/Object;)Z"),
            ("Values", "one", "(JI)V"),
            ("Constants", "areOf", "(Ljava/lang/Class;)Z"),
            (
                "FieldTable",
                "read",
                "(Ljava/lang/Object;J)Ljava/lang/Object;",
            ),
            ("Structures", "matters", "(Ljava/lang/Object;)Z"),
            (
                "Strings",
                "compared",
                "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;",
            ),
            ("Probe", "enter", "(JI)J"),
            ("Failures", "test", "(Ljava/lang/Throwable;)V"),
            (
                "Hiding",
                "hide",
                "([Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;",
            ),
            ("Escape", "element", "(Ljava/lang/Object;J)V"),
            (
                "Children",
                "command",
                "([Ljava/lang/String;)[Ljava/lang/String;",
            ),
        ] {
            let class = jni.find_class(&names.class(&format!("culprit/runtime/{class}")))?;
            jni.static_method(&class, method, descriptor)?;
        }
        if self.purpose == Purpose::Replay {
            meet(jni)?;
        }
        // Found before the events begin: finding a class may load it.
        let hooked = hooked_classes(jni, self.purpose);
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_PREPARE)?;
        self.jvmti.retransform(&hooked)?;
        if self.notes_exceptions() {
            let describer = Describer::find(jni, &names.class("culprit/runtime/Failures"))?;
            let _ = self.describer.set(describer);
            // Without the events there are still those that are printed.
            let _ = self.jvmti.enable(t::JVMTI_EVENT_EXCEPTION);
        }
        Ok(())
    }

    /// Whether exceptions that are caught are noted: those of the program itself, and not of its replay.
    fn notes_exceptions(&self) -> bool {
        self.purpose == Purpose::Record && self.names == RuntimeNames::Usual
    }

    /// The JVM ends: everything that was recorded reaches the file.
    pub(crate) fn finish(&self) {
        if let Some(names) = self.classes.unmatched() {
            let list = self.path.with_extension("classes");
            write_private(&list, &(names.join("\n").replace('/', ".") + "\n"));
        }
        self.recorder.send(Message::End);
        if let Some(thread) = self.thread.lock_safe().take() {
            thread.join();
        }
    }

    pub(crate) fn feature(&self) -> u16 {
        self.feature
    }
}

/// Makes the runtime that replays known to the one that records the replay, where there is one, and
/// the other way round.
fn meet(jni: &Jni<'_>) -> Result<(), Trouble> {
    let usual = "culprit/runtime/Beside";
    let Ok(beside) = jni.find_class(&RuntimeNames::Beside.class(usual)) else {
        return Ok(());
    };
    let ours = jni.find_class(usual)?;
    for (class, other) in [(&ours, &beside), (&beside, &ours)] {
        let get = jni.static_method(other, "self", "()Ljava/lang/Object;")?;
        let other = Passed::Reference(jni.call_static_object(other, get)?);
        jni.set_static_field(class, "other", "Ljava/util/function/BiConsumer;", &other)?;
    }
    Ok(())
}

/// The classes of the JDK that have hooks.
fn hooked_classes<'j>(jni: &Jni<'j>, purpose: Purpose) -> Vec<Local<'j>> {
    let mut names: Vec<&str> = hook::HOOKS
        .iter()
        .filter(|h| h.is_for(purpose))
        .map(|h| h.class)
        .filter(|c| !hook::is_late(c))
        .collect();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| jni.find_class(name).ok())
        .collect()
}

fn facts_at_start(jvmti: Jvmti, options: &AgentOptions) -> Start {
    let property = |name: &str| jvmti.system_property(name).unwrap_or_default();
    let command = fs::read("/proc/self/cmdline").unwrap_or_default();
    let command: Vec<String> = command
        .split(|b| *b == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let flags = command
        .iter()
        .skip(1)
        .take_while(|a| a.starts_with('-'))
        .cloned()
        .collect();
    Start {
        culprit: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_ms: now_ms(),
        command,
        directory: std::env::current_dir()
            .map_or_else(|_| String::new(), |d| d.display().to_string()),
        jvm_name: property("java.vm.name"),
        jvm_version: property("java.vm.version"),
        jvm_vendor: property("java.vm.vendor"),
        jvm_flags: flags,
        properties: jvmti.system_properties(),
        options: options.to_string(),
        notes: Vec::new(),
    }
}

/// The class that has the salt, and its field, since JDK 12 or so.
const IMMUTABLE: &str = "java/util/ImmutableCollections";
const SALT: &str = "SALT32L";

/// What the JVM made up for the order of `Set.of` and `Map.of`.
fn salt(jni: &Jni<'_>) -> Option<(String, String)> {
    let read = |jni: &Jni<'_>| {
        let class = jni.find_class(IMMUTABLE).ok()?;
        jni.get_static_field(&class, SALT, "J").ok()?.long()
    };
    let salt = jni.with_frame(read).ok()??;
    Some((SALT_NOTE.to_owned(), salt.to_string()))
}

/// The nested classes whose code reads the salt.
const SALTED: [&str; 8] = [
    "Set12",
    "Set12$1",
    "SetN",
    "SetN$SetNIterator",
    "Map1",
    "MapN",
    "MapN$1",
    "MapN$MapNIterator",
];

/// Makes the JVM order immutable sets and maps as the recorded one did. Nothing that observed code
/// could see is ordered yet. Code that is compiled by now has the old salt in it, as a constant:
/// changing a class, be it to what it is, makes the JVM forget that code.
fn set_salt(jvmti: Jvmti, jni: &Jni<'_>, salt: i64) {
    let _ = jni.with_frame(|jni| {
        let class = jni.find_class(IMMUTABLE)?;
        jni.set_static_field(&class, SALT, "J", &Passed::Long(salt))?;
        let reverse = Passed::Boolean(salt & 1 == 0);
        jni.set_static_field(&class, "REVERSE", "Z", &reverse)?;
        let nested = SALTED.iter().map(|name| format!("{IMMUTABLE}${name}"));
        let nested: Vec<Local<'_>> = nested.filter_map(|n| jni.find_class(&n).ok()).collect();
        jvmti.retransform(&nested)
    });
}

/// Masks secrets with well-known names, and what `--redact` matches, in the command, the properties
/// and the folder. The patterns themselves may be secrets, so only their number is told.
fn mask(start: &mut Start, options: &AgentOptions, redact: &[Regex]) {
    start.command = secret::words(&start.command);
    start.jvm_flags = secret::words(&start.jvm_flags);
    for (name, value) in &mut start.properties {
        if let Cow::Owned(masked) = secret::value(name, value) {
            *value = masked;
        }
    }
    if redact.is_empty() {
        return;
    }
    let (all, shown) = (options.to_string(), options.without_patterns().to_string());
    let values = start.properties.iter_mut().map(|(_, value)| value);
    let words = start.command.iter_mut().chain(&mut start.jvm_flags);
    for value in values.chain(words).chain([&mut start.directory]) {
        *value = value.replace(&all, &shown);
        // The agent's own argument is not the program's.
        let own = value.starts_with("-agentpath:") && value.ends_with(&shown);
        if !own && redact.iter().any(|pattern| pattern.is_match(value)) {
            MASK.clone_into(value);
        }
    }
    start.options = shown;
    start
        .notes
        .push(("redact patterns".to_owned(), redact.len().to_string()));
}

#[expect(
    clippy::disallowed_methods,
    reason = "a recording says when it was made; nobody hands the agent a clock"
)]
fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}
