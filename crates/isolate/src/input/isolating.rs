//! Isolating: a pair of inputs, one of which fails and one of which passes, that differ as little as
//! can be.

use std::path::{Path, PathBuf};

use culprit_reduce::{DeltaSet, Problem, Verdict};

use super::across::Across;
use super::changes::changes;
use super::cut::{Content, Grain};
use super::edits::Edits;
use super::files::Files;
use super::material::{Item, Material, Stuff};
use super::nodes::node_changes;
use super::pass::Pass;
use super::session::{Session, Trouble};
use super::tree::Syntax;
use super::vocabulary::Vocabulary;
use super::well_formed::WellFormed;

impl Session<'_> {
    /// Narrows both sides: files first, then inside those that differ, coarse to fine.
    pub(crate) fn narrow(&mut self) -> Result<(), Trouble> {
        if self.new.is_folder {
            let files = Files::of(&self.old, &self.new);
            if files.len() > 1 {
                let render = |kept: &DeltaSet| files.render(kept);
                self.take(&Pass {
                    name: "files".to_owned(),
                    problem: Problem::new(files.len()).needs(files.needs()),
                    render: &render,
                    well_formed: None,
                })?;
            }
        }
        for path in self.differing() {
            self.begin_empty(&path)?;
            self.part_mode(&path)?;
        }
        let form = self.well_formed();
        self.narrow_nodes(&form)?;
        if let [path] = self.differing().as_slice()
            && !self.driver.is_over()
        {
            self.narrow_syntax(path, &form)?;
        }
        let grains = [
            Grain::Sections,
            Grain::Lines,
            Grain::Tokens,
            Grain::Characters,
            Grain::Bytes,
        ];
        for grain in grains {
            // Pieces that were joined are looked at again when there are fewer.
            loop {
                let (across, is_joined) = self.across(grain);
                let is_used = self.finest() >= Some(grain);
                if across.len() < 2 || !is_used || self.driver.is_over() {
                    break;
                }
                let render = |kept: &DeltaSet| across.render(kept);
                let problem = Problem::new(across.len());
                let narrowed = self.take(&Pass {
                    name: grain.name().to_owned(),
                    problem,
                    render: &render,
                    well_formed: Some(&form),
                })?;
                if !is_joined || !narrowed {
                    self.is_coarse = is_joined;
                    break;
                }
            }
        }
        Ok(())
    }

    /// The files that stay well-formed between both sides: those of a language that both sides are of, as far as they
    /// have something of them. Otherwise the pair would tell of something else.
    fn well_formed(&self) -> WellFormed {
        let mut form = WellFormed::default();
        for (path, old, new) in self.old.beside(&self.new) {
            let Some(new) = new.filter(|new| old != Some(*new) && !new.bytes().is_empty()) else {
                continue;
            };
            let before = old.map_or(&[][..], Item::bytes);
            let Some(language) = self.language(path, new.bytes()) else {
                continue;
            };
            if language.reads(new.bytes()) && (before.is_empty() || language.reads(before)) {
                // Names of one file may be declared in another one.
                let is_kept = !self.tells_pass && !self.new.is_folder;
                let vocabulary =
                    is_kept.then(|| Vocabulary::between(before, new.bytes(), language));
                form.add(path, language, vocabulary);
            }
        }
        form
    }

    /// The paths of what differs.
    fn differing(&self) -> Vec<PathBuf> {
        let all = self.old.beside(&self.new);
        let differing = all.filter(|(_, old, new)| old != new);
        differing.map(|(path, ..)| path.to_owned()).collect()
    }

    /// What both sides have at a path.
    fn sides(&self, path: &Path) -> (Option<&Item>, Option<&Item>) {
        let of = |side: &Material| side.find(path);
        (
            of(&self.old).map(|index| &self.old.items[index]),
            of(&self.new).map(|index| &self.new.items[index]),
        )
    }

    /// A file that only the failing side has may begin empty, so that there is something to look into.
    fn begin_empty(&mut self, path: &Path) -> Result<(), Trouble> {
        let (None, Some(new)) = self.sides(path) else {
            return Ok(());
        };
        if new.bytes().is_empty() || self.driver.is_over() {
            return Ok(());
        }
        let mut empty = new.clone();
        empty.clear();
        let mut items = self.old.items.clone();
        items.push(empty);
        // Of one file there are always both sides.
        let with_empty = Material::folder(items);
        match self.ask(&with_empty, "empty file")? {
            Some(Verdict::Pass) => self.old = with_empty,
            // That it is there decides.
            Some(Verdict::Fail(_)) => self.new = with_empty,
            _ => {}
        }
        Ok(())
    }

    /// Looks at the mode of a file by itself where its bytes differ too.
    fn part_mode(&mut self, path: &Path) -> Result<(), Trouble> {
        let (Some(at), Some(there)) = (self.old.find(path), self.new.find(path)) else {
            return Ok(());
        };
        let (old, new) = (&self.old.items[at], &self.new.items[there]);
        let (Some(before), Some(after)) = (old.mode(), new.mode()) else {
            return Ok(());
        };
        if before == after || old.bytes() == new.bytes() {
            return Ok(());
        }
        let others = [
            self.old.with_mode(at, after),
            self.new.with_mode(there, before),
        ];
        for other in others {
            if self.driver.is_over() {
                return Ok(());
            }
            match self.ask(&other, "mode")? {
                Some(Verdict::Pass) => self.old = other,
                Some(Verdict::Fail(_)) => self.new = other,
                // Mode and bytes go together there.
                _ => continue,
            }
            return Ok(());
        }
        Ok(())
    }

    /// How fine anything that differs is cut at last.
    fn finest(&self) -> Option<Grain> {
        let all = self.old.beside(&self.new);
        let each = all.filter_map(|(_, old, new)| match (old, new) {
            (Some(old), Some(new)) if old != new => {
                grains(old.bytes(), new.bytes()).last().copied()
            }
            _ => None,
        });
        // What only one side has is one piece, however fine.
        each.max().or(Some(Grain::Sections))
    }

    /// The difference, cut this fine; and whether pieces were joined.
    fn across(&self, grain: Grain) -> (Across, bool) {
        let mut across = Across::new(self.new.is_folder);
        let mut joined = false;
        for (_, old, new) in self.old.beside(&self.new) {
            match (old, new) {
                (Some(old), Some(new)) if old == new => across.same(new.clone()),
                (Some(old), Some(new)) => match (&old.stuff, &new.stuff) {
                    (Stuff::File { bytes: before, .. }, Stuff::File { bytes: after, .. })
                        if old.mode() == new.mode()
                            && before != after
                            && cut_at(before, after, grain).is_some() =>
                    {
                        let grain = cut_at(before, after, grain).unwrap_or(grain);
                        let changes = changes(before, after, grain);
                        joined |= changes.is_joined;
                        across.inside(new.clone(), changes.edits);
                    }
                    _ => across.whole(Some(old.clone()), Some(new.clone())),
                },
                (old, new) => across.whole(old.cloned(), new.cloned()),
            }
        }
        (across, joined)
    }

    /// By nodes that differ, in files of which both sides have something of a language.
    fn narrow_nodes(&mut self, form: &WellFormed) -> Result<(), Trouble> {
        let mut across = Across::new(self.new.is_folder);
        let mut within = 0;
        for (_, old, new) in self.old.beside(&self.new) {
            if let Some(item) = new.filter(|_| old == new) {
                across.same(item.clone());
                continue;
            }
            match old.zip(new).and_then(|(old, new)| self.nodes(old, new)) {
                Some((new, edits)) => {
                    within += edits.len();
                    across.inside(new, edits);
                }
                None => across.whole(old.cloned(), new.cloned()),
            }
        }
        if within < 2 || self.driver.is_over() {
            return Ok(());
        }
        let render = |kept: &DeltaSet| across.render(kept);
        self.take(&Pass {
            name: "nodes".to_owned(),
            problem: Problem::new(across.len()),
            render: &render,
            well_formed: Some(form),
        })?;
        Ok(())
    }

    /// The nodes in which a file differs, if both sides have something of a language.
    fn nodes(&self, old: &Item, new: &Item) -> Option<(Item, Edits)> {
        let (Stuff::File { bytes: before, .. }, Stuff::File { bytes: after, .. }) =
            (&old.stuff, &new.stuff)
        else {
            return None;
        };
        if before.is_empty() || old.mode() != new.mode() {
            return None;
        }
        let language = self.language(&new.path, after)?;
        let edits = node_changes(before, after, language)?;
        Some((new.clone(), edits))
    }

    /// By the syntax of what only the failing side of a file has.
    fn narrow_syntax(&mut self, path: &Path, form: &WellFormed) -> Result<(), Trouble> {
        let (Some(old), Some(new)) = self.sides(path) else {
            return Ok(());
        };
        if old.mode() != new.mode() {
            return Ok(());
        }
        let Stuff::File { bytes: text, .. } = &new.stuff else {
            return Ok(());
        };
        let Some(language) = self.language(path, text) else {
            return Ok(());
        };
        let before = old.bytes();
        let start = before
            .iter()
            .zip(&**text)
            .take_while(|(a, b)| a == b)
            .count();
        let ends = before[start..].iter().rev().zip(text[start..].iter().rev());
        let end = ends.take_while(|(a, b)| a == b).count();
        // What the other side has there is more than nothing: the text is compared later.
        if before.len() > start + end {
            return Ok(());
        }
        let part = start..text.len() - end;
        let Some(syntax) = Syntax::read(text, language) else {
            return Ok(());
        };
        let part = syntax.settled(part);
        let mut syntax = syntax.within(&part);
        if !self.tells_pass {
            syntax = syntax.with_imports();
        }
        if syntax.len() == 0 {
            return Ok(());
        }
        let (base, index) = self.base(path);
        let render = |kept: &DeltaSet| base.with(index, syntax.render(kept));
        self.take(&Pass {
            name: self.pass_name("syntax", path),
            problem: syntax.problem(),
            render: &render,
            well_formed: Some(form),
        })?;
        Ok(())
    }
}

/// The cuts for what two texts differ in, coarse to fine.
fn grains(old: &[u8], new: &[u8]) -> &'static [Grain] {
    match (Content::of(old), Content::of(new)) {
        (Content::Text, new) => new,
        (old, Content::Text) => old,
        (old, new) if old == new => new,
        _ => Content::Binary,
    }
    .grains()
}

/// How fine two texts are cut in a pass of this grain. What was cut to its finest stays cut, but
/// characters are not. `None` if they are one delta.
fn cut_at(old: &[u8], new: &[u8], grain: Grain) -> Option<Grain> {
    let grains = grains(old, new);
    match grains.contains(&grain) {
        true => Some(grain),
        false => grains.last().copied().filter(|finest| *finest < grain),
    }
}
