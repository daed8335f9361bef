//! Text from programs, recordings and files within the documents that we write: Markdown, HTML, XML
//! and JSON. Nothing in such a text is markup, and harmful characters are escapes in every document.

pub mod html;
pub mod markdown;
pub(crate) mod source;

use culprit_model::clean;
use serde::Serialize;

/// JSON on several lines.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("keys of documents are text");
    // Harmful characters are within strings, where the escapes of a Java string mean the same.
    clean::block(&format!("{text}\n")).into_owned()
}

/// JSON on one line.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("keys of documents are text");
    clean::line(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    proptest! {
        #[test]
        fn json_means_the_same_without_harmful_characters(text in any::<String>()) {
            let value = json!({ &text: [text, "\u{9b}\u{202e}\u{e0041}"] });
            for document in [json(&value), json_line(&value)] {
                let is_bad = |c| c != '\n' && clean::is_harmful(c);
                prop_assert!(!document.contains(is_bad));
                prop_assert_eq!(&serde_json::from_str::<Value>(&document).unwrap(), &value);
            }
            prop_assert!(!json_line(&value).contains('\n'));
        }
    }
}
