//! Stand-ins: objects that statements use and no statement makes. A stand-in answers questions of the program
//! as the recorded object did. This module alone defines how, for the worker that runs a script and for the
//! printer that writes it as a test:
//!
//! - The answers of a method are those recorded for it in the whole script, in recorded order. The first
//!   question gets the first answer, the second question the second, equal or not.
//! - Questions beyond the last recorded one get the last answer again.
//! - A method is a name with the types of its parameters, so that overloads have answers of their own. The
//!   type of the result does not matter: it may differ between a method and one that it overrides.
//!
//! A runner asks [`Script::stand_ins`] once, keeps a count of questions for each method that [`StandIn::method`]
//! finds, and takes [`AnsweredMethod::answer`] with that count.

use std::collections::BTreeMap;

use super::{Answer, ObjectOrigin, Script};
use crate::ObjectId;
use crate::value::split_descriptor;

/// The recorded behaviour of one stand-in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StandIn {
    /// The methods that were called on it, in the order of the first calls.
    pub methods: Vec<AnsweredMethod>,
}

/// A method of a stand-in, and its answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnsweredMethod {
    pub name: String,
    /// The descriptors of the parameters.
    pub parameters: Vec<String>,
    /// In recorded order; never empty.
    pub answers: Vec<AnswerPlace>,
}

/// The place of an answer in a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AnswerPlace {
    pub statement: usize,
    /// Among the answers of the statement.
    pub answer: usize,
}

impl StandIn {
    /// The stand-in that was asked these questions.
    pub fn of(script: &Script, asked: &[AnswerPlace]) -> StandIn {
        let mut stand_in = StandIn::default();
        for place in asked {
            let answer = script.answer(*place);
            let Some(site) = answer.and_then(|answer| script.tables.site(answer.site)) else {
                continue;
            };
            let (name, parameters) = (&site.target.name, parameters(&site.target.descriptor));
            let mut methods = stand_in.methods.iter_mut();
            match methods.find(|it| it.name == *name && it.parameters == parameters) {
                Some(known) => known.answers.push(*place),
                None => stand_in.methods.push(AnsweredMethod {
                    name: name.clone(),
                    parameters: parameters.into_iter().map(str::to_owned).collect(),
                    answers: vec![*place],
                }),
            }
        }
        stand_in
    }

    /// The method that answers a question. A question through a bridge method, whose parameters have other
    /// types, goes to the only method of its name with as many parameters.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&AnsweredMethod> {
        let parameters = parameters(descriptor);
        let named = || self.methods.iter().filter(|method| method.name == name);
        let exact = named().find(|method| method.parameters == parameters);
        exact.or_else(|| {
            let mut alike = named().filter(|it| it.parameters.len() == parameters.len());
            alike.next().filter(|_| alike.next().is_none())
        })
    }
}

impl AnsweredMethod {
    /// The answer to a question, after so many earlier questions to the method.
    pub fn answer(&self, earlier: usize) -> Option<AnswerPlace> {
        let last = self.answers.last();
        self.answers.get(earlier).or(last).copied()
    }
}

impl Script {
    /// The stand-ins of the script. Questions to other objects go to the objects themselves.
    pub fn stand_ins(&self) -> BTreeMap<ObjectId, StandIn> {
        let objects = self.objects().into_iter();
        let stand_ins = objects.filter(|(_, object)| object.origin == ObjectOrigin::StandIn);
        stand_ins
            .map(|(id, object)| (id, StandIn::of(self, &object.asked)))
            .collect()
    }

    /// An answer by its place.
    pub fn answer(&self, place: AnswerPlace) -> Option<&Answer> {
        let statement = self.statements.get(place.statement)?;
        statement.answers().get(place.answer)
    }
}

/// The descriptors of a method's parameters.
fn parameters(descriptor: &str) -> Vec<&str> {
    split_descriptor(descriptor).map_or_else(Vec::new, |(parameters, _)| parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    const TABLES: &str = "\
script 1
type 1 shop/Cart
type 2 shop/Clock
site 1 entry shop/Cart.<init>(Lshop/Clock;)V
site 2 entry shop/Cart.total()V
site 3 call shop/Clock.now()J in shop/Cart.total()V
site 4 call shop/Clock.at(I)J in shop/Cart.total()V
site 5 call shop/Clock.at(J)J in shop/Cart.total()V
=> @1(#2:@2)
<= @1 = #1:@1
";

    fn script(calls: &[&[(u32, &str, &str)]]) -> Script {
        let mut text = TABLES.to_owned();
        for questions in calls {
            text.push_str("=> @2() on #1:@1\n");
            for (site, given, answer) in *questions {
                text.push_str(&format!(
                    "-> @{site}({given}) on #2:@2\n<- @{site}{answer}\n"
                ));
            }
            text.push_str("<= @2\n");
        }
        text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// The answers to these many questions to a method, as the recorded values.
    #[track_caller]
    fn check(script: &Script, method: (&str, &str), expect: &[Value]) {
        let stand_ins = script.stand_ins();
        assert_eq!(stand_ins.keys().copied().collect::<Vec<_>>(), [ObjectId(2)]);
        let method = stand_ins[&ObjectId(2)].method(method.0, method.1).unwrap();
        let answer = |earlier| {
            let answer = script.answer(method.answer(earlier).unwrap()).unwrap();
            answer.end.value().unwrap().clone()
        };
        let found: Vec<Value> = (0..expect.len()).map(answer).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn answers_have_the_recorded_order_and_the_last_one_remains() {
        let script = script(&[&[(3, "", " = 5L")], &[(3, "", " = 7L"), (3, "", " = 5L")]]);
        let expect = [5, 7, 5, 5, 5].map(Value::Long);
        check(&script, ("now", "()J"), &expect);
    }

    #[test]
    fn equal_answers_count_as_often_as_they_were_given() {
        let now = |answer| (3, "", answer);
        let script = script(&[&[now(" = 5L"), now(" = 5L"), now(" = 7L")]]);
        check(&script, ("now", "()J"), &[5, 5, 7, 7].map(Value::Long));
    }

    #[test]
    fn overloads_have_answers_of_their_own() {
        let script = script(&[&[(4, "1", " = 1L"), (5, "1L", " = 2L"), (4, "1", " = 3L")]]);
        check(&script, ("at", "(I)J"), &[1, 3, 3].map(Value::Long));
        check(&script, ("at", "(J)J"), &[2, 2].map(Value::Long));
        let stand_in = &script.stand_ins()[&ObjectId(2)];
        assert_eq!(stand_in.method("at", "(Ljava/lang/Object;)J"), None);
    }

    #[test]
    fn a_bridge_finds_the_only_method_of_its_arity() {
        let script = script(&[&[(4, "1", " = 1L")]]);
        check(&script, ("at", "(Ljava/lang/Object;)J"), &[Value::Long(1)]);
        let stand_in = &script.stand_ins()[&ObjectId(2)];
        assert_eq!(stand_in.method("at", "()J"), None);
    }

    #[test]
    fn an_object_of_the_program_is_no_stand_in() {
        let script = script(&[&[(3, "", " = 5L")]]);
        let made = script.keep(&[0]);
        assert!(made.stand_ins()[&ObjectId(2)].methods.is_empty());
        assert!(!script.stand_ins().contains_key(&ObjectId(1)));
    }
}
