//! The statements of a script, as far as a trace does not contain them: where the values that they are given come from.
//!
//! Objects of the JDK that are not traced, such as streams, change with every call that is given them. Where one call is
//! given two of them, either may be behind the other: a text that is printed to a `PrintStream` is read from the
//! `ByteArrayOutputStream` that it was made of. So such objects count as one.

use std::collections::HashMap;

use culprit_model::script::Action;
use culprit_model::{ObjectId, Owner, Script, Statement};
use culprit_slice::ScriptStatement;
use culprit_weave::trace::is_traced_library;

/// The statements of a script, for the replay of its trace.
pub(crate) fn for_replay(script: &Script) -> Vec<ScriptStatement> {
    let mut known = Known::default();
    let numbered = (0..).zip(&script.statements);
    numbered
        .map(|(number, statement)| known.add(number, statement, script))
        .collect()
}

/// The statements before, by what they made and changed.
#[derive(Default)]
struct Known {
    /// The statements that made an object, or named it.
    makers: HashMap<ObjectId, u32>,
    /// State of the JDK that is not traced, each with the number of the states that count as one.
    states: HashMap<State, usize>,
    /// By such a number, the last statement that may have changed them.
    changed: Vec<u32>,
}

/// State that a trace does not contain.
#[derive(Clone, PartialEq, Eq, Hash)]
enum State {
    Object(ObjectId),
    /// Static fields of a class.
    Class(String),
}

impl Known {
    fn add(&mut self, number: u32, statement: &Statement, script: &Script) -> ScriptStatement {
        let site = script.site(statement);
        let library = site.filter(|site| !is_traced(&site.target.owner));
        let class = library.filter(|site| site.is_static);
        let class = class.map(|site| State::Class(site.target.owner.clone()));
        let uses = statement.uses();
        let makers = uses.iter().filter_map(|id| self.makers.get(id)).copied();
        let read = uses.iter().copied().map(State::Object);
        let read = read.chain(class.clone());
        let read = read.filter_map(|state| self.states.get(&state));
        let mut sources: Vec<u32> = makers.chain(read.map(|it| self.changed[*it])).collect();
        sources.sort_unstable();
        sources.dedup();
        let named = [statement.defines(), statement.catches()];
        let named = named.into_iter().flatten().map(|id| (id, number));
        self.makers.extend(named);
        if library.is_some() {
            let objects = statement.objects().into_iter().map(State::Object);
            self.join(objects.chain(class).collect(), number);
        }
        let is_call = matches!(statement.action, Action::Call(_));
        let method = site.filter(|_| library.is_none() && is_call);
        ScriptStatement {
            sources,
            method: method.map(|site| site.target.name.clone()),
            is_guard: statement.is_guard(),
        }
    }

    /// A statement may have changed these states, and has made them one.
    fn join(&mut self, states: Vec<State>, number: u32) {
        let joined = self.changed.len();
        self.changed.push(number);
        let old = states.iter().filter_map(|it| self.states.get(it).copied());
        let old: Vec<usize> = old.collect();
        for known in self.states.values_mut().filter(|it| old.contains(it)) {
            *known = joined;
        }
        self.states
            .extend(states.into_iter().map(|it| (it, joined)));
    }
}

/// True for a class whose methods are traced.
fn is_traced(class: &str) -> bool {
    Owner::of(class) != Owner::Jdk || is_traced_library(class)
}

#[cfg(test)]
mod tests {
    use culprit_model::Tables;
    use culprit_model::script::{Builder, MemberName};

    use super::*;

    #[test]
    fn a_text_that_is_printed_is_read_from_the_stream_behind() {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let bytes = builder.variable("java/io/ByteArrayOutputStream");
        let stream = builder.variable("java/io/PrintStream");
        let name = builder.variable("java/lang/String");
        let text = builder.variable("java/lang/String");
        let own = MemberName::of("shop/Cart", "name", "()Ljava/lang/String;");
        let println = MemberName::of("java/io/PrintStream", "println", "(Ljava/lang/String;)V");
        let read = MemberName::of(
            "java/io/ByteArrayOutputStream",
            "toString",
            "()Ljava/lang/String;",
        );
        let statements = vec![
            builder.construct(
                "java/io/ByteArrayOutputStream",
                "()V",
                vec![],
                bytes.clone(),
            ),
            builder.construct(
                "java/io/PrintStream",
                "(Ljava/io/OutputStream;)V",
                vec![bytes.clone()],
                stream.clone(),
            ),
            builder.call_static(own, vec![], Some(name.clone())),
            builder.call(println, stream, vec![name], None),
            builder.call(read, bytes, vec![], Some(text.clone())),
            builder.guard(text),
        ];
        let found = for_replay(&builder.script(statements));
        let sources: Vec<&[u32]> = found.iter().map(|it| it.sources.as_slice()).collect();
        // The text comes from the stream, which the call before has changed.
        let expect: [&[u32]; 6] = [&[], &[0], &[], &[1, 2], &[0, 3], &[4]];
        assert_eq!(sources, expect);
        let methods: Vec<_> = found.iter().map(|it| it.method.as_deref()).collect();
        assert_eq!(methods, [None, None, Some("name"), None, None, None]);
        assert!(found[5].is_guard);
    }
}
