//! `culprit instrument`: a jar with its classes woven ahead of time.
//!
//! Everything but the classes is copied byte for byte, in the same order. The jar runs without
//! the agent as it did before; with it, the classes are recorded as the jar was told, and need no
//! weaving when they load.

mod idle;
mod signature;
mod world;

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use culprit_classfile::{ClassFile, access};
use culprit_model::options::Arrays;
use culprit_model::{Pattern, Selection, clean};
use culprit_weave::ahead::{self, Part};
use culprit_weave::{Purpose, References, Settings, World, can_carry_id};
use zip::read::ZipFile;
use zip::write::{FileOptions, SimpleFileOptions};
use zip::{ZipArchive, ZipWriter};

use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::record::{Observe, nearest, quote};
use world::JarWorld;

/// Options of `culprit instrument`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The jar to weave; it is not changed
    #[arg(value_name = "IN.jar")]
    input: PathBuf,
    /// The jar to write; it must not exist
    #[arg(short, long, value_name = "OUT.jar")]
    output: PathBuf,
    /// Observe these classes [default: all of the jar]
    #[arg(long, value_name = "PATTERN")]
    observe: Vec<Observe>,
    /// Leave these classes out, whatever --observe says
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<Pattern>,
}

const EXAMPLES: &str = "\
Examples:
  culprit instrument app.jar -o app-woven.jar --observe 'com.acme.billing.**'
  culprit record -- java -jar app-woven.jar";

/// How many names to propose, and how many troubles to list.
const LISTED: usize = 5;

/// What happened to the entries.
#[derive(Default)]
struct Outcome {
    woven: usize,
    signatures: usize,
    nested: Vec<String>,
    /// Classes that stay as they were, each with the reason.
    broken: Vec<(String, String)>,
    skipped: Vec<(String, String)>,
    modular: bool,
}

/// Weaves the jar.
pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let mut archive = open(&args.input)?;
    let mut selection = Selection {
        exclude: args.exclude.clone(),
        ..Selection::default()
    };
    for observe in &args.observe {
        match observe {
            Observe::App => selection.app = true,
            Observe::Classes(pattern) => selection.observe.push(pattern.clone()),
        }
    }
    let mut outcome = Outcome::default();
    let world = survey(&mut archive, &args.input, selection.clone(), &mut outcome)?;
    if world.observed() == 0 {
        return Err(unmatched(&args.input, &selection, &world).into());
    }
    if args.output.exists() {
        let message = format!("{} exists already", args.output.display());
        return Err(Expected::new(ExitCode::Usage, message)
            .hint("remove it, or name another file with -o")
            .into());
    }
    write(&mut archive, args, &world, &mut outcome)?;
    report(args, &world, &outcome, console)?;
    Ok(ExitCode::Answered)
}

type Jar = ZipArchive<BufReader<File>>;

fn open(input: &Path) -> Result<Jar, Expected> {
    let usage = |message: String| Expected::new(ExitCode::Usage, message);
    let file = File::open(input)
        .map_err(|error| usage(format!("cannot read {}: {error}", input.display())))?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| {
        usage(format!("{} is not a jar: {error}", input.display()))
            .hint("name a jar file; folders of classes can be packed with `jar cf`")
    })
}

fn unreadable(input: &Path, error: impl std::fmt::Display) -> Expected {
    let message = format!("{} is damaged: {error}", input.display());
    Expected::new(ExitCode::Usage, message)
}

fn name_of<R: Read>(entry: &ZipFile<'_, R>) -> String {
    String::from_utf8_lossy(entry.name_raw()).into_owned()
}

/// Whether an entry is a class that may be woven.
fn is_class(entry: &str) -> bool {
    entry.ends_with(".class") && !entry.ends_with("module-info.class")
}

/// Reads all classes, to know who extends whom.
fn survey(
    archive: &mut Jar,
    input: &Path,
    selection: Selection,
    outcome: &mut Outcome,
) -> Result<JarWorld, Expected> {
    let mut world = JarWorld::new(selection);
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| unreadable(input, e))?;
        let name = name_of(&entry);
        outcome.modular |= name.ends_with("module-info.class");
        if name == idle::ENTRY {
            return Err(already(input));
        }
        if is_class(&name) {
            let mut bytes = Vec::new();
            entry
                .read_to_end(&mut bytes)
                .map_err(|e| unreadable(input, e))?;
            // What is wrong with a class is told when it is to be woven.
            if let Ok(class) = ClassFile::parse(&bytes) {
                if ahead::is_prepared(&class) {
                    return Err(already(input));
                }
                let _ = world.add(&class);
            }
        }
    }
    world.decide();
    Ok(world)
}

fn already(input: &Path) -> Expected {
    let message = format!("{} is instrumented already", input.display());
    Expected::new(ExitCode::Usage, message).hint("instrument the original jar")
}

