//! The ways to run a subject, as command lines.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::subject::{Set, Subject};
use super::tools::Tools;

/// A way to run a subject.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    Plain,
    Jacoco(Set),
    AspectJ(Set),
    Culprit(Set),
}

/// A command, and where to look for what it recorded.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub recorded: Recorded,
}

/// The files that a run leaves.
#[derive(Clone, Debug)]
pub enum Recorded {
    Nothing,
    /// The log of the AspectJ recorder; the number of events stands in a file beside it.
    Log(PathBuf),
    /// A run folder of Culprit.
    Run(PathBuf),
}

impl Variant {
    pub fn tool(&self) -> &'static str {
        match self {
            Variant::Plain => "no agent",
            Variant::Jacoco(_) => "JaCoCo",
            Variant::AspectJ(_) => "AspectJ",
            Variant::Culprit(_) => "Culprit",
        }
    }

    pub fn set(&self) -> Option<&Set> {
        match self {
            Variant::Plain => None,
            Variant::Jacoco(set) | Variant::AspectJ(set) | Variant::Culprit(set) => Some(set),
        }
    }

    /// The command that runs `bench.Main` with `arguments` on the subject's class path, in a
    /// folder that is new and empty.
    pub fn command(
        &self,
        tools: &Tools,
        subject: &Subject,
        class_path: &Path,
        arguments: &[String],
        folder: &Path,
    ) -> anyhow::Result<Command> {
        let mut args: Vec<OsString> = Vec::new();
        let mut recorded = Recorded::Nothing;
        let java = tools.java.clone();
        let mut program = java.clone();
        match self {
            Variant::Plain => {}
            Variant::Jacoco(set) => {
                let mut agent = OsString::from("-javaagent:");
                agent.push(&tools.jacoco);
                agent.push(format!("=includes={},destfile=", set.jacoco(subject)));
                agent.push(folder.join("jacoco.exec"));
                args.push(agent);
            }
            Variant::AspectJ(set) => {
                let log = folder.join("events.log");
                let file = folder.join("aop.xml");
                fs::write(&file, recorder(&set.aspectj(subject)))?;
                args.extend(weaving(tools, &file));
                args.push(property("peer.log", &log));
                recorded = Recorded::Log(log);
            }
            Variant::Culprit(set) => {
                let run = folder.join("run");
                program = tools.culprit.clone();
                args.extend(["record", "--quiet", "--observe"].map(OsString::from));
                args.push(set.pattern(subject).into());
                args.extend(["-o".into(), run.clone().into(), "--".into(), java.into()]);
                recorded = Recorded::Run(run);
            }
        }
        args.extend(["-cp".into(), class_path.into(), "bench.Main".into()]);
        args.extend(arguments.iter().map(OsString::from));
        Ok(Command {
            program,
            args,
            recorded,
        })
    }
}

/// Options that make AspectJ weave by a configuration.
pub(crate) fn weaving(tools: &Tools, configuration: &Path) -> Vec<OsString> {
    let mut agent = OsString::from("-javaagent:");
    agent.push(&tools.aspectj);
    let mut option = OsString::from("-Dorg.aspectj.weaver.loadtime.configuration=file:");
    option.push(configuration);
    vec![agent, option]
}

pub(crate) fn property(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(format!("-D{name}="));
    option.push(value);
    option
}

/// The configuration of the AspectJ recorder for an observed set.
fn recorder(observed: &str) -> String {
    // A set of one class has members of that class, a set of packages those of all their types.
    let external = format!(
        "(call(* *(..)) || call(*.new(..))) \
         &amp;&amp; !call(* {observed}.*(..)) &amp;&amp; !call({observed}.new(..)) \
         &amp;&amp; !call(* java..*.*(..)) &amp;&amp; !call(java..*.new(..))"
    );
    configuration(
        "peer.Recorder",
        &[
            ("observed", format!("within({observed})")),
            ("external", external),
        ],
        observed,
    )
}

/// A configuration that makes an abstract aspect of ours concrete.
pub(crate) fn configuration(aspect: &str, pointcuts: &[(&str, String)], woven: &str) -> String {
    let pointcuts: String = pointcuts
        .iter()
        .map(|(name, expression)| {
            format!("      <pointcut name=\"{name}\" expression=\"{expression}\"/>\n")
        })
        .collect();
    format!(
        "<aspectj>
  <aspects>
    <concrete-aspect name=\"peer.Made\" extends=\"{aspect}\">
{pointcuts}    </concrete-aspect>
  </aspects>
  <weaver options=\"-nowarn\">
    <include within=\"{woven}\"/>
    <include within=\"peer.*\"/>
  </weaver>
</aspectj>
"
    )
}
