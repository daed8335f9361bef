//! Where things are: files, addresses.

use culprit_model::Value;

use super::Recipe::{By, Of};
use super::Table;
use super::object_maker::{ObjectMaker, null, string};
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    (
        "java/io/File",
        Of("java/io/File.<init>(Ljava/lang/String;)V", &["path"]),
    ),
    ("sun/nio/fs/UnixPath", By(path)),
    (
        "java/net/URI",
        Of(
            "java/net/URI.create(Ljava/lang/String;)Ljava/net/URI;",
            &["string"],
        ),
    ),
    ("java/net/URL", By(url)),
    ("java/net/Inet4Address", By(address)),
    ("java/net/InetSocketAddress", By(socket_address)),
];

fn path<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let bytes = held.integers("path")?;
    let bytes: Vec<u8> = bytes.iter().map(|byte| *byte as u8).collect();
    let path = string(&String::from_utf8(bytes).ok()?);
    let none = maker.array("[Ljava/lang/String;", vec![]);
    let target =
        "java/nio/file/Paths.get(Ljava/lang/String;[Ljava/lang/String;)Ljava/nio/file/Path;";
    maker.make(target, vec![path, none], made)
}

/// As its own text has it.
fn url<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let authority = held.string("authority").unwrap_or_default();
    let mut text = format!("{}:", held.string("protocol")?);
    if !authority.is_empty() {
        text += &format!("//{authority}");
    }
    text += &held.string("file").unwrap_or_default();
    if let Some(reference) = held.string("ref") {
        text += &format!("#{reference}");
    }
    let target = "java/net/URL.<init>(Ljava/lang/String;)V";
    maker.make(target, vec![string(&text)], made)
}

/// By its numbers: names are not looked up.
fn address<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let holder = held.open("holder")?;
    let bytes = (holder.int("address")? as u32).to_be_bytes();
    let class = "java/net/InetAddress";
    let name = maker.field(holder, "hostName")?;
    if name == null() {
        let text = bytes.map(|byte| byte.to_string()).join(".");
        let target = format!("{class}.getByName(Ljava/lang/String;)L{class};");
        return maker.make(&target, vec![string(&text)], made);
    }
    let bytes = bytes.map(|byte| Value::Byte(byte as i8)).to_vec();
    let bytes = maker.array("[B", bytes);
    let target = format!("{class}.getByAddress(Ljava/lang/String;[B)L{class};");
    maker.make(&target, vec![name, bytes], made)
}

fn socket_address<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let holder = held.open("holder")?;
    let class = "java/net/InetSocketAddress";
    let (target, fields) = match holder.is_null("addr") {
        true => (
            format!("{class}.createUnresolved(Ljava/lang/String;I)L{class};"),
            ["hostname", "port"],
        ),
        false => (
            format!("{class}.<init>(Ljava/net/InetAddress;I)V"),
            ["addr", "port"],
        ),
    };
    maker.of(&target, holder, &fields, made)
}
