//! Writes instruction traces: a section for each class and each part of a stream.

use std::io::{self, Write};

use super::{
    CHUNK, CLASS, END, InstructionTrace, MAGIC, OBJECTS, THREAD, TracedClass, TracedObject, VERSION,
};

/// The words of a section.
const WORDS: usize = 1 << 20;

/// The objects of a section.
const OBJECT_COUNT: usize = 1 << 16;

/// Writes a trace.
pub fn write(out: &mut impl Write, trace: &InstructionTrace) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    for class in &trace.classes {
        section(out, CLASS, &encode_class(class))?;
    }
    for thread in &trace.threads {
        section(out, THREAD, &thread.object.to_le_bytes())?;
        for words in thread.words.chunks(WORDS) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            section(out, CHUNK, &bytes)?;
        }
    }
    for objects in trace.objects.chunks(OBJECT_COUNT) {
        section(out, OBJECTS, &encode_objects(objects))?;
    }
    let mut end = Vec::new();
    put_option(&mut end, trace.ending.partial.as_deref());
    put_number(&mut end, trace.ending.not_woven.len());
    for (method, why) in &trace.ending.not_woven {
        put_text(&mut end, method);
        put_text(&mut end, why);
    }
    section(out, END, &end)
}

fn section(out: &mut impl Write, tag: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&[tag])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

fn encode_class(class: &TracedClass) -> Vec<u8> {
    let mut out = Vec::with_capacity(class.bytes.len() + 256);
    put_bytes(&mut out, &class.bytes);
    put_number(&mut out, class.methods.len());
    for method in &class.methods {
        out.extend(method.index.to_le_bytes());
        out.extend(method.first_block.to_le_bytes());
        for pcs in [&method.blocks, &method.reporting] {
            put_number(&mut out, pcs.len());
            out.extend(pcs.iter().flat_map(|pc| pc.to_le_bytes()));
        }
    }
    out
}

/// Classes have a number within their section.
fn encode_objects(objects: &[TracedObject]) -> Vec<u8> {
    let mut names: Vec<&str> = objects.iter().map(|it| it.class.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut out = Vec::new();
    put_number(&mut out, names.len());
    for name in &names {
        put_text(&mut out, name);
    }
    put_number(&mut out, objects.len());
    for object in objects {
        let number = names.binary_search(&object.class.as_str()).unwrap_or(0);
        put_number(&mut out, number);
        put_option(&mut out, object.text.as_deref());
    }
    out
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u32).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len());
    out.extend(bytes);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn put_option(out: &mut Vec<u8>, text: Option<&str>) {
    out.push(u8::from(text.is_some()));
    put_text(out, text.unwrap_or_default());
}
