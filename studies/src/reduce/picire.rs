//! picire, a reducer in Python, which asks over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// Its configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// As it comes.
    Default,
    /// Takes away only, from the end, in balanced parts.
    Backward,
}

/// Its place.
#[derive(Clone, Debug)]
pub struct Picire {
    /// A Python that has it.
    pub python: PathBuf,
    /// `studies/python/picire_peer.py`.
    pub script: PathBuf,
}

impl Picire {
    /// Its result on the numbers below a size.
    #[expect(
        clippy::disallowed_methods,
        reason = "a peer in a language of its own that asks back: no command with limits"
    )]
    pub fn reduce(
        &self,
        way: Way,
        size: u32,
        fails: &mut dyn FnMut(&[u32]) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Vec<u32>> {
        let way = match way {
            Way::Default => "default",
            Way::Backward => "backward",
        };
        let mut child = Command::new(&self.python)
            .arg(&self.script)
            .args([way, &size.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.python.display()))?;
        let (Some(mut answers), Some(questions)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("picire has no pipes");
        };
        let mut left = None;
        for line in BufReader::new(questions).lines() {
            let line = line?;
            if let Some(numbers) = line.strip_prefix("left") {
                left = Some(read(numbers)?);
                break;
            }
            let answer = if fails(&read(&line)?)? {
                "fail"
            } else {
                "pass"
            };
            writeln!(answers, "{answer}")?;
        }
        drop(answers);
        let status = child.wait()?;
        ensure!(status.success(), "picire failed with {status}");
        left.context("picire left nothing")
    }
}

fn read(line: &str) -> anyhow::Result<Vec<u32>> {
    let numbers = line.split_whitespace().map(str::parse);
    Ok(numbers.collect::<Result<_, _>>()?)
}