fn unmatched(input: &Path, selection: &Selection, world: &JarWorld) -> Expected {
    let names = world.names();
    if names.is_empty() {
        return Expected::new(
            ExitCode::Usage,
            format!("{} holds no classes", input.display()),
        );
    }
    let patterns: Vec<String> = selection.observe.iter().map(Pattern::to_string).collect();
    let wanted = match patterns.is_empty() {
        true => "what is left after --exclude".to_owned(),
        false => patterns.join(", "),
    };
    let message = format!("no class of {} matches {wanted}", input.display());
    let mut near = Vec::new();
    for pattern in &selection.observe {
        near.extend(nearest::nearest(pattern, &names, LISTED));
    }
    if near.is_empty() {
        near = nearest::largest_packages(&names, LISTED);
    }
    let near: Vec<String> = near.iter().map(|n| quote::line([n])).collect();
    let hint = format!("the nearest that would match: {}", near.join(" "));
    Expected::new(ExitCode::Usage, message).hint(hint)
}

/// Writes the new jar; it appears whole or not at all.
fn write(
    archive: &mut Jar,
    args: &Args,
    world: &JarWorld,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let mut part = args.output.clone().into_os_string();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("cannot write {}: {error}", args.output.display());
        Expected::new(ExitCode::Usage, message).hint("name a place you can write to with -o")
    };
    let file = File::create_new(&part).map_err(|error| unwritable(&error))?;
    let copy = || -> anyhow::Result<()> {
        let mut jar = ZipWriter::new(BufWriter::new(file));
        jar.set_raw_comment(archive.comment().into())?;
        for index in 0..archive.len() {
            entry(archive, index, &mut jar, &args.input, world, outcome)?;
        }
        jar.start_file(idle::ENTRY, SimpleFileOptions::default())?;
        jar.write_all(&idle::probes()?)?;
        let mut file = jar.finish()?;
        file.flush()?;
        fs::rename(&part, &args.output)?;
        Ok(())
    };
    copy().map_err(|error| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&part);
        match error.downcast::<Expected>() {
            Ok(expected) => expected.into(),
            Err(error) if is_ours_to_write(&error) => unwritable(&error).into(),
            Err(error) => error,
        }
    })
}

fn is_ours_to_write(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some()
        || error.downcast_ref::<zip::result::ZipError>().is_some()
}

/// Copies or weaves one entry.
fn entry<W: Write + Seek>(
    archive: &mut Jar,
    index: usize,
    jar: &mut ZipWriter<W>,
    input: &Path,
    world: &JarWorld,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let mut entry = archive.by_index(index).map_err(|e| unreadable(input, e))?;
    let name = name_of(&entry);
    if signature::is_signature(&name) {
        outcome.signatures += 1;
        return Ok(());
    }
    if name.ends_with(".jar") {
        outcome.nested.push(name.clone());
    }
    let mut changed = None;
    if is_class(&name) || name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
        let mut bytes = Vec::new();
        entry
            .read_to_end(&mut bytes)
            .map_err(|e| unreadable(input, e))?;
        changed = if is_class(&name) {
            woven(&name, &bytes, world, outcome)
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
            jar.start_file(name, options)?;
            jar.write_all(&bytes)?;
        }
        None => {
            drop(entry);
            let raw = archive
                .by_index_raw(index)
                .map_err(|e| unreadable(input, e))?;
            jar.raw_copy_file(raw)?;
        }
    }
    Ok(())
}

/// A class woven, or `None` where it stays as it is.
fn woven(entry: &str, bytes: &[u8], world: &JarWorld, outcome: &mut Outcome) -> Option<Vec<u8>> {
    let prepared = prepare(bytes, world);
    match prepared {
        Ok(Some(prepared)) => {
            outcome.woven += 1;
            outcome.skipped.extend(prepared.skipped);
            Some(prepared.bytes)
        }
        Ok(None) => None,
        Err(error) => {
            outcome.broken.push((entry.to_owned(), error.to_string()));
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
    let part = Part {
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

fn report(
    args: &Args,
    world: &JarWorld,
    outcome: &Outcome,
    console: &mut Console,
) -> io::Result<()> {
    let s = console.err_styles().strong;
    let err = console.err();
    writeln!(
        err,
        "culprit: {} classes woven, {} of them observed, in {s}{}{s:#}",
        outcome.woven,
        world.observed(),
        clean::path(&args.output)
    )?;
    if outcome.signatures > 0 {
        writeln!(
            err,
            "  the jar was signed; its signature no longer holds and is removed"
        )?;
    }
    if outcome.modular {
        writeln!(
            err,
            "  the jar is a module: put it on the class path to record it, not the module path"
        )?;
    }
    list(
        err,
        "jars inside are copied as they are",
        outcome.nested.iter().cloned(),
    )?;
    let told = |(what, why): &(String, String)| format!("{what}: {why}");
    list(
        err,
        "classes that cannot be woven are copied",
        outcome.broken.iter().map(told),
    )?;
    list(
        err,
        "methods that stay as they were",
        outcome.skipped.iter().map(told),
    )?;
    let next = quote::line(["culprit", "record", "--", "java", "-jar"]);
    let output = quote::line([args.output.as_os_str()]);
    writeln!(err, "  next: {s}{next} {output}{s:#}")
}

fn list(
    err: &mut dyn Write,
    lead: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let count = lines.len();
    if count == 0 {
        return Ok(());
    }
    writeln!(err, "  {lead}:")?;
    for line in lines.take(LISTED) {
        writeln!(err, "    {line}")?;
    }
    if count > LISTED {
        writeln!(err, "    and {} more", count - LISTED)?;
    }
    Ok(())
}
