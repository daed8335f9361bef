//! A condition on an object, written in Java: compiled to a class that throws where it holds, and searched for in
//! a run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_junit::literal;
use culprit_jvm::{Deadline, Jdk, PoolError, Status};
use culprit_model::script::{Builder, MemberName, StatementEnd};
use culprit_model::{ObjectId, Reference, TypeId, Value};
use culprit_program::{Compilation, Confines, Folders, Program};

use crate::{Condition, Error, RunScript, Script, ScriptRun, Statement};

/// How long the compiler may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The class that a condition is compiled to.
pub const CONDITION_CLASS: &str = "CulpritCondition";

/// A condition that is compiled.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The class of the objects, by its internal name.
    class: String,
    /// The name of the object in the expression.
    name: String,
    expression: String,
    message: String,
    /// Where the compiled class is.
    pub folder: PathBuf,
}

/// The compiler of predicates, and the program whose classes they use.
#[derive(Clone, Copy)]
pub struct PredicateCompiler<'a> {
    pub program: &'a Program,
    pub jdk: &'a Jdk,
    pub confines: &'a Confines,
    /// The end of the compiler at the latest.
    pub deadline: &'a Deadline,
    /// The folder for the compiled class.
    pub folder: &'a Path,
}

impl Predicate {
    /// Compiles a condition for the objects of a script, or returns `None` if it is not about objects.
    pub fn compile(
        condition: &Condition,
        script: &Script,
        compiler: &PredicateCompiler<'_>,
    ) -> Result<Option<Predicate>, Error> {
        let Condition::Holds {
            class,
            name,
            expression,
        } = condition
        else {
            return Ok(None);
        };
        let types = script.tables.types.iter();
        let mut found = types.flat_map(|of| compiler.program.above(&of.name));
        let found = found.find(|above| condition.is_about(above));
        let none = || Error::NoObject(class.clone());
        let predicate = Predicate {
            class: found.ok_or_else(none)?,
            name: name.clone(),
            expression: expression.clone(),
            message: condition.message(),
            folder: compiler.folder.to_owned(),
        };
        predicate.build(compiler)?;
        Ok(Some(predicate))
    }

    /// The package of the class, with slashes.
    fn package(&self) -> &str {
        self.class
            .rsplit_once('/')
            .map_or("", |(package, _)| package)
    }

    /// Its class, by its internal name: beside that of the objects, whose members it may use.
    fn owner(&self) -> String {
        match self.package() {
            "" => CONDITION_CLASS.to_owned(),
            package => format!("{package}/{CONDITION_CLASS}"),
        }
    }

    /// The message of the failure, as a literal.
    fn literal(&self) -> String {
        let words: Vec<&str> = self.message.split_whitespace().collect();
        let units: Vec<u16> = words.join(" ").encode_utf16().collect();
        literal::string(&units)
    }

    fn source(&self) -> String {
        let package = match self.package() {
            "" => String::new(),
            package => format!("package {};\n", package.replace('/', ".")),
        };
        let of = self.class.replace(['/', '$'], ".");
        let (name, expression) = (&self.name, &self.expression);
        let message = self.literal();
        format!(
            "{package}public final class {CONDITION_CLASS} {{\n\
             static boolean holds({of} {name}) throws Exception {{ return\n{expression}\n;\n}}\n\
             public static void check({of} {name}) throws Exception {{\n\
             boolean culprit$;\n\
             try {{ culprit$ = holds({name}); }} catch (Exception culprit$$) {{ return; }}\n\
             if (culprit$) throw new AssertionError({message});\n}}\n}}\n"
        )
    }

    fn build(&self, compiler: &PredicateCompiler<'_>) -> Result<(), Error> {
        fs::create_dir_all(&self.folder)?;
        let file = self.folder.join(format!("{CONDITION_CLASS}.java"));
        fs::write(&file, self.source())?;
        let path = std::env::join_paths(compiler.program.class_path()).unwrap_or_default();
        let folders = Folders {
            directory: &self.folder,
            scratch: &self.folder,
        };
        let compilation = Compilation {
            class_path: &path,
            sources: &[OsString::from(file)],
            classes: &self.folder,
        };
        let launch = compiler.confines.javac(compiler.jdk, compilation, folders);
        let compiled = launch.run(compiler.deadline.within(LIMIT))?;
        if compiled.status.is_none() && compiler.deadline.is_over() {
            return Err(PoolError::OutOfTime.into());
        }
        match compiled.status == Some(Status::Exited(0)) {
            true => Ok(()),
            false => Err(Error::Expression(complaint(&compiled.err))),
        }
    }

    /// The objects of the class that a statement has to do with.
    fn objects(&self, script: &Script, statement: &Statement, program: &Program) -> Vec<Value> {
        let mut found: Vec<(ObjectId, TypeId)> = Vec::new();
        let values = statement.given.iter().chain(statement.result());
        for value in values {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, class } = reference
                    && !found.contains(&(*id, *class))
                    && program.is_a(script.class_name(*class), &self.class)
                {
                    found.push((*id, *class));
                }
            });
        }
        let objects = found.into_iter();
        objects
            .map(|(id, class)| Value::Reference(Reference::Object { id, class }))
            .collect()
    }

    /// The script that ends where the condition first holds.
    pub fn seek(
        &self,
        script: &Script,
        program: &Program,
        runs: &RunScript<'_>,
    ) -> Result<Script, Error> {
        let mut builder = Builder::of(script);
        let mut checked = Vec::new();
        // By number of a check, the statement before it.
        let mut checks: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, statement) in script.statements.iter().enumerate() {
            checked.push(statement.clone());
            for object in self.objects(script, statement, program) {
                checks.insert(checked.len(), number);
                checked.push(self.check(&mut builder, object));
            }
        }
        let thrown = builder.variable("java/lang/AssertionError");
        let whole = builder.script(checked);
        let run = runs(&whole)?;
        let ScriptRun::Threw { at, trace } = &run else {
            return Err(match run {
                ScriptRun::Done => Error::NeverHeld(self.message.clone()),
                other => Error::OtherFailure(other),
            });
        };
        let found = checks.get(at).filter(|_| trace.contains(CONDITION_CLASS));
        let Some(number) = found else {
            return Err(Error::OtherFailure(run));
        };
        let mut found = script.keep(&(0..=*number).collect::<Vec<_>>());
        let mut check = whole.statements[*at].clone();
        check.end = StatementEnd::Threw(thrown);
        found.tables = whole.tables;
        found.statements.push(check);
        Ok(found)
    }

    fn check(&self, builder: &mut Builder, object: Value) -> Statement {
        let descriptor = format!("(L{};)V", self.class);
        let owner = self.owner();
        let target = MemberName::of(&owner, "check", &descriptor);
        builder.call_static(target, vec![object], None)
    }

    /// The condition as a test states it.
    pub fn printed(&self) -> culprit_junit::Condition {
        culprit_junit::Condition {
            checker: self.owner(),
            class: self.class.clone(),
            name: self.name.clone(),
            expression: self.expression.clone(),
            message: self.message.clone(),
        }
    }
}

/// What the compiler has against the expression, without the lines around it.
fn complaint(err: &str) -> String {
    let first = err
        .lines()
        .find_map(|line| Some(line.split_once(": error: ")?.1));
    first.unwrap_or(err).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_the_compiler_says_the_reason_is_told() {
        let said = "/tmp/x/CulpritCondition.java:3: error: cannot find symbol\nc.total2() < 0\n ^\n1 error\n";
        assert_eq!(complaint(said), "cannot find symbol");
    }
}
