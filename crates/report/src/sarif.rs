//! The parts of SARIF 2.1.0 that reports have: the format in which code-scanning views read results.
//!
//! The types have the names and the nesting of the [standard]. Texts are made by [`Message::new`] and [`plain`], paths by
//! [`ArtifactLocation`], so that nothing in them is a link, a placeholder or a harmful character, also once a viewer has
//! decoded the JSON.
//!
//! [standard]: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

use std::collections::BTreeMap;
use std::fmt::Write;

use culprit_model::clean;
use serde::Serialize;

/// The schema of the format.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The name that viewers have for the root of the sources.
const SOURCE_ROOT: &str = "%SRCROOT%";

/// A file of SARIF.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Log<P> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<P>; 1],
}

impl<P> Log<P> {
    pub(crate) fn new(run: Run<P>) -> Log<P> {
        Log {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [run],
        }
    }
}

/// A run of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run<P> {
    pub(crate) tool: Tool,
    pub(crate) invocations: [Invocation; 1],
    pub(crate) results: Vec<Finding<P>>,
}

/// A tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

impl Tool {
    /// This tool, with the rules of its results.
    pub(crate) fn culprit(rules: Vec<Rule>) -> Tool {
        Tool {
            driver: Driver {
                name: "culprit",
                version: env!("CARGO_PKG_VERSION"),
                semantic_version: env!("CARGO_PKG_VERSION"),
                rules,
            },
        }
    }
}

/// A kind of result (`reportingDescriptor`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) short_description: Message,
    pub(crate) full_description: Message,
    pub(crate) help: Message,
    pub(crate) default_configuration: RuleConfiguration,
}

/// How important the results of a rule are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleConfiguration {
    pub(crate) level: Level,
}

/// The importance of a result.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
}

/// The command line of the tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Invocation {
    pub(crate) command_line: String,
    pub(crate) execution_successful: bool,
}

/// A result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding<P> {
    pub(crate) rule_id: &'static str,
    pub(crate) rule_index: usize,
    pub(crate) level: Level,
    pub(crate) message: Message,
    pub(crate) locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) related_locations: Vec<Location>,
    pub(crate) partial_fingerprints: BTreeMap<&'static str, String>,
    pub(crate) properties: P,
}

/// A text for people.
#[derive(Serialize)]
pub(crate) struct Message {
    text: String,
}

impl Message {
    /// A text on one line. In the messages of SARIF, braces enclose placeholders unless they are doubled (3.11.5), and
    /// `[text](target)` is a link (3.11.6). Backslashes, which would escape the brackets, are not understood by all viewers: a
    /// space takes the link apart.
    pub(crate) fn new(text: &str) -> Message {
        let text = clean::line(text);
        let text = text.replace('{', "{{").replace('}', "}}");
        Message {
            text: text.replace("](", "] ("),
        }
    }
}

/// A text on one line that is no message.
pub(crate) fn plain(text: &str) -> String {
    clean::line(text).into_owned()
}

/// A place.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) physical_location: Option<PhysicalLocation>,
    pub(crate) logical_locations: [LogicalLocation; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Message>,
}

/// A place in a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhysicalLocation {
    pub(crate) artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<Region>,
}

/// A file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

impl ArtifactLocation {
    /// A file below the root of the sources.
    pub(crate) fn of_sources(path: &str) -> ArtifactLocation {
        ArtifactLocation {
            uri: uri(path),
            uri_base_id: Some(SOURCE_ROOT),
        }
    }

    /// A file below a folder that is not known.
    pub(crate) fn unrooted(path: &str) -> ArtifactLocation {
        ArtifactLocation {
            uri: uri(path),
            uri_base_id: None,
        }
    }
}

/// A path as a relative reference. All characters are escaped but those that never mean anything in one.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'$' => {
                uri.push(char::from(byte));
            }
            // Writing to a text cannot fail.
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

/// Lines of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub(crate) start_line: u32,
}

/// A place in a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogicalLocation {
    pub(crate) fully_qualified_name: String,
    pub(crate) kind: &'static str,
}

/// A way through the program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeFlow {
    thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
struct ThreadFlow {
    locations: Vec<Step>,
}

impl CodeFlow {
    pub(crate) fn new(steps: Vec<Step>) -> CodeFlow {
        CodeFlow {
            thread_flows: [ThreadFlow { locations: steps }],
        }
    }
}

/// A step of a way through the program (`threadFlowLocation`).
#[derive(Serialize)]
pub(crate) struct Step {
    pub(crate) location: Location,
    pub(crate) kinds: [&'static str; 1],
    pub(crate) importance: Importance,
}

/// The importance of a step.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Importance {
    Essential,
    Important,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_message_is_a_link_a_placeholder_or_harmful() {
        let check = |text: &str, expect: &str| assert_eq!(Message::new(text).text, expect);
        check("int[] a = {0};", "int[] a = {{0}};");
        check("[here](http://x) ok", "[here] (http://x) ok");
        check("a\u{202e}b\u{9b}\nc", "a\\u202eb\\u009b\\nc");
    }

    #[test]
    fn a_path_is_a_relative_reference() {
        assert_eq!(uri("com/acme/Foo$1.java"), "com/acme/Foo$1.java");
        assert_eq!(uri("a:b/c d%.kt"), "a%3Ab/c%20d%25.kt");
        assert_eq!(uri("\u{202e}.java"), "%E2%80%AE.java");
    }
}
