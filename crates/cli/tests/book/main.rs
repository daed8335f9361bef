//! Each console example of README and book is run, and its output compared with the page.
//!
//! A comment before a `console` block names what prepares the folder that it runs in, a script of
//! `fixtures/book`: `<!-- example: shop -->`. Blocks of a page with the same name share that
//! folder. `<!-- example: shop, numbers vary -->` ignores all numbers, and
//! `<!-- not run: REASON -->` leaves a block out. In the output, a line `...` stands for any lines.
//!
//! `UPDATE_EXAMPLES=1 cargo test -p culprit --test book` writes the output into the pages.

mod compare;
mod page;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use page::{Block, Page, Preparation};
use stage::Stage;

/// Pages run next to each other, at most.
const WORKERS: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<Page> {
    let book = fs::read_dir(root().join("docs/book/src")).unwrap();
    let mut paths: Vec<PathBuf> = book.map(|entry| entry.unwrap().path()).collect();
    paths.push(root().join("README.md"));
    paths.retain(|path| path.extension().is_some_and(|it| it == "md"));
    paths.sort();
    paths.into_iter().map(Page::read).collect()
}

/// Runs the examples of a page, and returns the differences.
fn differences(page: &mut Page, stage: &Stage, updates: bool) -> Vec<String> {
    let mut found = Vec::new();
    for block in &mut page.blocks {
        let Preparation::Script { name, numbers_vary } = block.preparation.clone() else {
            continue;
        };
        let folder = stage.folder(&page.path, &name);
        for example in &mut block.examples {
            let printed = stage.run(&example.command, &folder);
            let masks = compare::Masks { numbers_vary };
            if masks.matches(&example.output, &printed) {
                continue;
            }
            let place = format!("{}:{}", page.path.display(), block.line);
            let shown = printed.join("\n");
            found.push(format!("{place}: $ {}\n{shown}\n", example.command));
            if updates {
                example.output = compare::shortened(&printed, &example.output);
            }
        }
    }
    found
}

#[test]
fn examples_print_what_the_pages_say() {
    let updates = std::env::var_os("UPDATE_EXAMPLES").is_some();
    let stage = &Stage::new(&root().join("fixtures"));
    let mut pages = pages();
    let share = pages.len().div_ceil(WORKERS);
    let found: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = pages
            .chunks_mut(share)
            .map(|pages| {
                scope.spawn(move || {
                    let found = pages
                        .iter_mut()
                        .flat_map(|page| differences(page, stage, updates));
                    found.collect::<Vec<String>>()
                })
            })
            .collect();
        let found = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        found.collect()
    });
    if updates {
        for page in &pages {
            page.write();
        }
        return;
    }
    assert!(
        found.is_empty(),
        "examples print something else (UPDATE_EXAMPLES=1 writes it into the pages):\n\n{}",
        found.join("\n")
    );
}

#[test]
fn every_console_block_names_its_preparation_or_why_it_is_not_run() {
    let wrong = |page: &Page| -> Vec<String> {
        let blocks = page.blocks.iter().filter(|block| match &block.preparation {
            Preparation::Missing => true,
            Preparation::None(reason) => reason.is_empty(),
            Preparation::Script { name, .. } => !root()
                .join("fixtures/book")
                .join(format!("{name}.sh"))
                .is_file(),
        });
        let place = |block: &Block| format!("{}:{}", page.path.display(), block.line);
        blocks.map(place).collect()
    };
    let wrong: Vec<String> = pages().iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commands_with_output_are_in_console_blocks() {
    let hidden: Vec<String> = pages().iter().flat_map(Page::hidden).collect();
    assert!(hidden.is_empty(), "{hidden:#?}");
}
