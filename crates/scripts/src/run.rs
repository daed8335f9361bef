//! The outcome of a script, and the function that runs one.

use std::fmt;

use culprit_jvm::PoolError;
use culprit_model::{ObjectId, Script};
use culprit_signature::Refusal;

/// Runs a script.
pub type RunScript<'a> = dyn Fn(&Script) -> Result<ScriptRun, PoolError> + 'a;

/// The beginning of a reason: an object could not be made without its constructor.
const NOT_ALLOCATED: &str = "JNI AllocObject";

/// The outcome of a script.
#[derive(Clone, PartialEq, Debug)]
pub enum ScriptRun {
    /// Every statement was executed.
    Done,
    /// A statement threw: its number, and the printed stack trace.
    Threw { at: usize, trace: String },
    /// A statement threw because the sandbox denied something, which says nothing about the program.
    Refused { refusal: Refusal, trace: String },
    /// The script could not be run, or not to its end.
    Unresolved(String),
}

impl ScriptRun {
    /// The outcome in words that need no knowledge of the script: an object is told by its class instead of its number.
    pub fn in_words(self, script: &Script) -> ScriptRun {
        let ScriptRun::Unresolved(why) = self else {
            return self;
        };
        if why.starts_with(NOT_ALLOCATED) {
            return ScriptRun::Unresolved(
                "an object that the recording does not show how to make could not be made"
                    .to_owned(),
            );
        }
        let objects = script.objects();
        let word = |word: &str| {
            let id = word
                .strip_prefix('#')
                .and_then(|number| number.parse().ok());
            let object = id.and_then(|id| objects.get(&ObjectId(id)));
            object.map_or_else(
                || word.to_owned(),
                |object| format!("an object of {}", object.class.replace('/', ".")),
            )
        };
        let words: Vec<String> = why.split(' ').map(word).collect();
        ScriptRun::Unresolved(words.join(" "))
    }
}

impl fmt::Display for ScriptRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptRun::Done => f.write_str("nothing is thrown"),
            ScriptRun::Threw { trace, .. } => f.write_str(first_line(trace)),
            ScriptRun::Refused { refusal, trace } => {
                write!(f, "the sandbox denied {refusal} ({})", first_line(trace))
            }
            ScriptRun::Unresolved(why) => f.write_str(why),
        }
    }
}

fn first_line(trace: &str) -> &str {
    trace.lines().next().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_by_their_classes() {
        let script: Script = "script 1\n\
            type 1 shop/Customers\n\
            site 1 entry shop/Quotes.<init>(Lshop/Customers;)V\n\
            type 2 shop/Quotes\n\
            => @1(#7:@1)\n\
            <= @1 = #8:@2\n"
            .parse()
            .unwrap();
        let check = |why: &str, expect: &str| {
            let run = ScriptRun::Unresolved(why.to_owned()).in_words(&script);
            assert_eq!(run.to_string(), expect);
        };
        check(
            "nothing has made #7",
            "nothing has made an object of shop.Customers",
        );
        check(
            "#7 has no answer to get",
            "an object of shop.Customers has no answer to get",
        );
        check("no answer after 2s", "no answer after 2s");
        check(
            "JNI AllocObject failed: it threw",
            "an object that the recording does not show how to make could not be made",
        );
    }
}
