//! Tests at levels of abstraction inside a program (A7 of JINSI): that of the class that threw, and those of the classes
//! around it on the stack. A level without a test that tells something new is left out, with the reason.

use std::time::{Duration, Instant};

use culprit_classfile::{ClassFile, Member, access};
use culprit_minimize::MinimizedTest;
use culprit_program::Program;
use culprit_scripts::{InnerLevel, inner_levels};
use culprit_signature::{Frame, Signature, ThrowSite};

use crate::attempts::{body, calls_lambda};
use crate::session::FailureTask;
use crate::{CallLevel, Error, FailedJvm, LeftOutLevel, LevelReason, Session, SessionEvent};

/// The levels that are tried between the innermost and the outermost one.
const MOST_BETWEEN: usize = 2;

/// A test from outside with no more calls than this has little to be seen between it and the innermost one.
const FEW_CALLS: usize = 2;

/// The levels around the innermost one take about as long as that one: they are tried if it took less than this.
const QUICK: Duration = Duration::from_secs(5);

/// The test of the outermost level.
pub(crate) struct OuterTest {
    /// Its calls of the program.
    pub(crate) left: usize,
    /// Its class, without its name.
    pub(crate) body: Option<String>,
}

impl Session<'_> {
    /// Adds tests of the levels inside the program.
    pub(crate) fn add_inner_levels(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        outer: OuterTest,
    ) -> Result<(), Error> {
        let levels = inner_levels(&failure.seen.failed(&jvm.recording), &jvm.program);
        let mut bodies: Vec<String> = outer.body.into_iter().collect();
        let mut left_out = Vec::new();
        // The same for all further levels.
        let mut end = (outer.left <= FEW_CALLS).then_some(LevelReason::FewCalls);
        for (depth, level) in levels.iter().enumerate() {
            let began = Instant::now();
            let skipped = match depth {
                _ if self.is_over() => Some(LevelReason::NoTime),
                0 => None,
                _ => end.or((!is_chosen(depth, levels.len())).then_some(LevelReason::Enough)),
            };
            let tried = match skipped {
                Some(why) => Err(why),
                None => self.test_of_level(failure, jvm, level, depth)?,
            };
            let took = began.elapsed();
            let worthy = tried.and_then(|found| {
                let calls = found.minimised.calls_of(&level.class);
                // A test that is no smaller tells nothing new, nor does one that takes far more to set up.
                let is_smaller = match depth {
                    0 => calls < outer.left && found.left() <= 2 * outer.left,
                    _ => found.left() < outer.left,
                };
                match is_smaller {
                    _ if bodies.contains(&body(&found)) => Err(LevelReason::SameTest),
                    false => Err(LevelReason::NotSmaller),
                    true => Ok((found, calls)),
                }
            });
            match worthy {
                Ok((found, calls)) => {
                    bodies.push(body(&found));
                    let class = level.class.clone();
                    let call_level = match depth {
                        0 => CallLevel::Innermost { class, calls },
                        _ => CallLevel::Between { class, calls },
                    };
                    self.add(failure, call_level, found, began)?;
                }
                Err(why) => {
                    tracing::debug!(level = %level.called, ?why, "level left out");
                    left_out.push(LeftOutLevel {
                        called: level.called.clone(),
                        why,
                    });
                    if depth > 0 && why == LevelReason::NotSmaller {
                        end = end.or(Some(why));
                    }
                }
            }
            if depth == 0 && took > QUICK {
                end = end.or(Some(LevelReason::NoTime));
            }
        }
        if !left_out.is_empty() {
            self.observer.notice(SessionEvent::LeftOut(&left_out))?;
        }
        Ok(())
    }

    /// The test of a level, or the reason why there is none.
    fn test_of_level(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        level: &InnerLevel,
        depth: usize,
    ) -> Result<Result<MinimizedTest, LevelReason>, Error> {
        let Some(found) = self.follow_inwards(failure, jvm, level, depth)? else {
            return Ok(Err(LevelReason::NotAlike));
        };
        Ok(match () {
            () if refuses(&found, &failure.seen.signature, &jvm.program) => {
                Err(LevelReason::Refuses)
            }
            () if calls_lambda(&found) => Err(LevelReason::NotAlike),
            () => Ok(found),
        })
    }
}

/// True for the levels between the innermost and the outermost one that are tried: of many, some at even distances.
fn is_chosen(depth: usize, levels: usize) -> bool {
    let between = levels - 1;
    let mut chosen = (1..=MOST_BETWEEN).map(|part| 1 + part * between / (MOST_BETWEEN + 1));
    between <= MOST_BETWEEN || chosen.any(|at| at == depth)
}

/// True if the exception comes from the method that a test calls, and not from an instruction. It may be right to refuse what it is given,
/// and its caller at fault.
fn refuses(found: &MinimizedTest, signature: &Signature, program: &Program) -> bool {
    let ThrowSite::Place { above, .. } = signature.site() else {
        return false;
    };
    let script = &found.minimised.script;
    let mut calls = script.statements.iter().rev();
    let Some(called) = calls.find_map(|statement| script.target(statement)) else {
        return false;
    };
    let mut frames = signature.thrown().frames.iter().skip(above.len());
    let is_called = |frame: &Frame| {
        let class = frame.class.replace('.', "/");
        frame.method == called.name && program.is_a(&class, &called.owner)
    };
    let refuser = frames.find(|frame| is_called(frame) || !throws_for(frame, program));
    refuser.is_some_and(is_called) && !signature.thrown().is_of_instruction()
}

/// True for a method that throws in the place of its caller: it makes exceptions, or checks what it is given.
fn throws_for(frame: &Frame, program: &Program) -> bool {
    let class = program.bytes(&frame.class.replace('.', "/"));
    let Some(class) = class.and_then(|bytes| ClassFile::parse(&bytes).ok()) else {
        return false;
    };
    let named = |method: &&Member| {
        let name = class.pool.utf8(method.name);
        name.is_ok_and(|name| name == frame.method)
    };
    let mut methods = class.methods.iter().filter(named).peekable();
    methods.peek().is_some()
        && methods.all(|method| match class.pool.utf8(method.descriptor) {
            Ok(descriptor) => match descriptor.rsplit_once(')') {
                Some((_, "V")) => method.access & access::STATIC != 0,
                Some((_, made)) => {
                    let made = made.strip_prefix('L').and_then(|it| it.strip_suffix(';'));
                    made.is_some_and(|made| program.is_a(made, "java/lang/Throwable"))
                }
                None => false,
            },
            Err(_) => false,
        })
}

#[cfg(test)]
mod tests {
    use super::is_chosen;

    fn chosen(levels: usize) -> Vec<usize> {
        (1..levels)
            .filter(|depth| is_chosen(*depth, levels))
            .collect()
    }

    #[test]
    fn of_many_levels_some_at_even_distances_are_tried() {
        assert_eq!(chosen(1), [0; 0]);
        assert_eq!(chosen(3), [1, 2]);
        assert_eq!(chosen(4), [2, 3]);
        assert_eq!(chosen(7), [3, 5]);
        assert_eq!(chosen(31), [11, 21]);
    }
}
