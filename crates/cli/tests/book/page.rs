//! A page of Markdown and the console blocks in it.

use std::fs;
use std::path::PathBuf;

const FENCE: &str = "```";
const CONSOLE: &str = "```console";
const PROMPT: &str = "$ ";

/// A page, with the text between its console blocks.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) blocks: Vec<Block>,
    /// The lines before each block, and those after the last one.
    between: Vec<Vec<String>>,
}

/// A console block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) preparation: Preparation,
    /// The line of the page on which the block begins, counted from 1.
    pub(crate) line: usize,
    pub(crate) examples: Vec<Example>,
}

/// The comment before a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Preparation {
    Script {
        name: String,
        numbers_vary: bool,
    },
    /// The block is not run, for this reason.
    None(String),
    Missing,
}

/// A command and its expected output.
#[derive(Debug)]
pub(crate) struct Example {
    /// One or several lines, all but the last of which end with a backslash.
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
}

impl Page {
    pub(crate) fn read(path: PathBuf) -> Page {
        let text = fs::read_to_string(&path).unwrap();
        Page::parse(path, &text)
    }

    fn parse(path: PathBuf, text: &str) -> Page {
        let mut page = Page {
            path,
            blocks: Vec::new(),
            between: Vec::new(),
        };
        let mut lines = text.lines().enumerate();
        let mut outside = Vec::new();
        while let Some((number, line)) = lines.next() {
            outside.push(line.to_owned());
            if line != CONSOLE {
                continue;
            }
            let preparation = match outside.len().checked_sub(2) {
                Some(before) => Preparation::parse(&outside[before]),
                None => Preparation::Missing,
            };
            let inside = lines.by_ref().map(|(_, line)| line);
            page.blocks.push(Block {
                preparation,
                line: number + 1,
                examples: examples(inside.take_while(|line| *line != FENCE)),
            });
            page.between.push(std::mem::take(&mut outside));
            outside.push(FENCE.to_owned());
        }
        page.between.push(outside);
        page
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (number, between) in self.between.iter().enumerate() {
            for line in between {
                text.push_str(line);
                text.push('\n');
            }
            for example in self.blocks.get(number).iter().flat_map(|it| &it.examples) {
                text.push_str(PROMPT);
                text.push_str(&example.command);
                text.push('\n');
                for line in &example.output {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }

    pub(crate) fn write(&self) {
        fs::write(&self.path, self.text()).unwrap();
    }

    /// Places of commands with a prompt in blocks that are not run.
    pub(crate) fn hidden(&self) -> Vec<String> {
        let mut found = Vec::new();
        for line in self.between.iter().flatten() {
            if line.trim_start().starts_with(PROMPT) {
                found.push(format!("{}: {line}", self.path.display()));
            }
        }
        found
    }
}

impl Preparation {
    fn parse(line: &str) -> Preparation {
        let inside = line
            .strip_prefix("<!-- ")
            .and_then(|line| line.strip_suffix(" -->"));
        let Some(inside) = inside else {
            return Preparation::Missing;
        };
        if let Some(reason) = inside.strip_prefix("not run:") {
            return Preparation::None(reason.trim().to_owned());
        }
        let Some(name) = inside.strip_prefix("example: ") else {
            return Preparation::Missing;
        };
        let (name, numbers_vary) = match name.strip_suffix(", numbers vary") {
            Some(name) => (name, true),
            None => (name, false),
        };
        Preparation::Script {
            name: name.to_owned(),
            numbers_vary,
        }
    }
}

/// The commands between two fences, with what follows each.
fn examples<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut continues = false;
    for line in lines {
        let last = found.last_mut();
        match (line.strip_prefix(PROMPT), last) {
            (_, Some(last)) if continues => {
                last.command.push('\n');
                last.command.push_str(line);
            }
            (Some(command), _) => found.push(Example {
                command: command.to_owned(),
                output: Vec::new(),
            }),
            (None, Some(last)) => {
                last.output.push(line.to_owned());
                continue;
            }
            (None, None) => panic!("a console block begins with a command, not with {line:?}"),
        }
        continues = line.ends_with('\\');
    }
    found
}

#[test]
fn a_page_is_written_as_it_was_read() {
    let text = "# T\n\n<!-- example: shop -->\n```console\n$ a \\\n    b\nx\n\n$ c\n```\nend\n";
    let page = Page::parse(PathBuf::from("t.md"), text);
    assert_eq!(page.text(), text);
    let [block] = &page.blocks[..] else {
        panic!("{:?}", page.blocks);
    };
    assert_eq!(block.line, 4);
    assert_eq!(block.examples[0].command, "a \\\n    b");
    assert_eq!(block.examples[0].output, ["x", ""]);
    assert_eq!(block.examples[1].command, "c");
}

#[test]
fn a_comment_names_the_preparation() {
    let script = |name: &str, numbers_vary| Preparation::Script {
        name: name.to_owned(),
        numbers_vary,
    };
    for (line, expected) in [
        ("<!-- example: shop -->", script("shop", false)),
        ("<!-- example: shop, numbers vary -->", script("shop", true)),
        (
            "<!-- not run: slow -->",
            Preparation::None("slow".to_owned()),
        ),
        ("<!-- other -->", Preparation::Missing),
        ("text", Preparation::Missing),
    ] {
        assert_eq!(Preparation::parse(line), expected, "{line}");
    }
}
