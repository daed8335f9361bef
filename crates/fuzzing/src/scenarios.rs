//! The text of scenarios, of scripts, of observed couplings, and of the options of an agent.

use culprit_model::Script;
use culprit_model::options::AgentOptions;
use culprit_model::scenario::text::{Parser, Printer};
use culprit_trace::Coupling;

pub(crate) fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(text.parse::<Coupling>());
    if let Ok(options) = text.parse::<AgentOptions>() {
        let again = options.to_string().parse::<AgentOptions>();
        assert_eq!(again.as_ref(), Ok(&options), "options changed on their way");
    }
    if let Ok(script) = text.parse::<Script>() {
        drop(script.check());
        script.stand_ins();
        let printed = script.to_string();
        let again = printed.parse::<Script>().map(|again| again.to_string());
        assert_eq!(again, Ok(printed), "a script changed on its way");
    }
    let mut parser = Parser::new();
    let mut steps = Vec::new();
    for line in text.lines() {
        match parser.line(line) {
            Ok(step) => steps.extend(step),
            Err(_) => return,
        }
    }
    let Ok(tables) = parser.finish() else {
        return;
    };
    let mut printer = Printer::new(&tables, None);
    for step in &steps {
        printer.step(step);
    }
}
