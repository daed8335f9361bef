//! Outcomes as they are handed from one process of the study to the other, which runs as somebody else.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::attempt::Verdict;

/// The outcome of an attempt, by its name.
pub type Outcomes = BTreeMap<String, Verdict>;

/// As text, for a file.
pub fn written(outcomes: &Outcomes) -> String {
    let rows = outcomes.iter().map(|(name, verdict)| {
        let kind = verdict.to_string();
        json!({"attempt": name, "verdict": kind, "reason": verdict.reason()})
    });
    Value::Array(rows.collect()).to_string()
}

/// From the text of a file.
pub fn read(text: &str) -> anyhow::Result<Outcomes> {
    let rows: Vec<Value> = serde_json::from_str(text)?;
    let mut outcomes = Outcomes::new();
    for row in rows {
        let text = |key: &str| {
            let value = row[key].as_str().context("a row lacks something")?;
            anyhow::Ok(value.to_owned())
        };
        let reason = text("reason")?;
        let verdict = match text("verdict")?.as_str() {
            "not possible" => Verdict::Impossible(reason),
            "refused" => Verdict::Refused(reason),
            "harmless" => Verdict::Harmless(reason),
            "SUCCEEDED" => Verdict::Succeeded(reason),
            other => bail!("no verdict {other}"),
        };
        outcomes.insert(text("attempt")?, verdict);
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_a_file() {
        let outcomes = Outcomes::from([
            ("a".to_owned(), Verdict::Refused("EACCES".to_owned())),
            ("b".to_owned(), Verdict::Succeeded("\"gone\"\n".to_owned())),
        ]);
        assert_eq!(read(&written(&outcomes)).unwrap(), outcomes);
    }
}
