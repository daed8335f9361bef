//! Signs of a failure that the user names, such as `stderr matches REGEX`.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;

use crate::Ending;
use crate::ending::How;

/// What shows that a run fails.
#[derive(Clone, Debug)]
pub enum Sign {
    /// Its status.
    Exit(u8),
    /// A signal that ended it.
    Crash,
    /// It took too long.
    Late,
    /// What it printed has this text.
    Contains(OutputStream, String),
    /// What it printed has a match of this.
    Matches(OutputStream, Regex),
}

/// Where it was printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputStream {
    Out,
    Err,
    Either,
}

/// A text that names no sign.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SignError(String);

const FORMS: &str = "write 'stderr contains TEXT', 'stdout matches REGEX', 'output contains TEXT', \
                     'exit N', 'crash' or 'timeout'";

impl Sign {
    /// Whether the run shows it.
    pub fn shows(&self, ending: &Ending) -> bool {
        match self {
            Sign::Exit(code) => ending.how.code() == Some(*code),
            Sign::Crash => ending.how.signal().is_some(),
            Sign::Late => ending.how == How::Late,
            Sign::Contains(stream, text) => stream.any(ending, |it| it.contains(text)),
            Sign::Matches(stream, pattern) => stream.any(ending, |it| pattern.is_match(it)),
        }
    }

    /// Where it is looked for, if it is in what a run prints.
    pub(crate) fn stream(&self) -> Option<OutputStream> {
        match self {
            Sign::Contains(stream, _) | Sign::Matches(stream, _) => Some(*stream),
            Sign::Exit(_) | Sign::Crash | Sign::Late => None,
        }
    }
}

impl OutputStream {
    /// Whether not all that was printed there is kept.
    pub(crate) fn is_cut(self, ending: &Ending) -> bool {
        match self {
            OutputStream::Out => ending.is_out_cut,
            OutputStream::Err => ending.is_err_cut,
            OutputStream::Either => ending.is_out_cut || ending.is_err_cut,
        }
    }

    fn any(self, ending: &Ending, holds: impl Fn(&str) -> bool) -> bool {
        match self {
            OutputStream::Out => holds(&ending.out),
            OutputStream::Err => holds(&ending.err),
            OutputStream::Either => holds(&ending.out) || holds(&ending.err),
        }
    }
}

impl FromStr for Sign {
    type Err = SignError;

    fn from_str(text: &str) -> Result<Sign, SignError> {
        let unknown = || SignError(FORMS.to_owned());
        let mut words = text.trim().splitn(3, ' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let rest = words.next().unwrap_or_default();
        let stream = match (first, second) {
            ("crash", None) => return Ok(Sign::Crash),
            ("timeout", None) => return Ok(Sign::Late),
            ("exit", Some(code)) if rest.is_empty() => {
                return code.parse().map(Sign::Exit).map_err(|_| unknown());
            }
            ("stdout", _) => OutputStream::Out,
            ("stderr", _) => OutputStream::Err,
            ("output", _) => OutputStream::Either,
            _ => return Err(unknown()),
        };
        match second {
            _ if rest.is_empty() => Err(unknown()),
            Some("contains") => Ok(Sign::Contains(stream, rest.to_owned())),
            Some("matches") => match Regex::new(rest) {
                Ok(pattern) => Ok(Sign::Matches(stream, pattern)),
                Err(why) => Err(SignError(format!("{rest} is no regular expression: {why}"))),
            },
            _ => Err(unknown()),
        }
    }
}

/// As it is typed.
impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |stream: &OutputStream| match stream {
            OutputStream::Out => "stdout",
            OutputStream::Err => "stderr",
            OutputStream::Either => "output",
        };
        match self {
            Sign::Exit(code) => write!(f, "exit {code}"),
            Sign::Crash => f.write_str("crash"),
            Sign::Late => f.write_str("timeout"),
            Sign::Contains(stream, text) => write!(f, "{} contains {text}", name(stream)),
            Sign::Matches(stream, pattern) => write!(f, "{} matches {pattern}", name(stream)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_read_as_they_are_printed() {
        for text in [
            "exit 3",
            "crash",
            "timeout",
            "stdout contains two  words",
            "stderr matches ^[a-z]+: \\d",
            "output contains x",
        ] {
            assert_eq!(text.parse::<Sign>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "exit",
            "exit 256",
            "exit 1 2",
            "stderr",
            "stderr has x",
            "err contains",
        ] {
            let why = text.parse::<Sign>().unwrap_err().to_string();
            assert!(why.contains("stderr contains"), "{text}: {why}");
        }
        let why = "stderr matches (".parse::<Sign>().unwrap_err().to_string();
        assert!(why.contains("regular expression"), "{why}");
    }
}
