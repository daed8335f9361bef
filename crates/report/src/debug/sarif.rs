//! `report.sarif`: the failures that tests reproduce, for code-scanning views.

use std::collections::{BTreeMap, BTreeSet};

use culprit_signature::{Call, Frame, FrameOrigin, Signature, ThrowSite, mask_literals};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::html::is_same;
use super::{
    FailureEntry, FailureRate, LinkEntry, LinkEvidence, MethodEntry, OriginEntry, ReportedFailure,
    TestsReport, turn,
};
use crate::markup;
use crate::sarif::{
    ArtifactLocation, CodeFlow, Finding, Importance, Invocation, Level, Location, Log,
    LogicalLocation, Message, PhysicalLocation, Region, Rule, RuleConfiguration, Run, Step, Tool,
    plain,
};

/// The rule of all results.
const RULE: &str = "reproduced-failure";

/// The name of our fingerprint, with the version of the way in which it is computed.
const FINGERPRINT: &str = "culpritFailure/v1";

/// The most frames of a stack that may be the place of a failure.
const MOST_FRAMES: usize = 64;

/// Where source files are, by their paths below the root of their packages (`com/acme/Foo.java`): their paths below the
/// folder that the report is about.
pub type SourcePaths = BTreeMap<String, String>;

/// The parts of a signature that the document lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    /// A digest of the failure that is the same in other runs, and while lines move.
    fingerprint: String,
    /// The frames of the program, the innermost first.
    frames: Vec<Frame>,
    /// Whether the innermost frame is the place at which the failure was thrown, and not that of an assertion.
    is_thrown_there: bool,
}

impl Identity {
    pub(super) fn of(signature: &Signature) -> Identity {
        let frames = signature.thrown().frames.iter();
        let frames = frames.filter(|frame| frame.origin() == FrameOrigin::Program);
        Identity {
            fingerprint: fingerprint(signature),
            frames: frames.take(MOST_FRAMES).cloned().collect(),
            is_thrown_there: !signature.is_assertion(),
        }
    }
}

/// The digest of the classes of a failure and its causes, of their messages without numbers and quoted texts, and of the
/// methods that threw them.
fn fingerprint(signature: &Signature) -> String {
    let mut text = String::new();
    for (thrown, site) in signature.thrown().chain().zip(signature.sites()) {
        let message = thrown.message.as_deref().map(mask_literals);
        let mut frames = thrown.frames.iter();
        let own = frames.find(|frame| frame.origin() == FrameOrigin::Program);
        let calls: Vec<Call> = match site {
            ThrowSite::Recursion(calls) => calls.iter().cloned().collect(),
            ThrowSite::Anywhere => Vec::new(),
            ThrowSite::Assertion(call) => {
                let own = own.map(Call::of);
                call.iter().cloned().chain(own).collect()
            }
            ThrowSite::Place { .. } | ThrowSite::Unknown => own.map(Call::of).into_iter().collect(),
        };
        let calls = calls.iter().map(|it| format!("{}.{}", it.class, it.method));
        let parts = [thrown.class.clone(), message.unwrap_or_default()];
        for part in parts.into_iter().chain(calls) {
            text.push_str(&part);
            text.push('\0');
        }
        text.push('\n');
    }
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// The properties of a result: the evidence for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Evidence {
    /// The verdict on the test.
    verdict: String,
    /// The tests that reproduce the failure, by their files in the result folder.
    tests: Vec<String>,
    /// Runs of the command that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    fails: Option<FailureRate>,
    /// The best evidence in the chain: confirmed or related.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<LinkEvidence>,
    /// Runs with one value changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    experiments: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_run: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_in_slice: Option<usize>,
    /// The reason why the trace is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

impl TestsReport {
    /// The source files that `report.sarif` may name, by their paths below the root of their packages.
    pub fn source_files(&self) -> BTreeSet<String> {
        let places = self.failures.iter().flat_map(ReportedFailure::places);
        places.filter_map(|place| place.path()).collect()
    }

    /// `report.sarif`. It has a result for each failure that a test reproduces.
    pub fn sarif(&self, command: &str, sources: &SourcePaths) -> String {
        let failures = self.failures.chunk_by(is_same);
        let reproduced = failures.filter_map(Reproduced::of);
        let results = reproduced.map(|failure| failure.finding(sources));
        let run = Run {
            tool: Tool::culprit(vec![rule()]),
            invocations: [Invocation {
                command_line: plain(command),
                execution_successful: true,
            }],
            results: results.collect(),
        };
        markup::json(&Log::new(run))
    }
}

fn rule() -> Rule {
    Rule {
        id: RULE,
        name: "ReproducedFailure",
        short_description: Message::new("A failure that a small test reproduces"),
        full_description: Message::new(
            "The program fails. Culprit reduced the failure to a small test, compiled and ran it, and saw it fail for \
             the same reason.",
        ),
        help: Message::new(
            "The property `tests` of a result names the tests in the result folder; they fail as long as the defect is \
             there. The code flow leads from the values that decide the failure to the place where it shows. An \
             essential step is confirmed: with another value there, nothing failed. An important step is related: the \
             failure depended on it. The related locations are the methods that the failure depended on, the likeliest \
             first.",
        ),
        default_configuration: RuleConfiguration {
            level: Level::Error,
        },
    }
}

/// A failure that at least one test reproduces.
struct Reproduced<'r> {
    /// The entry of the failure with the first of these tests.
    first: &'r ReportedFailure,
    tests: Vec<String>,
    origin: Option<&'r OriginEntry>,
}

