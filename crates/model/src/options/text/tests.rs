//! The text form: round trips of every mode, and the messages about texts that are none.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

#[test]
fn each_mode_prints_its_options_in_a_fixed_order() {
    for text in [
        "out=/r",
        "out=/r,beside=yes,salt=-4,observe=com.acme.**,observe=app,exclude=a.B$C,arrays=accesses,\
         last=9,keep=failing,contents=yes,sample=3,max-events=4,max-bytes=5,max-rate=6,\
         redact=%5b0-9%5d,redact=a%2cb",
        "out=/r,mode=witness",
        "out=/r,mode=suggest,observe=com.acme.**,observe=app,exclude=a.B$C,redact=x",
        "out=/r,mode=worker,socket=3,seal=yes,coverage=yes",
        "out=/r,mode=follow,observe=a.Test,seconds=8,test=parses,test=gr%c3%b6%c3%9fer",
    ] {
        let options: AgentOptions = text.parse().unwrap();
        assert_eq!(options.to_string(), text);
    }
    let text = "salt=7,observe=a.B,exclude=a.C,arrays=accesses";
    assert_eq!(text.parse::<WeaveOptions>().unwrap().to_string(), text);
    assert_eq!(WeaveOptions::default().to_string(), "");
}

#[test]
fn the_mode_may_stand_anywhere_and_be_named_although_it_is_the_default() {
    let named: AgentOptions = "last=4,out=r,mode=record".parse().unwrap();
    assert_eq!(named, "out=r,last=4".parse().unwrap());
    let late: AgentOptions = "seconds=4,out=r,mode=follow".parse().unwrap();
    assert_eq!(late, "out=r,mode=follow,seconds=4".parse().unwrap());
}

#[test]
fn bad_options_say_what_is_wrong() {
    for (text, expect) in [
        ("", "no folder to record to"),
        ("out", "`out` has no value"),
        ("out=x,colour=red", "unknown option `colour`"),
        ("out=x,mode=dance", "mode: `dance` is not a value of it"),
        ("out=x,sample=0", "sample: `0` is not a value of it"),
        (
            "out=x,contents=maybe",
            "contents: `maybe` is not a value of it",
        ),
        ("out=%zz", "not percent-encoded"),
        ("out=x,observe=a..b", "is not a class pattern"),
        ("out=x,mode=worker", "a worker needs socket=NUMBER"),
        (
            "out=x,mode=witness,last=4",
            "mode witness has no option `last`",
        ),
        (
            "out=x,mode=suggest,arrays=accesses",
            "mode suggest has no option `arrays`",
        ),
        (
            "out=x,mode=worker,socket=3,observe=a.B",
            "mode worker has no option `observe`",
        ),
        (
            "out=x,mode=follow,exclude=a.B",
            "mode follow has no option `exclude`",
        ),
        ("out=x,seal=yes", "mode record has no option `seal`"),
        ("out=x,seconds=x", "mode record has no option `seconds`"),
    ] {
        let message = text.parse::<AgentOptions>().unwrap_err().to_string();
        assert!(message.contains(expect), "{text}: {message}");
    }
    let message = "last=4".parse::<WeaveOptions>().unwrap_err().to_string();
    assert!(message.contains("unknown option `last`"), "{message}");
}

#[test]
fn a_recording_was_made_in_a_mode_that_records() {
    let record = RecordOptions::of_recording("out=x,contents=yes").unwrap();
    assert!(record.contents);
    let witness = RecordOptions::of_recording("out=x,mode=witness").unwrap();
    assert_eq!(witness, RecordOptions::default());
    let error = RecordOptions::of_recording("out=x,mode=suggest").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("mode suggest makes no recording"),
        "{error}"
    );
}

fn patterns() -> impl Strategy<Value = Vec<Pattern>> {
    vec("[a-zäß$_*-]{1,5}([.][A-Za-z$*]{1,5}){0,2}", 0..3)
        .prop_map(|names| names.iter().map(|name| name.parse().unwrap()).collect())
}

