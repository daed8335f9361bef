//! Simplifying: the smallest input that still fails.
//!
//! Passes are repeated until a whole round changes nothing. Each of them is a search of the engine;
//! what they differ in is what a delta is.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use culprit_reduce::{DeltaSet, Units, Verdict};

use super::brackets;
use super::changes::{MOST, changes};
use super::cut::{Content, Grain, cut};
use super::edits::Edits;
use super::files::Files;
use super::hoist;
use super::material::{Material, Stuff};
use super::neighbours;
use super::pass::{Pass, independent};
use super::rename;
use super::session::{Session, Trouble};
use super::tree::Syntax;
use super::well_formed::WellFormed;
use crate::{Digest, Language};

/// A step that removes this part of a text, as a divisor, is followed by nodes of its syntax.
const FREED: usize = 8;

/// Bytes that it must remove at least: the tokens of less are removed in as few tests as nodes are.
const LEAST_FREED: usize = 128;

/// The inputs for which passes over a file found nothing. Another file may decide what can be removed from one.
#[derive(Default)]
struct ExhaustedPasses(HashMap<(PathBuf, String), Digest>);

impl Session<'_> {
    /// Reduces the failing side: files first, then inside them.
    pub(crate) fn simplify(&mut self) -> Result<(), Trouble> {
        let mut done = ExhaustedPasses::default();
        let input = self.new.clone();
        let mut seen = HashSet::new();
        for round in 0.. {
            let before = self.new.digest();
            // Files might change each other for ever.
            if !seen.insert(before) {
                break;
            }
            self.is_coarse = false;
            self.simplify_files()?;
            for path in self.largest_first() {
                self.simplify_file(&path, round, &mut done)?;
            }
            if self.new.digest() == before {
                self.leave_out_runs()?;
            }
            if self.new.digest() == before {
                self.substitute(&input, &mut done)?;
            }
            if self.new.digest() == before || self.driver.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// The files with something in them, where there is most to gain first.
    fn largest_first(&self) -> Vec<PathBuf> {
        let items = self.new.items.iter();
        let mut files: Vec<(usize, &PathBuf)> = items
            .map(|item| (item.bytes().len(), &item.path))
            .filter(|(length, _)| *length > 0)
            .collect();
        files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        files.into_iter().map(|(_, path)| path.clone()).collect()
    }

    /// Where no piece can go alone, neighbours go together, or all others do.
    fn leave_out_runs(&mut self) -> Result<(), Trouble> {
        if self.has_passing {
            return Ok(());
        }
        for path in self.largest_first() {
            let text = self.text(&path);
            let (base, index) = self.base(&path);
            for (name, less) in neighbours::of(&text) {
                let smaller = base.with(index, less);
                match self.ask(&smaller, &self.pass_name(name, &path))? {
                    Some(Verdict::Fail(_)) => {
                        self.new = smaller;
                        return Ok(());
                    }
                    Some(_) => {}
                    None => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Where nothing can be left out, shorter words take the place of others, and half a character that
    /// of a whole one.
    fn substitute(&mut self, input: &Material, done: &mut ExhaustedPasses) -> Result<(), Trouble> {
        if self.has_passing || self.is_verbatim {
            return Ok(());
        }
        for path in self.largest_first() {
            let all = input.find(&path).map(|index| input.items[index].bytes());
            let others = rename::others(all.unwrap_or_default(), &self.text(&path));
            for (name, edits) in &others {
                // They are of the text as it was: what changed is looked at anew.
                if self.try_edits(&path, name, edits, None, done)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn simplify_files(&mut self) -> Result<(), Trouble> {
        let files = match self.new.is_folder {
            true => Files::of(&self.old, &self.new),
            false => return Ok(()),
        };
        if files.len() == 0 {
            return Ok(());
        }
        let render = |kept: &DeltaSet| files.render(kept);
        self.take(&Pass {
            name: "files".to_owned(),
            problem: independent(files.len()).needs(files.needs()),
            render: &render,
            well_formed: None,
        })?;
        Ok(())
    }

    fn simplify_file(
        &mut self,
        path: &Path,
        round: usize,
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        let text = self.text(path);
        let content = Content::of(&text);
        // What another side has is kept: only what differs from it goes.
        if self.has_passing {
            for grain in content.grains() {
                self.simplify_changes(path, *grain, done)?;
            }
            return Ok(());
        }
        if !self.is_verbatim {
            let zeros = rename::zeros(&text);
            self.try_edits(path, "zeros", &zeros, None, done)?;
        }
        let language = self.language(path, &text);
        if let Some(language) = language {
            self.simplify_syntax(path, language, done)?;
        }
        let whole = self.text(path);
        for grain in content.grains() {
            match (*grain, language) {
                (Grain::Tokens, Some(language)) => {
                    self.simplify_structure(path, language, &whole, done)?;
                }
                (Grain::Tokens, None) => self.simplify_brackets(path, done)?,
                _ => {}
            }
            if *grain == Grain::Sections && (round > 0 || language.is_some()) {
                continue;
            }
            // A name goes to one letter in fewer tests than its letters go one by one.
            if *grain == Grain::Characters && !self.is_verbatim {
                self.rename(path, done)?;
            }
            match grain {
                // What is coarser comes first, as long as it finds something.
                Grain::Characters if language.is_some() && self.text(path) != text => {
                    return Ok(());
                }
                Grain::Characters => self.simplify_words(path, done)?,
                _ => self.simplify_changes(path, *grain, done)?,
            }
        }
        Ok(())
    }

    /// Pieces of the text.
    fn simplify_changes(
        &mut self,
        path: &Path,
        grain: Grain,
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        loop {
            let text = self.text(path);
            let old = match self.has_passing {
                true => self.old_text(path),
                false => Arc::default(),
            };
            let changes = changes(&old, &text, grain);
            let narrowed = self.try_edits(path, grain.name(), &changes.edits, None, done)?;
            if !changes.is_joined || !narrowed {
                self.is_coarse |= changes.is_joined;
                return Ok(());
            }
        }
    }

    /// Characters of words. Other characters are tokens of their own, which went before.
    fn simplify_words(&mut self, path: &Path, done: &mut ExhaustedPasses) -> Result<(), Trouble> {
        let text = self.text(path);
        if text.len() > MOST {
            // As many as that are joined.
            return self.simplify_changes(path, Grain::Characters, done);
        }
        let letters = letters(&text);
        self.try_edits(path, Grain::Characters.name(), &letters, None, done)?;
        Ok(())
    }

    /// Nodes of the syntax, from the root on.
    fn simplify_syntax(
        &mut self,
        path: &Path,
        language: Language,
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        let text = self.text(path);
        let before = self.new.digest();
        if done.knows(path, "syntax", before) || self.driver.is_over() {
            return Ok(());
        }
        let Some(syntax) = Syntax::read(&text, language) else {
            return Ok(());
        };
        let (base, index) = self.base(path);
        let render = |kept: &DeltaSet| base.with(index, syntax.render(kept));
        let form = WellFormed::file(path, language);
        self.take(&Pass {
            name: self.pass_name("syntax", path),
            problem: syntax.problem().atoms(Units::within(DeltaSet::empty())),
            render: &render,
            well_formed: language.reads(&text).then_some(&form),
        })?;
        done.note(path, "syntax", before, self.new.digest());
        Ok(())
    }

    /// Nodes and brackets that give way to what is in them. What that frees goes whole, before tokens go one by one;
    /// `whole` is the text in which no node could go.
    fn simplify_structure(
        &mut self,
        path: &Path,
        language: Language,
        whole: &[u8],
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        if is_freed(whole, &self.text(path)) {
            self.simplify_syntax(path, language, done)?;
        }
        let before = self.text(path);
        self.hoist(path, language, done)?;
        self.simplify_brackets(path, done)?;
        if is_freed(&before, &self.text(path)) {
            self.simplify_syntax(path, language, done)?;
        }
        Ok(())
    }

    /// Nodes that one below them can stand for.
    fn hoist(
        &mut self,
        path: &Path,
        language: Language,
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        if self.is_verbatim {
            return Ok(());
        }
        let text = self.text(path);
        let before = self.new.digest();
        if done.knows(path, "hoist", before) || !language.reads(&text) {
            return Ok(());
        }
        let mut depth = 0;
        loop {
            let here = self.text(path);
            let Some(choices) = hoist::at_depth(&here, language, depth) else {
                break;
            };
            let mut changed = false;
            for (number, edits) in choices.iter().enumerate() {
                let name = format!("hoist {depth}.{number}");
                changed |= self.try_edits(path, &name, edits, Some(language), done)?;
                if changed || self.driver.is_over() {
                    break;
                }
            }
            if self.driver.is_over() {
                return Ok(());
            }
            // What stands there now is looked at again.
            depth += usize::from(!changed);
            if is_freed(&here, &self.text(path)) {
                self.simplify_syntax(path, language, done)?;
            }
        }
        done.note(path, "hoist", before, self.new.digest());
        Ok(())
    }

    /// Brackets with what is in them, then what is in them alone, then they alone.
    fn simplify_brackets(
        &mut self,
        path: &Path,
        done: &mut ExhaustedPasses,
    ) -> Result<(), Trouble> {
        let groups = brackets::groups(&self.text(path));
        self.try_edits(path, "groups", &groups, None, done)?;
        let emptied = brackets::emptied(&self.text(path));
        self.try_edits(path, "emptied groups", &emptied, None, done)?;
        let pairs = brackets::pairs(&self.text(path));
        self.try_edits(path, "brackets", &pairs, None, done)?;
        Ok(())
    }

    /// Shorter names and numbers.
    fn rename(&mut self, path: &Path, done: &mut ExhaustedPasses) -> Result<(), Trouble> {
        let names = rename::names(&self.text(path));
        self.try_edits(path, "names", &names, None, done)?;
        let numbers = rename::numbers(&self.text(path));
        self.try_edits(path, "numbers", &numbers, None, done)?;
        Ok(())
    }

    /// Decides a pass over a file, unless it is known to find nothing. Whether it found something.
    fn try_edits(
        &mut self,
        path: &Path,
        name: &str,
        edits: &Edits,
        language: Option<Language>,
        done: &mut ExhaustedPasses,
    ) -> Result<bool, Trouble> {
        let before = self.new.digest();
        if edits.len() == 0 || done.knows(path, name, before) || self.driver.is_over() {
            return Ok(false);
        }
        let (base, index) = self.base(path);
        let render = |kept: &DeltaSet| base.with(index, edits.render(kept));
        let form = language.map(|language| WellFormed::file(path, language));
        let narrowed = self.take(&Pass {
            name: self.pass_name(name, path),
            problem: independent(edits.len()),
            render: &render,
            well_formed: form.as_ref(),
        })?;
        done.note(path, name, before, self.new.digest());
        Ok(narrowed)
    }

    /// What the failing side has of a file.
    fn text(&self, path: &Path) -> Arc<Vec<u8>> {
        match self
            .new
            .find(path)
            .map(|index| &self.new.items[index].stuff)
        {
            Some(Stuff::File { bytes, .. }) => Arc::clone(bytes),
            _ => Arc::default(),
        }
    }

    fn old_text(&self, path: &Path) -> Arc<Vec<u8>> {
        match self
            .old
            .find(path)
            .map(|index| &self.old.items[index].stuff)
        {
            Some(Stuff::File { bytes, .. }) => Arc::clone(bytes),
            _ => Arc::default(),
        }
    }
}

/// True if so much is gone that whole nodes may have lost what they were needed for. Blanks do not count.
fn is_freed(before: &[u8], after: &[u8]) -> bool {
    let solid = |text: &[u8]| text.iter().filter(|it| !it.is_ascii_whitespace()).count();
    let gone = solid(before).saturating_sub(solid(after));
    gone >= LEAST_FREED && FREED * gone >= solid(before)
}

/// The characters of tokens that have several.
fn letters(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for token in cut(text, Grain::Tokens) {
        let whole = &text[token.clone()];
        let mut characters = cut(whole, Grain::Characters).peekable();
        while let Some(piece) = characters.next() {
            if piece.start > 0 || characters.peek().is_some() {
                edits.add(token.start + piece.start..token.start + piece.end, b"");
            }
        }
    }
    edits.sorted()
}

impl ExhaustedPasses {
    fn knows(&self, path: &Path, name: &str, input: Digest) -> bool {
        let known = self.0.get(&(path.to_owned(), name.to_owned()));
        known == Some(&input)
    }

    /// A pass that changed nothing need not be repeated on the same input.
    fn note(&mut self, path: &Path, name: &str, before: Digest, after: Digest) {
        if before == after {
            self.0.insert((path.to_owned(), name.to_owned()), after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_free_nothing() {
        let text = |count: usize| "ab(c); \n".repeat(count).into_bytes();
        assert!(is_freed(&text(200), &text(170)));
        assert!(!is_freed(&text(200), &text(190)));
        assert!(!is_freed(&text(9), &text(1)));
        let dense = "ab(c);".repeat(200).into_bytes();
        assert!(!is_freed(&text(200), &dense));
    }

    #[test]
    fn only_words_have_letters() {
        let text = Arc::new("if (é) x = 10;".as_bytes().to_vec());
        let edits = letters(&text);
        let left = edits.render(&DeltaSet::empty());
        assert_eq!(String::from_utf8(left).unwrap(), " (é) x = ;");
        assert_eq!(edits.len(), 4);
    }
}