impl<'r> Reproduced<'r> {
    /// The entries are those of one failure.
    fn of(failure: &'r [ReportedFailure]) -> Option<Reproduced<'r>> {
        let verified = failure.iter().filter(|it| it.entry.verified);
        let verified: Vec<&ReportedFailure> = verified.collect();
        let tests = verified.iter().filter_map(|it| it.entry.test.as_ref());
        let origins = tests.clone().filter_map(|test| test.origin.as_ref());
        Some(Reproduced {
            first: verified.first()?,
            tests: tests.map(|test| plain(&test.test)).collect(),
            origin: origins
                .filter(|origin| !origin.chain.is_empty())
                .min_by_key(|origin| !origin.is_confirmed()),
        })
    }

    fn finding(&self, sources: &SourcePaths) -> Finding<Evidence> {
        let origin = self.origin;
        let steps: Option<Vec<Step>> = origin.map(|origin| {
            let links = origin.chain.iter().rev();
            links.map(|link| link.step(sources)).collect()
        });
        let methods = origin.map_or(&[][..], |origin| &origin.methods);
        let related = methods.iter().enumerate();
        let related = related.map(|(index, method)| method.location(index + 1, sources));
        let entry = &self.first.entry;
        let place = self.place(sources);
        let fingerprint = self.first.identity.fingerprint.clone();
        Finding {
            rule_id: RULE,
            rule_index: 0,
            level: Level::Error,
            message: Message::new(&self.sentence()),
            locations: place.map(|it| it.location(sources)).into_iter().collect(),
            code_flows: steps.map(CodeFlow::new).into_iter().collect(),
            related_locations: related.collect(),
            partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint)]),
            properties: Evidence {
                verdict: plain(&entry.verdict),
                tests: self.tests.clone(),
                fails: entry.fails,
                evidence: origin
                    .and_then(OriginEntry::decisive)
                    .map(|link| link.evidence),
                experiments: origin.map(|it| it.experiments),
                lines_run: origin.map(|it| it.lines_run),
                lines_in_slice: origin.map(|it| it.lines_in_slice),
                partial: origin.and_then(|it| it.partial.as_deref()).map(plain),
            },
        }
    }

    /// The failure, and what decides it.
    fn sentence(&self) -> String {
        let FailureEntry { failure, test, .. } = &self.first.entry;
        let confirmed = self.origin.and_then(OriginEntry::decisive);
        let confirmed = confirmed.and_then(|link| Some((link.place(), link.experiment.as_ref()?)));
        let fails_after = test.as_ref().and_then(|test| test.fails_after.as_deref());
        match (confirmed, fails_after) {
            (Some((place, experiment)), _) => {
                format!("{failure}; decided at {place}: {experiment}.")
            }
            (None, Some(call)) => format!("{failure}; {}.", turn(call)),
            (None, None) => format!("{failure}; reproduced by {}.", self.tests.join(", ")),
        }
    }

    /// The place of the failure: where it was thrown, else the nearest link of the chain that is confirmed, else the
    /// nearest one, else the nearest caller. A place whose source is found comes before all others.
    fn place(&self, sources: &SourcePaths) -> Option<CodePlace<'r>> {
        let links = self.origin.map_or(&[][..], |origin| &origin.chain);
        let of = |evidence| {
            let links = links.iter().filter(move |link| link.evidence == evidence);
            links.map(CodePlace::of_link)
        };
        let identity = &self.first.identity;
        let frames = identity.frames.iter().map(CodePlace::of_frame);
        let thrown = frames.clone().take(usize::from(identity.is_thrown_there));
        let all = thrown
            .chain(of(LinkEvidence::Confirmed))
            .chain(of(LinkEvidence::Related))
            .chain(frames);
        let found = all.clone().find(|place| place.is_found(sources));
        let named = || all.clone().find(|place| place.path().is_some());
        found.or_else(named).or_else(|| all.clone().next())
    }
}

