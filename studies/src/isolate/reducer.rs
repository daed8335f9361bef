//! Reducers, each with the command that runs it on a case.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};

use super::case::Ready;
use crate::process::{Outcome, Run, remove, words};

/// A reducer of the study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reducer {
    Culprit,
    Picire,
    ShrinkRay,
    CVise,
    TreeReduce,
}

/// The places of the executables.
pub struct Tools {
    pub culprit: PathBuf,
    /// The folder of picire and shrinkray.
    pub python: PathBuf,
    pub cvise: PathBuf,
    /// The folder of treereduce, which has one for each language.
    pub treereduce: PathBuf,
}

/// The result of a reducer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduced {
    /// Bytes of the smallest file on which the oracle saw the fault.
    pub bytes: u64,
    /// The number of runs of the oracle.
    pub tests: u64,
    pub time: Duration,
    /// True if it was ended by the limit.
    pub is_cut: bool,
}

impl Reducer {
    pub const ALL: [Reducer; 5] = [
        Reducer::Culprit,
        Reducer::Picire,
        Reducer::ShrinkRay,
        Reducer::CVise,
        Reducer::TreeReduce,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reducer::Culprit => "culprit",
            Reducer::Picire => "picire",
            Reducer::ShrinkRay => "shrinkray",
            Reducer::CVise => "cvise",
            Reducer::TreeReduce => "treereduce",
        }
    }

    /// True if it is made for a language.
    fn knows(self, language: &str) -> bool {
        self != Reducer::TreeReduce || matches!(language, "C" | "Java")
    }

    /// The program and its arguments, for the copy of an input and the oracle.
    fn command(self, tools: &Tools, ready: &Ready, oracle: &Path) -> (PathBuf, Vec<OsString>) {
        let input = &ready.case.input;
        let (program, before, after) = match self {
            Reducer::Culprit => (
                tools.culprit.clone(),
                "isolate input --simplify --jobs 1 -o result --interesting".to_owned(),
                input.clone(),
            ),
            Reducer::Picire => (
                tools.python.join("picire"),
                format!("-q -a both -o result -i {input} --test"),
                String::new(),
            ),
            Reducer::ShrinkRay => (
                tools.python.join("shrinkray"),
                "--parallelism 1 --input-type arg --ui basic --volume quiet --no-history \
                 --formatter none --trivial-is-not-error --timeout 60"
                    .to_owned(),
                input.clone(),
            ),
            Reducer::CVise => {
                let kind = match ready.case.language.as_str() {
                    "C" => "",
                    _ => " --not-c",
                };
                let before = format!("--n 1 --tidy --timeout 60{kind}");
                (tools.cvise.clone(), before, input.clone())
            }
            Reducer::TreeReduce => {
                let language = ready.case.language.to_lowercase();
                (
                    tools.treereduce.join(format!("treereduce-{language}")),
                    format!("--quiet --slow -j 1 -s {input} -o result --"),
                    "@@".to_owned(),
                )
            }
        };
        let mut args = words(before.split_whitespace());
        args.push(oracle.into());
        args.extend(words(after.split_whitespace()));
        (program, args)
    }

    /// Reduces the input of a case. `None` if the reducer does not know its language.
    pub fn reduce(
        self,
        tools: &Tools,
        ready: &Ready,
        place: &Path,
        limit: Duration,
    ) -> anyhow::Result<Option<Reduced>> {
        if !self.knows(&ready.case.language) {
            return Ok(None);
        }
        let folder = place.join("runs").join(&ready.case.name).join(self.name());
        remove(&folder)?;
        fs::create_dir_all(folder.join("work"))?;
        let work = folder.join("work");
        fs::write(work.join(&ready.case.input), &ready.bytes)?;
        let oracle = oracle(ready, &folder)?;
        let (program, args) = self.command(tools, ready, &oracle);
        let run = Run {
            program,
            args,
            folder: work,
            env: Vec::new(),
            stdout: folder.join("out"),
            stderr: folder.join("err"),
            limit,
        };
        let (time, is_cut) = match run.run()? {
            Outcome::Ended { time, .. } => (time, false),
            Outcome::TimedOut => (limit, true),
        };
        let log = fs::read_to_string(folder.join("tests")).unwrap_or_default();
        let tests = log.lines().count() as u64;
        let smallest = folder.join("smallest");
        let bytes = fs::metadata(&smallest).with_context(|| {
            let said = fs::read_to_string(&run.stderr).unwrap_or_default();
            format!("{} reduced nothing: {said}", self.name())
        })?;
        ensure!(ready.shows(&smallest)?, "{} is wrong", self.name());
        Ok(Some(Reduced {
            bytes: bytes.len(),
            tests,
            time,
            is_cut,
        }))
    }
}

/// The oracle of a run: counts, and keeps the smallest file with the fault. C-Vise gives no argument, but the
/// file in the folder at hand.
fn oracle(ready: &Ready, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join("oracle");
    let text = format!(
        "#!/bin/sh\n\
         file=${{1:-{input}}}\n\
         echo >>'{folder}/tests'\n\
         STUDY_CASE='{case}' sh '{script}' test \"$file\" || exit 1\n\
         size=$(stat -c %s \"$file\")\n\
         read -r best 2>/dev/null <'{folder}/best' || best=\n\
         if [ -z \"$best\" ] || [ \"$size\" -lt \"$best\" ]; then\n\
         cp \"$file\" '{folder}/smallest' && echo \"$size\" >'{folder}/best'\n\
         fi\n",
        input = ready.case.input,
        folder = folder.display(),
        case = ready.folder.display(),
        script = ready.case.script.display(),
    );
    fs::write(&path, text)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}
