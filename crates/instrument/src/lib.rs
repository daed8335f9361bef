//! A jar rewritten: its classes are woven ahead of time.
//!
//! Everything but the classes is copied byte for byte, in the same order, except for signatures,
//! which no longer match. Without the agent the new jar runs as the old one; with the agent, its
//! classes are recorded as selected here and need no weaving when they load.
//!
//! The input is never changed, and the output appears whole or not at all. This crate knows no
//! console and no arguments.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod idle;
mod signature;
mod world;

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use culprit_classfile::{ClassFile, access};
use culprit_model::Selection;
use culprit_model::options::Arrays;
use culprit_weave::ahead::{self, ClassPlan};
use culprit_weave::{Purpose, References, Settings, World, can_carry_id};
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::{FileOptions, SimpleFileOptions};
use zip::{ZipArchive, ZipWriter};

pub use error::Error;
use world::JarWorld;

/// The result of rewriting a jar.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instrumented {
    /// The number of woven classes.
    pub woven: usize,
    /// The number of observed classes among them.
    pub observed: usize,
    /// The number of signature files left out.
    pub signatures: usize,
    /// The names of jars inside the jar, which are copied.
    pub nested: Vec<String>,
    /// Entries with classes that cannot be woven and are copied.
    pub broken: Vec<Unwoven>,
    /// Methods of woven classes that are not woven themselves.
    pub skipped: Vec<Unwoven>,
    /// True if the jar is a module.
    pub modular: bool,
}

/// A class or method left as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwoven {
    /// The name of the entry or of the method.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl Unwoven {
    fn new((name, reason): (String, String)) -> Unwoven {
        Unwoven { name, reason }
    }
}

/// Writes a copy of a jar in which the selected classes, and the classes that use them, are woven.
/// An empty selection observes all classes of the jar. The output must not exist.
pub fn instrument(
    input: &Path,
    output: &Path,
    selection: &Selection,
) -> Result<Instrumented, Error> {
    let mut rewriting = Rewriting::open(input, output)?;
    let world = rewriting.survey(selection)?;
    rewriting.result.observed = world.observed();
    if world.observed() == 0 {
        let path = input.to_owned();
        return Err(match world.names() {
            classes if classes.is_empty() => Error::NoClasses { path },
            classes => Error::Unmatched {
                path,
                observe: selection.observe.clone(),
                classes,
            },
        });
    }
    if output.exists() {
        let path = output.to_owned();
        return Err(Error::Exists { path });
    }
    rewriting.write(&world)?;
    Ok(rewriting.result)
}

fn name_of<R: Read>(entry: &ZipFile<'_, R>) -> String {
    String::from_utf8_lossy(entry.name_raw()).into_owned()
}

/// True if an entry is a class that may be woven.
fn is_class(entry: &str) -> bool {
    entry.ends_with(".class") && !entry.ends_with("module-info.class")
}

/// A jar on its way to another.
struct Rewriting<'a> {
    input: &'a Path,
    output: &'a Path,
    archive: ZipArchive<BufReader<File>>,
    result: Instrumented,
}