impl ReportedFailure {
    /// All places that a result may name.
    fn places(&self) -> impl Iterator<Item = CodePlace<'_>> {
        let origin = self.entry.test.as_ref().and_then(|it| it.origin.as_ref());
        let links = origin.into_iter().flat_map(|origin| &origin.chain);
        let methods = origin.into_iter().flat_map(|origin| &origin.methods);
        let frames = self.identity.frames.iter().map(CodePlace::of_frame);
        let links = links.map(CodePlace::of_link);
        frames
            .chain(links)
            .chain(methods.map(CodePlace::of_method))
            .filter(|_| self.entry.verified)
    }
}

impl LinkEntry {
    fn step(&self, sources: &SourcePaths) -> Step {
        let (kind, importance) = match self.evidence {
            LinkEvidence::Confirmed => ("confirmed", Importance::Essential),
            LinkEvidence::Related => ("related", Importance::Important),
        };
        let evidence = match &self.experiment {
            Some(experiment) => format!("confirmed: {experiment}"),
            None => "related: the failure depended on it".to_owned(),
        };
        let value = self.value.as_ref().map(|it| format!("; value: {it}"));
        let code = match &self.code {
            Some(code) => format!("code: {code}"),
            None => format!("in {}.{}", self.class, self.method),
        };
        let text = format!("{evidence}{}; {code}", value.unwrap_or_default());
        Step {
            location: Location {
                message: Some(Message::new(&text)),
                ..CodePlace::of_link(self).location(sources)
            },
            kinds: [kind],
            importance,
        }
    }
}

impl MethodEntry {
    fn location(&self, id: usize, sources: &SourcePaths) -> Location {
        let evidence = match self.evidence {
            LinkEvidence::Confirmed => "confirmed",
            LinkEvidence::Related => "related",
        };
        Location {
            id: Some(id),
            message: Some(Message::new(&format!("{}: {evidence}", self.name()))),
            ..CodePlace::of_method(self).location(sources)
        }
    }
}

/// A place in the code of the program.
#[derive(Clone, Copy)]
struct CodePlace<'r> {
    class: &'r str,
    method: &'r str,
    file: Option<&'r str>,
    line: Option<u32>,
}

