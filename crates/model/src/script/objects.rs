//! The objects of a script: for each the statement that defines it, and the statements that use it.

use std::collections::BTreeMap;

use super::{Answer, AnswerPlace, Script, StatementEnd};
use crate::{ObjectId, Reference, TypeId, Value};

/// An object, or a primitive value with a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Object<'s> {
    /// The name of its run-time class.
    pub class: &'s str,
    pub origin: ObjectOrigin<'s>,
    /// In the order of the statements.
    pub uses: Vec<Use>,
    /// The questions to it, if it is a stand-in, in order.
    pub asked: Vec<AnswerPlace>,
}

/// The place where an object first appears.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ObjectOrigin<'s> {
    /// The statement with this number returns or constructs it.
    Result(usize),
    /// The statement with this number throws it.
    Thrown(usize),
    /// An array literal.
    Array(&'s Value),
    /// No statement makes it: a stand-in answers for it.
    StandIn,
    /// The program gives it to a stand-in, as this argument of a question.
    Captured {
        question: AnswerPlace,
        argument: usize,
    },
}

/// One use of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The statement; for an answer the one in which the question is asked.
    pub statement: usize,
    pub role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// One of the given values.
    Given(usize),
    /// An element of an array of this class.
    Element(TypeId),
    /// The answer of a stand-in.
    Answer {
        stand_in: ObjectId,
        question: AnswerPlace,
    },
}

impl Script {
    /// The objects by their names.
    pub fn objects(&self) -> BTreeMap<ObjectId, Object<'_>> {
        let mut walk = Walk {
            script: self,
            found: BTreeMap::new(),
        };
        for (number, statement) in self.statements.iter().enumerate() {
            for (place, value) in statement.given.iter().enumerate() {
                walk.used(value, number, Role::Given(place));
            }
            for (answer, asked) in statement.answers().iter().enumerate() {
                let place = AnswerPlace {
                    statement: number,
                    answer,
                };
                walk.question(place, asked);
            }
            match &statement.end {
                StatementEnd::Returned(Some(value)) => {
                    walk.made(value, ObjectOrigin::Result(number))
                }
                StatementEnd::Threw(value) => walk.made(value, ObjectOrigin::Thrown(number)),
                StatementEnd::Returned(None) | StatementEnd::Open => {}
            }
        }
        walk.found
    }
}

struct Walk<'s> {
    script: &'s Script,
    found: BTreeMap<ObjectId, Object<'s>>,
}

impl<'s> Walk<'s> {
    /// A value that the script has from now on.
    fn made(&mut self, value: &'s Value, origin: ObjectOrigin<'s>) {
        let Value::Reference(Reference::Object { class, .. } | Reference::Array { class, .. }) =
            value
        else {
            return;
        };
        let Some(id) = value.identity() else { return };
        self.found.entry(id).or_insert_with(|| Object {
            class: self.script.class_name(*class),
            origin,
            uses: Vec::new(),
            asked: Vec::new(),
        });
    }

    /// A value that the script must have.
    fn used(&mut self, value: &'s Value, statement: usize, role: Role) {
        if let Value::Reference(Reference::Array {
            class, contents, ..
        }) = value
        {
            for element in contents.elements() {
                self.used(element, statement, Role::Element(*class));
            }
            self.made(value, ObjectOrigin::Array(value));
        } else {
            self.made(value, ObjectOrigin::StandIn);
        }
        let object = value.identity().and_then(|id| self.found.get_mut(&id));
        if let Some(object) = object {
            object.uses.push(Use { statement, role });
        }
    }

    fn question(&mut self, question: AnswerPlace, asked: &'s Answer) {
        let site = self.script.tables.site(asked.site);
        let receiver = asked.asked.first().and_then(Value::identity);
        let Some(stand_in) = receiver.filter(|_| site.is_some_and(|site| site.has_receiver()))
        else {
            return;
        };
        let object = self.found.get(&stand_in);
        let answers = object.is_some_and(|object| object.origin == ObjectOrigin::StandIn);
        if !answers || asked.end == StatementEnd::Open {
            return;
        }
        for (argument, value) in asked.asked[1..].iter().enumerate() {
            self.made(value, ObjectOrigin::Captured { question, argument });
        }
        if let Some(value) = asked.end.value() {
            let role = Role::Answer { stand_in, question };
            self.used(value, question.statement, role);
        }
        if let Some(object) = self.found.get_mut(&stand_in) {
            object.asked.push(question);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_its_first_origin_and_all_its_uses() {
        let script: Script = "\
script 1
type 1 shop/Cart
type 2 shop/Clock
type 3 java/lang/Object[]
type 4 java/lang/Error
site 1 entry shop/Cart.<init>([Ljava/lang/Object;)V
site 2 entry shop/Cart.total(Lshop/Clock;)V
site 3 call shop/Clock.tick(Ljava/lang/Object;)Lshop/Cart; in shop/Cart.total(Lshop/Clock;)V
=> @1(#5:@3{#2:@2, 7})
<= @1 = #1:@1
=> @2(#2:@2) on #1:@1
-> @3(#3:@1) on #2:@2
<- @3 = #1:@1
-> @3(#3:@1) on #6:@2
<- @3 = #1:@1
<=! @2 = #4:@4
"
        .parse()
        .unwrap();
        let objects = script.objects();
        let question = AnswerPlace {
            statement: 1,
            answer: 0,
        };
        let origins: Vec<(u64, ObjectOrigin<'_>)> =
            objects.iter().map(|(id, it)| (id.0, it.origin)).collect();
        assert_eq!(
            origins,
            [
                (1, ObjectOrigin::Result(0)),
                (2, ObjectOrigin::StandIn),
                (
                    3,
                    ObjectOrigin::Captured {
                        question,
                        argument: 0
                    }
                ),
                (4, ObjectOrigin::Thrown(1)),
                (5, ObjectOrigin::Array(&script.statements[0].given[0])),
            ]
        );
        let uses = |id: u64| {
            let uses = objects[&ObjectId(id)].uses.iter();
            uses.map(|it| (it.statement, it.role)).collect::<Vec<_>>()
        };
        let stand_in = ObjectId(2);
        let answer = Role::Answer { stand_in, question };
        assert_eq!(uses(1), [(1, Role::Given(0)), (1, answer)]);
        assert_eq!(
            uses(2),
            [(0, Role::Element(TypeId(3))), (1, Role::Given(1))]
        );
        assert_eq!(objects[&stand_in].asked, [question]);
    }
}