impl<'a> Rewriting<'a> {
    fn open(input: &'a Path, output: &'a Path) -> Result<Rewriting<'a>, Error> {
        let path = || input.to_owned();
        let file = File::open(input).map_err(|source| Error::Unreadable {
            path: path(),
            source,
        })?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|source| Error::NotAJar {
            path: path(),
            source,
        })?;
        Ok(Rewriting {
            input,
            output,
            archive,
            result: Instrumented::default(),
        })
    }

    /// Reads all classes, to know which extends which.
    fn survey(&mut self, selection: &Selection) -> Result<JarWorld, Error> {
        let input = self.input;
        let instrumented = || Error::Instrumented {
            path: input.to_owned(),
        };
        let mut world = JarWorld::new(selection.clone());
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index(index);
            let mut entry = entry.map_err(|e| damaged(input, e))?;
            let name = name_of(&entry);
            self.result.modular |= name.ends_with("module-info.class");
            if name == idle::ENTRY {
                return Err(instrumented());
            }
            if is_class(&name) {
                let mut bytes = Vec::new();
                entry
                    .read_to_end(&mut bytes)
                    .map_err(|e| damaged(input, e))?;
                // A class that cannot be parsed is reported when it is to be woven.
                if let Ok(class) = ClassFile::parse(&bytes) {
                    if ahead::is_prepared(&class) {
                        return Err(instrumented());
                    }
                    let _ = world.add(&class);
                }
            }
        }
        world.decide();
        Ok(world)
    }

    /// Writes the new jar beside its place, then renames it.
    fn write(&mut self, world: &JarWorld) -> Result<(), Error> {
        let mut part = self.output.to_owned().into_os_string();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let output = self.output;
        let file = File::create_new(&part).map_err(|e| unwritable(output, e))?;
        let written = self
            .copy(file, world)
            .and_then(|()| fs::rename(&part, output).map_err(|e| unwritable(output, e)));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Copies or weaves all entries, and adds the idle probes.
    fn copy(&mut self, file: File, world: &JarWorld) -> Result<(), Error> {
        let output = self.output;
        let unwritable = |error| unwritable(output, error);
        let mut jar = ZipWriter::new(BufWriter::new(file));
        let comment = self.archive.comment().into();
        jar.set_raw_comment(comment).map_err(unwritable)?;
        for index in 0..self.archive.len() {
            self.entry(index, &mut jar, world)?;
        }
        let probes = idle::probes()?;
        jar.start_file(idle::ENTRY, SimpleFileOptions::default())
            .map_err(unwritable)?;
        jar.write_all(&probes).map_err(|e| unwritable(e.into()))?;
        let mut file = jar.finish().map_err(unwritable)?;
        file.flush().map_err(|e| unwritable(e.into()))
    }

    /// Copies or weaves one entry.
    fn entry<W: Write + Seek>(
        &mut self,
        index: usize,
        jar: &mut ZipWriter<W>,
        world: &JarWorld,
    ) -> Result<(), Error> {
        let (input, output) = (self.input, self.output);
        let entry = self.archive.by_index(index);
        let mut entry = entry.map_err(|e| damaged(input, e))?;
        let name = name_of(&entry);
        if signature::is_signature(&name) {
            self.result.signatures += 1;
            return Ok(());
        }
        if name.ends_with(".jar") {
            self.result.nested.push(name.clone());
        }
        let mut changed = None;
        if is_class(&name) || name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
            let mut bytes = Vec::new();
            entry
                .read_to_end(&mut bytes)
                .map_err(|e| damaged(input, e))?;
            changed = if is_class(&name) {
                woven(&name, &bytes, world, &mut self.result)
            } else {
                let text = String::from_utf8_lossy(&bytes);
                signature::without_digests(&text).map(String::into_bytes)
            };
        }
        match changed {
            Some(bytes) => {
                let mut options: SimpleFileOptions =
                    FileOptions::default().compression_method(entry.compression());
                if let Some(time) = entry.last_modified() {
                    options = options.last_modified_time(time);
                }
                drop(entry);
                jar.start_file(name, options)
                    .map_err(|e| unwritable(output, e))?;
                jar.write_all(&bytes).map_err(|e| unwritable(output, e))
            }
            None => {
                drop(entry);
                let raw = self.archive.by_index_raw(index);
                let raw = raw.map_err(|e| damaged(input, e))?;
                jar.raw_copy_file(raw).map_err(|e| unwritable(output, e))
            }
        }
    }
}

fn damaged(input: &Path, error: impl Into<ZipError>) -> Error {
    Error::Damaged {
        path: input.to_owned(),
        source: error.into(),
    }
}

fn unwritable(output: &Path, error: impl Into<ZipError>) -> Error {
    Error::Unwritable {
        path: output.to_owned(),
        source: error.into(),
    }
}

/// The bytes of a woven class, or `None` for one that is copied.
fn woven(
    entry: &str,
    bytes: &[u8],
    world: &JarWorld,
    result: &mut Instrumented,
) -> Option<Vec<u8>> {
    match prepare(bytes, world) {
        Ok(Some(prepared)) => {
            result.woven += 1;
            let skipped = prepared.skipped.into_iter();
            result.skipped.extend(skipped.map(Unwoven::new));
            Some(prepared.bytes)
        }
        Ok(None) => None,
        Err(error) => {
            let broken = (entry.to_owned(), error.to_string());
            result.broken.push(Unwoven::new(broken));
            None
        }
    }
}

fn prepare(
    bytes: &[u8],
    world: &JarWorld,
) -> Result<Option<ahead::Prepared>, culprit_weave::Error> {
    let class = ClassFile::parse(bytes)?;
    if class.access & access::MODULE != 0 {
        return Ok(None);
    }
    let name = class.name()?.into_owned();
    let inherits_id = world.inherits_id(&name);
    let id_field = can_carry_id(&class) && !inherits_id;
    let part = ClassPlan {
        observed: world.is_observed(&name),
        has_id: id_field || inherits_id,
        kin: world.is_kin(&name),
    };
    let settings = Settings {
        lines: None,
        strangers: &[],
        purpose: Purpose::Record,
        arrays: Arrays::Contents,
        id_field,
        kin: part.kin,
        references: References::Chosen,
    };
    ahead::prepare(bytes, world, settings, part).map(Some)
}

#[cfg(test)]
mod tests;