impl<'r> CodePlace<'r> {
    fn of_link(link: &'r LinkEntry) -> CodePlace<'r> {
        CodePlace {
            class: &link.class,
            method: &link.method,
            file: link.file.as_deref(),
            line: link.line.map(u32::from),
        }
    }

    /// The nearest line of a method.
    fn of_method(method: &'r MethodEntry) -> CodePlace<'r> {
        CodePlace {
            class: &method.class,
            method: &method.method,
            file: method.file.as_deref(),
            line: method.lines.first().copied().map(u32::from),
        }
    }

    fn of_frame(frame: &'r Frame) -> CodePlace<'r> {
        CodePlace {
            class: &frame.class,
            method: &frame.method,
            file: frame.file.as_deref(),
            line: frame.line,
        }
    }

    /// The path of the source file below the root of the packages. Its parts come from a class file: names that lead
    /// elsewhere are refused.
    fn path(&self) -> Option<String> {
        let package = self.class.rsplit_once('.').map(|(package, _)| package);
        let folders = package.into_iter().flat_map(|package| package.split('.'));
        let parts: Vec<&str> = folders.chain([self.file?]).collect();
        let is_name =
            |part: &&str| !["", ".", ".."].contains(part) && !part.contains(['/', '\\', '\0']);
        parts.iter().all(is_name).then(|| parts.join("/"))
    }

    fn is_found(&self, sources: &SourcePaths) -> bool {
        self.path().is_some_and(|path| sources.contains_key(&path))
    }

    fn location(&self, sources: &SourcePaths) -> Location {
        let physical = self.path().map(|path| PhysicalLocation {
            artifact_location: match sources.get(&path) {
                Some(found) => ArtifactLocation::of_sources(found),
                None => ArtifactLocation::unrooted(&path),
            },
            region: self
                .line
                .filter(|line| *line > 0)
                .map(|start_line| Region { start_line }),
        });
        Location {
            id: None,
            physical_location: physical,
            logical_locations: [LogicalLocation {
                fully_qualified_name: plain(&format!("{}.{}", self.class, self.method)),
                kind: "function",
            }],
            message: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::clean;
    use culprit_signature::Thrown;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::tests::{failure, missed};
    use super::*;

    const COMMAND: &str = "culprit debug -- java A";

    fn value(failures: Vec<ReportedFailure>, sources: &SourcePaths) -> Value {
        let text = TestsReport { failures }.sarif(COMMAND, sources);
        let value: Value = serde_json::from_str(&text).unwrap();
        conforms(&value);
        value
    }

    /// Checks what the standard and code-scanning views ask for.
    fn conforms(log: &Value) {
        assert_eq!(log["version"], "2.1.0");
        let schema = log["$schema"].as_str().unwrap();
        assert!(schema.ends_with("sarif-schema-2.1.0.json"), "{schema}");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "culprit");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        }
        each(log, &mut |name, value| match name {
            "uri" => {
                let uri = value.as_str().unwrap();
                let is_bad = |part: &str| ["", ".", ".."].contains(&part);
                assert!(!uri.split('/').any(is_bad) && !uri.contains(':'), "{uri}");
                assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
            }
            "startLine" => assert!(value.as_u64().unwrap() > 0),
            "text" => assert!(!value.as_str().unwrap().contains("](")),
            _ => {}
        });
    }

    /// Visits all fields.
    fn each(value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    visit(name, field);
                    each(field, visit);
                }
            }
            Value::Array(all) => all.iter().for_each(|one| each(one, visit)),
            other => visit("", other),
        }
    }

    fn result(failures: Vec<ReportedFailure>, sources: &SourcePaths) -> Value {
        value(failures, sources)["runs"][0]["results"][0].clone()
    }

    fn found(path: &str) -> SourcePaths {
        BTreeMap::from([(path.to_owned(), format!("core/src/main/java/{path}"))])
    }

