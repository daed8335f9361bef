//! Tables of a scenario: types, sites, threads, blobs.

use culprit_model::scenario::Tables;
use culprit_model::site::TypeDef;
use culprit_model::{BlobId, Member, Site, SiteId, SiteKind, ThreadId, TypeId};

use crate::WireError;
use crate::codec::{Cursor, Put, Result};

pub(crate) fn put_tables(out: &mut Vec<u8>, tables: &Tables) {
    out.put_list(&tables.types, put_type);
    out.put_list(&tables.sites, put_site);
    out.put_list(&tables.threads, |out, (id, name)| {
        out.put_varint(u64::from(id.0));
        out.put_str(name);
    });
    out.put_varint(tables.blobs.len() as u64);
    for (id, bytes) in &tables.blobs {
        out.put_varint(u64::from(id.0));
        out.put_bytes(bytes);
    }
}

pub(crate) fn tables(cursor: &mut Cursor<'_>) -> Result<Tables> {
    Ok(Tables {
        types: cursor.list(type_def)?.into_iter().collect(),
        sites: cursor.list(site)?.into_iter().collect(),
        threads: cursor.list(|cursor| Ok((ThreadId(cursor.varint_u32()?), cursor.string()?)))?,
        blobs: cursor.list(blob)?.into_iter().collect(),
    })
}

pub(crate) fn blob(cursor: &mut Cursor<'_>) -> Result<(BlobId, Vec<u8>)> {
    Ok((BlobId(cursor.varint_u32()?), cursor.bytes()?.to_vec()))
}

fn put_type(out: &mut Vec<u8>, def: &TypeDef) {
    out.put_varint(u64::from(def.id.0));
    out.put_str(&def.name);
    out.put_varint(u64::from(def.loader));
    out.put_list(&def.constants, |out, name| out.put_str(name));
    out.put_list(&def.fields, put_member);
}

fn put_member(out: &mut Vec<u8>, member: &Member) {
    out.put_str(&member.owner);
    out.put_str(&member.name);
    out.put_str(&member.descriptor);
}

fn member(cursor: &mut Cursor<'_>) -> Result<Member> {
    Ok(Member {
        owner: cursor.string()?,
        name: cursor.string()?,
        descriptor: cursor.string()?,
    })
}

fn type_def(cursor: &mut Cursor<'_>) -> Result<TypeDef> {
    Ok(TypeDef {
        id: TypeId(cursor.varint_u32()?),
        name: cursor.string()?,
        loader: cursor.varint_u32()?,
        constants: cursor.list(Cursor::string)?,
        fields: cursor.list(member)?,
    })
}

pub(crate) fn put_site(out: &mut Vec<u8>, site: &Site) {
    out.put_varint(u64::from(site.id.0));
    out.put_u8(match site.kind {
        SiteKind::Entry => 1,
        SiteKind::Call => 2,
        SiteKind::Callee => 3,
        SiteKind::Field => 4,
        SiteKind::Array => 5,
    });
    out.put_str(&site.class);
    out.put_str(&site.method);
    out.put_str(&site.descriptor);
    out.put_option(site.line, |out, line| out.put_u16(line));
    out.put_option(site.source.as_deref(), |out, source| out.put_str(source));
    put_member(out, &site.target);
    out.put_bool(site.is_static);
}

pub(crate) fn site(cursor: &mut Cursor<'_>) -> Result<Site> {
    Ok(Site {
        id: SiteId(cursor.varint_u32()?),
        kind: match cursor.u8()? {
            1 => SiteKind::Entry,
            2 => SiteKind::Call,
            3 => SiteKind::Callee,
            4 => SiteKind::Field,
            5 => SiteKind::Array,
            _ => return Err(WireError::Malformed("a known kind of site")),
        },
        class: cursor.string()?,
        method: cursor.string()?,
        descriptor: cursor.string()?,
        line: cursor.option(Cursor::u16)?,
        source: cursor.option(Cursor::string)?,
        target: member(cursor)?,
        is_static: cursor.bool()?,
    })
}
