//! A condition of the user in the source of a test: the test fails where the condition holds.

use culprit_model::Member;

use crate::code::{Code, Line};
use crate::error::Error;
use crate::graph::Node;
use crate::scope::{Scope, Throws};
use crate::types::Type;

/// The name of a test method that fails where a condition holds.
pub(crate) const METHOD: &str = "conditionNeverHolds";

/// A condition on an object, in Java. A script states it by a call of a static method, whose argument is the
/// object; a test contains the expression itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The class of the static method, by its internal name.
    pub checker: String,
    /// The class of the object, by its internal name.
    pub class: String,
    /// The name of the object in the expression.
    pub name: String,
    pub expression: String,
    /// The message of the failure.
    pub message: String,
}

impl Condition {
    /// The member is the method that checks the condition.
    pub(crate) fn is_checked_by(&self, member: &Member) -> bool {
        member.owner == self.checker
    }
}

impl Scope<'_> {
    /// The condition that a statement checks.
    pub(crate) fn condition_checked(&self, node: &Node<'_>) -> Option<&Condition> {
        let condition = self.condition?;
        node.target()
            .is_some_and(|target| condition.is_checked_by(target))
            .then_some(condition)
    }

    /// The lines that check a condition.
    pub(crate) fn check(&self, condition: &Condition, node: &Node<'_>) -> Result<Vec<Line>, Error> {
        let object = self.argument(node, 0)?;
        // The expression may throw what it likes.
        self.throws(Throws::Exception);
        let mut lines = Vec::new();
        let name = match object.code {
            Code::Name(name) => name,
            _ => {
                let name = self.names.borrow_mut().give(&condition.name);
                let depth = object.depth;
                let line = Line::Declare {
                    of: self.named(&Type::class(&condition.class)),
                    name: name.clone(),
                    value: object,
                    is_short: false,
                };
                self.measure(node, &line, depth)?;
                lines.push(line);
                name
            }
        };
        let expression = renamed(&condition.expression, &condition.name, &name);
        let words: Vec<&str> = condition.message.split_whitespace().collect();
        let message: Vec<u16> = words.join(" ").encode_utf16().collect();
        lines.push(Line::Check {
            condition: expression,
            error: self.named_class("java/lang/AssertionError"),
            message,
        });
        Ok(lines)
    }
}

/// The expression with another name for its object. Strings and members of that name remain.
fn renamed(expression: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    let end = |word: &mut String, out: &mut String| {
        let is_member = out.trim_end().ends_with('.');
        out.push_str(if word == from && !is_member { to } else { word });
        word.clear();
    };
    for c in expression.chars() {
        if let Some(mark) = quote {
            out.push(c);
            quote = (is_escaped || c != mark).then_some(mark);
            is_escaped = c == '\\' && !is_escaped;
        } else if c.is_alphanumeric() || c == '_' || c == '$' {
            word.push(c);
        } else {
            end(&mut word, &mut out);
            out.push(c);
            quote = ['"', '\''].contains(&c).then_some(c);
        }
    }
    end(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use culprit_model::script::Script;

    use super::*;
    use crate::{ClassBytes, Junit, Language, Options, PrintedTest, print};

    #[track_caller]
    fn check(expression: &str, expected: &str) {
        assert_eq!(renamed(expression, "c", "cart"), expected);
    }

    #[test]
    fn an_expression_is_about_an_object_of_any_name() {
        check("c.total() < 0", "cart.total() < 0");
        check("a.c(c, cc) == c", "a.c(cart, cc) == cart");
        check(
            "c.has(\"c \\\" c\") && c.is('c')",
            "cart.has(\"c \\\" c\") && cart.is('c')",
        );
    }

    /// The test of some statements and of the check of the cart `#1`.
    fn printed(statements: &str) -> PrintedTest {
        let script: Script = format!(
            "script 1\n\
             type 1 shop/Cart loader 2\n\
             type 2 java/lang/AssertionError\n\
             site 1 entry shop/Cart.<init>(Ljava/lang/String;Ljava/lang/String;)V\n\
             site 2 entry shop/Cart.clear()V\n\
             site 3 entry static shop/Checker.check(Lshop/Cart;)V\n\
             {statements}=> @3(#1:Cart)\n<=! @3 = #2:@2\n"
        )
        .parse()
        .unwrap();
        let options = Options {
            junit: Junit::Five,
            language: Language::Java,
            name: "CartTest".to_owned(),
            loops: true,
            condition: Some(Condition {
                checker: "shop/Checker".to_owned(),
                class: "shop/Cart".to_owned(),
                name: "c".to_owned(),
                expression: "c.total() < 0".to_owned(),
                message: "Cart c ->\n c.total() < \"0\"".to_owned(),
            }),
        };
        let classes = ClassBytes(|_: &str| None::<Vec<u8>>);
        print(&script, &classes, &options, |_| Vec::new()).unwrap()
    }

    #[test]
    fn a_test_contains_the_expression_about_its_variable() {
        let made = "=> @1(null, null)\n<= @1 = #1:Cart\n=> @2() on #1:Cart\n<= @2\n";
        let test = printed(made);
        assert_eq!(test.method, METHOD);
        assert_eq!(test.imports, ["org.junit.jupiter.api.Test"]);
        insta::assert_snapshot!(test.source, @r#"
        package shop;

        import org.junit.jupiter.api.Test;

        class CartTest {

            @Test
            void conditionNeverHolds() throws Exception {
                Cart cart = new Cart(null, null);
                cart.clear();
                if (cart.total() < 0) {
                    throw new AssertionError("Cart c -> c.total() < \"0\"");
                }
            }
        }
        "#);
    }

    #[test]
    fn an_object_that_is_made_for_the_check_gets_the_name_of_the_condition() {
        let test = printed("=> @1(null, null)\n<= @1 = #1:Cart\n");
        insta::assert_snapshot!(test.source, @r#"
        package shop;

        import org.junit.jupiter.api.Test;

        class CartTest {

            @Test
            void conditionNeverHolds() throws Exception {
                Cart c = new Cart(null, null);
                if (c.total() < 0) {
                    throw new AssertionError("Cart c -> c.total() < \"0\"");
                }
            }
        }
        "#);
    }

    #[test]
    fn a_long_argument_has_a_variable_of_its_own() {
        let long = "x".repeat(60);
        let test = printed(&format!("=> @1(\"{long}\", \"{long}\")\n<= @1 = #1:Cart\n"));
        insta::assert_snapshot!(test.source, @r#"
        package shop;

        import org.junit.jupiter.api.Test;

        class CartTest {

            @Test
            void conditionNeverHolds() throws Exception {
                Cart cart = new Cart("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
                if (cart.total() < 0) {
                    throw new AssertionError("Cart c -> c.total() < \"0\"");
                }
            }
        }
        "#);
    }
}