    #[test]
    fn a_failure_is_a_result_with_its_chain_and_its_methods() {
        let failures = vec![failure(), missed()];
        let text = TestsReport { failures }.sarif(COMMAND, &found("a/B.java"));
        conforms(&serde_json::from_str(&text).unwrap());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn only_failures_with_a_verified_test_are_results_and_each_is_one() {
        let none = SourcePaths::new();
        let results = |failures| value(failures, &none)["runs"][0]["results"].clone();
        assert_eq!(results(vec![missed()]), Value::Array(Vec::new()));
        let mut unverified = failure();
        unverified.entry.verified = false;
        assert_eq!(results(vec![unverified.clone()]), Value::Array(Vec::new()));
        let mut other = failure();
        other.entry.failure = "a.Other".to_owned();
        let results = results(vec![unverified, failure(), failure(), other]);
        assert_eq!(results.as_array().unwrap().len(), 2);
        let tests = results[0]["properties"]["tests"].as_array().unwrap();
        assert_eq!(tests.len(), 2);
    }

    #[test]
    fn a_failure_without_a_chain_has_its_place_and_its_test() {
        let mut bare = failure();
        bare.entry.test.as_mut().unwrap().origin = None;
        let result = result(vec![bare], &SourcePaths::new());
        let text = "a.Thrown \"<b>\"; reproduced by innermost/a/BTest.java.";
        assert_eq!(result["message"]["text"], text);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a/B.java");
        assert_eq!(place["artifactLocation"].get("uriBaseId"), None);
        assert_eq!(place["region"]["startLine"], 1);
        assert_eq!(result.get("codeFlows"), None);
        assert_eq!(result["properties"].get("evidence"), None);
    }

    #[test]
    fn a_place_whose_source_is_found_comes_first() {
        let main = result(vec![failure()], &found("a/Main.java"));
        let place = &main["locations"][0]["physicalLocation"];
        let uri = "core/src/main/java/a/Main.java";
        assert_eq!(place["artifactLocation"]["uri"], uri);
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        assert_eq!(place["region"]["startLine"], 3);
        let mut asserted = failure();
        asserted.identity.is_thrown_there = false;
        let confirmed = result(vec![asserted], &SourcePaths::new());
        let place = &confirmed["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 7);
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_paths() {
        let path = |class: &str, file: &str| {
            let place = CodePlace {
                class,
                method: "m",
                file: Some(file),
                line: None,
            };
            place.path()
        };
        assert_eq!(path("a.b.C$D", "C.java").as_deref(), Some("a/b/C.java"));
        assert_eq!(path("C", "C.java").as_deref(), Some("C.java"));
        for (class, file) in [
            ("a.C", "../C.java"),
            ("a.C", ".."),
            ("a..C", "C.java"),
            (".C", "C.java"),
            ("a/../b.C", "C.java"),
            ("a.C", "x\\C.java"),
        ] {
            assert_eq!(path(class, file), None, "{class} {file}");
        }
    }

    #[test]
    fn the_fingerprint_is_that_of_the_failure_in_other_runs_too() {
        let of = |trace: &str| fingerprint(&Signature::of(&Thrown::parse(trace).unwrap()));
        let one =
            of("a.E: no 7 in \"x\"\n\tat java.util.List.of(List.java:9)\n\tat a.B.c(B.java:1)");
        assert_eq!(one.len(), 32);
        assert_eq!(
            one,
            of("a.E: no 81 in \"yz\"\n\tat a.B.c(B.java:40)\n\tat a.Main.main(Main.java:3)")
        );
        for other in [
            "a.F: no 7 in \"x\"\n\tat a.B.c(B.java:1)",
            "a.E: not 7 in \"x\"\n\tat a.B.c(B.java:1)",
            "a.E: no 7 in \"x\"\n\tat a.B.d(B.java:1)",
        ] {
            assert_ne!(one, of(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_text_of_a_program_is_harmful_once_it_is_decoded(text in any::<String>()) {
            let hostile = format!("{text}\u{1b}\u{9b}\u{202e}\u{e0041}[a](b){{0}}");
            let mut failure = failure();
            failure.entry.failure.clone_from(&hostile);
            failure.entry.verdict.clone_from(&hostile);
            failure.identity.frames[0].class.clone_from(&hostile);
            failure.identity.frames[0].file = Some(hostile.clone());
            let test = failure.entry.test.as_mut().unwrap();
            test.test.clone_from(&hostile);
            let origin = test.origin.as_mut().unwrap();
            origin.partial = Some(hostile.clone());
            for link in &mut origin.chain {
                link.class.clone_from(&hostile);
                link.method.clone_from(&hostile);
                link.file = Some(hostile.clone());
                link.code = Some(hostile.clone());
                link.value = Some(hostile.clone());
            }
            origin.methods[0].method.clone_from(&hostile);
            let log = value(vec![failure], &SourcePaths::new());
            each(&log, &mut |_, value| {
                let text = value.as_str().unwrap_or_default();
                assert!(!text.contains(clean::is_harmful), "{text:?}");
            });
        }
    }
}
