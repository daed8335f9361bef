//! Text from programs, recordings and files within the documents that we write: Markdown, HTML, XML
//! and JSON. Nothing in such a text is markup, and harmful characters are escapes in every document.

pub(crate) mod html;
pub(crate) mod markdown;

use culprit_model::clean;
use serde_json::Value;

/// A JSON document on several lines.
pub(crate) fn json(value: &Value) -> String {
    // Harmful characters are within strings, where the escapes of a Java string mean the same.
    clean::block(&format!("{value:#}\n")).into_owned()
}

/// A JSON document on one line.
pub(crate) fn json_line(value: &Value) -> String {
    clean::line(&value.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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
