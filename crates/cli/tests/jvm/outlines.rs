//! The recording holds outlines of the external classes that a replay needs, and of no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use culprit_classfile::{ClassFile, access};
use culprit_trace::Recording;

use crate::fixture::Fixture;
use crate::process::{command, run};
use crate::stage::{folder, on_every_jdk};

/// The outlines of a recording, by the names of their classes.
fn outlines(recording: &Recording) -> BTreeMap<String, ClassFile> {
    let outlines = recording.classes().iter().filter(|class| class.outline);
    outlines
        .map(|class| {
            assert!(!class.observed);
            let bytes = recording.class_bytes(class).unwrap();
            let outline = ClassFile::parse(&bytes).unwrap();
            assert_eq!(outline.name().unwrap(), class.name);
            (class.name.clone(), outline)
        })
        .collect()
}

/// Names of fields or methods, in order.
fn names(outline: &ClassFile, members: &[culprit_classfile::Member]) -> Vec<String> {
    let name = |m: &culprit_classfile::Member| outline.pool.utf8(m.name).unwrap().into_owned();
    members.iter().map(name).collect()
}

/// The JVM's own part of a name differs from run to run.
fn general(name: &str) -> String {
    let end = name.find("$$Lambda").map(|at| at + "$$Lambda".len());
    let name = &name[..end.unwrap_or(name.len())];
    match name.rfind("$Proxy") {
        Some(at) => name[at..].trim_end_matches(|c: char| c.is_ascii_digit()),
        None => name,
    }
    .to_owned()
}

#[test]
fn classes_of_values_and_those_that_observed_classes_name_have_outlines() {
    let fixture = Fixture::named("capture/outlines");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let outlines = outlines(&recording);
        let found: BTreeSet<String> = outlines.keys().map(|name| general(name)).collect();
        let expected = [
            "$Proxy",
            "outlines/Base",
            "outlines/Color",
            "outlines/Color$1",
            "outlines/Early",
            "outlines/Element",
            "outlines/Late",
            "outlines/Main",
            "outlines/Main$$Lambda",
            "outlines/Named",
            "outlines/Root",
            "outlines/Shape",
            "outlines/Trouble",
            "outlines/Value",
        ];
        assert_eq!(found, expected.map(str::to_owned).into());

        let early = &outlines["outlines/Early"];
        assert_eq!(names(early, &early.fields), ["LIMIT", "NAME", "count"]);
        assert_eq!(names(early, &early.methods), ["<init>", "count"]);
        let constants = early.fields.iter();
        let constants = constants.filter(|f| f.attribute(&early.pool, "ConstantValue").is_some());
        assert_eq!(constants.count(), 2);
        let count = &early.methods[1];
        assert!(count.attribute(&early.pool, "Exceptions").is_some());
        assert!(count.attribute(&early.pool, "Code").is_none());

        // Constants are fields, in the order of their declaration.
        let color = &outlines["outlines/Color"];
        let constants = color.fields.iter().filter(|f| f.access & access::ENUM != 0);
        let constants: Vec<_> = constants.cloned().collect();
        assert_eq!(names(color, &constants), ["RED", "GREEN"]);

        assert!(
            outlines["outlines/Value"]
                .attribute("InnerClasses")
                .is_some()
        );
        let of = |end: &str| {
            let found = outlines.keys().find(|name| general(name).ends_with(end));
            &outlines[found.unwrap()]
        };
        let lambda = of("$$Lambda");
        assert_eq!(
            lambda.interface_names().unwrap(),
            ["java/util/concurrent/Callable"]
        );
        assert!(names(lambda, &lambda.methods).contains(&"call".to_owned()));
        assert_eq!(of("$Proxy").interface_names().unwrap(), ["outlines/Shape"]);
    });
}

#[test]
fn a_jvm_loads_the_outline_of_an_interface_as_it_is() {
    let fixture = Fixture::named("capture/outlines");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let folder = folder();
        fs::create_dir(folder.path().join("outlines")).unwrap();
        for (name, outline) in outlines(&recorded.complete()) {
            if outline.access & access::INTERFACE != 0 {
                let file = folder.path().join(format!("{name}.class"));
                fs::write(file, outline.write().unwrap()).unwrap();
            }
        }
        let mut java = command(stage.jdk.tool("java"), folder.path());
        java.arg("-cp").arg(&stage.classes);
        java.arg("outlines.Load").arg(folder.path());
        let ended = run(&mut java);
        let expected = "abstract interface outlines.Shape extends outlines.Named\n4\n\
                        largest java.lang.Comparable<T>\n";
        assert_eq!(
            (ended.out.as_str(), ended.status),
            (expected, 0),
            "{}",
            ended.err
        );
    });
}

/// A killed JVM leaves whole blocks: whatever types they define, the outlines are there.
#[test]
fn outlines_stand_before_the_types_that_need_them() {
    let fixture = Fixture::named("capture/outlines");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let whole = recorded.complete();
        let bytes = fs::read(whole.path()).unwrap();
        let mut borders = vec![10];
        while let Some(header) = bytes[borders[borders.len() - 1]..].first_chunk::<14>() {
            let length = u32::from_le_bytes(header[2..6].try_into().unwrap());
            borders.push(borders[borders.len() - 1] + header.len() + length as usize);
        }
        let mut seen = 0;
        for border in &borders[2..] {
            let part = Recording::from_bytes("part", bytes[..*border].to_vec()).unwrap();
            let stored: BTreeSet<&str> = part.classes().iter().map(|c| c.name.as_str()).collect();
            for needed in part.types().iter() {
                if needed.name.starts_with("outlines/") || needed.name.contains("$Proxy") {
                    assert!(stored.contains(needed.name.as_str()), "{}", needed.name);
                    seen += 1;
                }
            }
        }
        assert!(seen > 5, "{seen}");
    });
}

#[test]
fn recordings_of_the_last_events_keep_their_outlines() {
    let fixture = Fixture::named("capture/outlines");
    on_every_jdk(&fixture, |stage| {
        let run = stage.run(&fixture);
        let whole = run.record_unnoticed().complete();
        let all = outlines(&whole);
        let last = run
            .recording(&["--last", "2"])
            .record_unnoticed()
            .recording();
        assert!(last.event_count() < whole.event_count());
        let general = |outlines: &BTreeMap<String, ClassFile>| -> BTreeSet<String> {
            outlines.keys().map(|name| general(name)).collect()
        };
        assert_eq!(general(&outlines(&last)), general(&all));
    });
}
