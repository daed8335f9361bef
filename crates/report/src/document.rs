//! The envelope of every JSON document: its name, the version of its form, and the Culprit that wrote it.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::markup;

/// The version of a document's form. It rises when a field changes its meaning or is removed; fields may be
/// added under the same version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Version(pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The fields of a document behind its envelope.
pub trait Content {
    /// The name of the document.
    const NAME: &'static str;
    /// The version that this Culprit writes, and the newest that it reads.
    const VERSION: Version = Version(1);
}

/// A document: an envelope and its content, whose fields are beside those of the envelope.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document<T> {
    /// The kind of document.
    document: String,
    /// The version of its form.
    version: Version,
    /// The program that wrote it: `culprit 0.1.0`.
    generator: String,
    /// The result.
    #[serde(flatten)]
    pub content: T,
}

/// A text that is not a document which this Culprit reads.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is not JSON, or lacks fields.
    #[error("not a document of kind {wanted}: {source}")]
    Malformed {
        /// The kind of document that was asked for.
        wanted: &'static str,
        /// The first fault.
        source: serde_json::Error,
    },
    /// The document is of another kind.
    #[error("a document of kind {found}, not {wanted}")]
    OtherKind {
        /// The name in the document.
        found: String,
        /// The kind of document that was asked for.
        wanted: &'static str,
    },
    /// A newer Culprit wrote the document.
    #[error("version {found} of the document {document}; this culprit reads up to {supported}")]
    Newer {
        /// The kind of document.
        document: &'static str,
        /// The version in the document.
        found: Version,
        /// The newest version that can be read.
        supported: Version,
    },
}

impl<T: Content> Document<T> {
    /// Puts a result into its envelope.
    pub fn new(content: T) -> Document<T> {
        Document {
            document: T::NAME.to_owned(),
            version: T::VERSION,
            generator: format!("culprit {}", env!("CARGO_PKG_VERSION")),
            content,
        }
    }
}

impl<T: Content + Serialize> Document<T> {
    /// The document on several lines, without harmful characters.
    pub fn json(&self) -> String {
        markup::json(self)
    }

    /// The document on one line, without harmful characters.
    pub fn json_line(&self) -> String {
        markup::json_line(self)
    }
}

impl<T: Content + DeserializeOwned> Document<T> {
    /// Reads the content of a document. Fields that this Culprit does not know are left out. Documents of
    /// earlier Culprits, whose envelope had a version only, are read too.
    pub fn read(text: &str) -> Result<T, ReadError> {
        #[derive(Deserialize)]
        struct Envelope {
            document: Option<String>,
            version: Version,
        }
        let malformed = |source| ReadError::Malformed {
            wanted: T::NAME,
            source,
        };
        let value: Value = serde_json::from_str(text).map_err(malformed)?;
        let envelope = Envelope::deserialize(&value).map_err(malformed)?;
        match envelope.document {
            Some(found) if found != T::NAME => Err(ReadError::OtherKind {
                found,
                wanted: T::NAME,
            }),
            _ if envelope.version > T::VERSION => Err(ReadError::Newer {
                document: T::NAME,
                found: envelope.version,
                supported: T::VERSION,
            }),
            _ => serde_json::from_value(value).map_err(malformed),
        }
    }
}

/// The JSON value of a document that has every field of its type and no other; else the difference in words.
pub fn conforming<T>(text: &str) -> Result<Value, String>
where
    T: Content + Serialize + DeserializeOwned,
{
    let malformed = |error: serde_json::Error| error.to_string();
    let value: Value = serde_json::from_str(text).map_err(malformed)?;
    let document: Document<T> = serde_json::from_str(text).map_err(malformed)?;
    if document.document != T::NAME {
        return Err(format!("{} is not {}", document.document, T::NAME));
    }
    match serde_json::to_value(&document).map_err(malformed)? {
        same if same == value => Ok(value),
        other => Err(format!("{value:#}\nhas other fields than\n{other:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    struct Sample {
        count: u64,
    }

    impl Content for Sample {
        const NAME: &'static str = "sample";
    }

    fn read(text: &str) -> Result<Sample, String> {
        Document::<Sample>::read(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_document_is_read_back() {
        let written = Document::new(Sample { count: 3 });
        assert_eq!(read(&written.json()), Ok(Sample { count: 3 }));
        assert_eq!(read(&written.json_line()), Ok(Sample { count: 3 }));
        assert!(
            written
                .json()
                .starts_with("{\n  \"document\": \"sample\",\n  \"version\": 1,")
        );
    }

    #[test]
    fn earlier_and_longer_documents_are_read() {
        assert_eq!(read(r#"{"version":1,"count":3}"#), Ok(Sample { count: 3 }));
        let longer = r#"{"document":"sample","version":1,"count":3,"new":[]}"#;
        assert_eq!(read(longer), Ok(Sample { count: 3 }));
    }

    #[test]
    fn a_conforming_document_has_all_fields_and_no_others() {
        let whole = r#"{"document":"sample","version":1,"generator":"x","count":3}"#;
        assert!(conforming::<Sample>(whole).is_ok());
        let lacking = whole.replace(",\"generator\":\"x\"", "");
        let longer = whole.replace("3}", "3,\"new\":1}");
        let other = whole.replace("sample", "other");
        for text in [lacking, longer, other] {
            assert!(conforming::<Sample>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn other_documents_are_refused() {
        let newer = r#"{"document":"sample","version":2,"count":3}"#;
        let why = "version 2 of the document sample; this culprit reads up to 1";
        assert_eq!(read(newer), Err(why.to_owned()));
        let other = r#"{"document":"replay","version":1,"count":3}"#;
        let why = "a document of kind replay, not sample";
        assert_eq!(read(other), Err(why.to_owned()));
        for text in ["", "[]", r#"{"count":3}"#, r#"{"version":1}"#] {
            let why = read(text).unwrap_err();
            assert!(why.starts_with("not a document of kind sample: "), "{why}");
        }
    }
}
