//! The JSON schemas in `docs/schema`: generated from the types, and equal to them.
//!
//! `CULPRIT_SCHEMA=write cargo test -p culprit-report schema` writes them anew.

use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::debug::TestsDocument;
use crate::doctor::DoctorDocument;
use crate::document::{Content, Document};
use crate::isolate::changes::{ChangesCandidate, ChangesDocument};
use crate::isolate::input::{InputCandidate, InputDocument};
use crate::recording::{Event, FolderDocument, Gap, SummaryDocument};
use crate::replay::ReplayDocument;
use crate::slice::SliceDocument;
use crate::suggest::SuggestDocument;

/// A line of `culprit show --events --json`.
#[derive(JsonSchema, serde::Serialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "its schema counts")]
enum EventLine {
    Gap(Gap),
    Event(Box<Event>),
}

/// The schema of a type, as it is written.
fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

/// The schema of a document, with the values of its envelope.
fn document<T: Content + JsonSchema>() -> (String, Value) {
    let mut schema = schema::<Document<T>>().to_value();
    schema["title"] = json!(T::NAME);
    schema["description"] = json!(format!("{}, version {}", T::NAME, T::VERSION));
    schema["properties"]["document"]["const"] = json!(T::NAME);
    schema["properties"]["version"] = json!({
        "description": "The version of the form; it rises when a field changes its meaning or is removed.",
        "const": T::VERSION,
    });
    (T::NAME.to_owned(), schema)
}

/// The schema of each line of a file.
fn line<T: JsonSchema>(name: &str) -> (String, Value) {
    let mut schema = schema::<T>().to_value();
    schema["title"] = json!(name);
    (name.to_owned(), schema)
}

fn schemas() -> Vec<(String, Value)> {
    vec![
        document::<InputDocument>(),
        line::<InputCandidate>("isolate-input-candidate"),
        document::<ChangesDocument>(),
        line::<ChangesCandidate>("isolate-changes-candidate"),
        document::<TestsDocument>(),
        document::<ReplayDocument>(),
        document::<SummaryDocument>(),
        document::<FolderDocument>(),
        line::<EventLine>("event"),
        document::<SuggestDocument>(),
        document::<SliceDocument>(),
        document::<DoctorDocument>(),
    ]
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let is_written = std::env::var_os("CULPRIT_SCHEMA").is_some_and(|it| it == "write");
    let mut names = Vec::new();
    for (name, schema) in schemas() {
        let file = folder.join(format!("{name}.json"));
        let text = format!("{schema:#}\n");
        if is_written {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let published = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(published, text, "{}", file.display());
        names.push(file.file_name().unwrap().to_owned());
    }
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().file_name());
    let stray: Vec<_> = files.filter(|file| !names.contains(file)).collect();
    assert!(stray.is_empty(), "no type has these schemas: {stray:?}");
}

#[test]
fn every_field_of_a_schema_is_described() {
    fn check(value: &Value, at: &str) {
        let Value::Object(fields) = value else { return };
        for (name, field) in fields {
            // A field may be called `properties` too; then its value is a schema.
            let is_schema = field.get("type").is_some_and(Value::is_string);
            if let ("properties", Value::Object(properties), false) =
                (name.as_str(), field, is_schema)
            {
                for (name, property) in properties {
                    assert!(property.get("description").is_some(), "{at}: {name}");
                }
            }
            check(field, &format!("{at}/{name}"));
        }
    }
    schemas()
        .iter()
        .for_each(|(name, schema)| check(schema, name));
}