fn selection() -> impl Strategy<Value = Selection> {
    let observe = patterns().prop_filter("`app` is a word of its own", |patterns| {
        patterns.iter().all(|pattern| pattern.to_string() != "app")
    });
    (observe, patterns(), any::<bool>()).prop_map(|(observe, exclude, app)| Selection {
        observe,
        exclude,
        app,
    })
}

fn weave() -> impl Strategy<Value = WeaveOptions> {
    let arrays = prop_oneof![Just(Arrays::Contents), Just(Arrays::Accesses)];
    (of(any::<i64>()), selection(), arrays).prop_map(|(salt, selection, arrays)| WeaveOptions {
        salt,
        selection,
        arrays,
    })
}

fn limits() -> impl Strategy<Value = CaptureLimits> {
    let number = || of(any::<u64>());
    (number(), number(), number()).prop_map(|(events, bytes, rate)| CaptureLimits {
        events,
        bytes,
        rate,
    })
}

fn record() -> impl Strategy<Value = RecordOptions> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let counts = (of(any::<u64>()), of(1..u32::MAX), limits());
    let redact = vec("\\PC{0,20}", 0..3);
    (flags, counts, weave(), redact).prop_map(|(flags, counts, weave, redact)| {
        let (beside, keep_failing, contents) = flags;
        let (last, sample, limits) = counts;
        RecordOptions {
            beside,
            weave,
            last,
            keep_failing,
            contents,
            sample,
            limits,
            redact,
        }
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    let redact = vec("\\PC{0,20}", 0..3);
    let suggest = (selection(), redact)
        .prop_map(|(selection, redact)| Mode::Suggest(SuggestOptions { selection, redact }));
    let scope = prop_oneof![
        Just(TraceScope::Whole),
        Just(TraceScope::NoInitialisers),
        Just(TraceScope::ProgramAlone),
    ];
    let trace = (any::<u64>(), scope);
    let trace = trace.prop_map(|(bytes, scope)| TraceOptions { bytes, scope });
    let worker = (any::<u32>(), any::<bool>(), any::<bool>(), of(trace));
    let worker = worker.prop_map(|(socket, seal, coverage, trace)| {
        Mode::Worker(WorkerOptions {
            socket,
            seal,
            coverage,
            trace,
        })
    });
    let names = || vec("\\PC{0,20}", 0..3);
    let follow = (patterns(), of(any::<u64>()), names(), names());
    let follow = follow.prop_map(|(classes, seconds, tests, methods)| {
        Mode::Follow(FollowOptions {
            classes,
            seconds,
            tests,
            methods,
        })
    });
    prop_oneof![
        record().prop_map(Mode::Record),
        Just(Mode::Witness),
        Just(Mode::Sentinel),
        suggest,
        worker,
        follow,
    ]
}

proptest! {
    #[test]
    fn options_print_without_white_space_or_quotes_and_parse_back(
        out in "\\PC{1,40}",
        mode in mode(),
    ) {
        let options = AgentOptions { out, mode };
        let text = options.to_string();
        prop_assert!(!text.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c)), "{}", text);
        prop_assert_eq!(text.parse::<AgentOptions>().unwrap(), options);
    }

    #[test]
    fn the_options_of_weaving_parse_back(weave in weave()) {
        prop_assert_eq!(weave.to_string().parse::<WeaveOptions>().unwrap(), weave);
    }

    #[test]
    fn no_secret_pattern_is_left_in_a_text_without_patterns(out in "[a-z]{1,9}", mode in mode()) {
        let shown = AgentOptions { out, mode }.without_patterns();
        prop_assert!(shown.mode.redact().is_empty() && !shown.to_string().contains("redact="));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,80}") {
        let _ = text.parse::<AgentOptions>();
        let _ = text.parse::<WeaveOptions>();
    }
}
