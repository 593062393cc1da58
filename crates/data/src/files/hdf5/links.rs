//! What a group holds: links by name, in a table of symbols, in the group's header or in a heap.

use super::btree_v1::{self, Children};
use super::btree_v2;
use super::fractal_heap::FractalHeap;
use super::object_header::{Header, LINK, LINK_INFO, SYMBOL_TABLE};
use super::source::{Fields, UNDEFINED, Walk, damaged};
use crate::error::Result;

const LONGEST_NAME: usize = 1024;
/// The type of a tree that holds links by the hashes of their names.
const LINKS_BY_NAME: u8 = 5;

/// A name in a group, and what it stands for.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) target: Target,
}

/// What a link leads to.
pub(super) enum Target {
    /// The header of a group or dataset.
    Object(u64),
    /// Another path in this file.
    Path(String),
}

/// Whether the header is a group's.
pub(super) fn is_group(header: &Header) -> bool {
    [SYMBOL_TABLE, LINK_INFO, LINK].iter().any(|&kind| header.has(kind))
}

/// The links of a group. Links to other files are left out.
pub(super) fn links(walk: &mut Walk, header: &Header) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    if let Some(mut fields) = header.first(SYMBOL_TABLE)? {
        add_symbols(walk, fields.u64()?, fields.u64()?, &mut links)?;
    }
    for fields in header.all(LINK) {
        links.extend(link(fields?)?);
    }
    if let Some(mut fields) = header.first(LINK_INFO)? {
        let _version = fields.u8()?;
        let flags = fields.u8()?;
        fields.take(if flags & 1 == 0 { 0 } else { 8 })?;
        let (heap, tree) = (fields.u64()?, fields.u64()?);
        if heap != UNDEFINED {
            add_dense(walk, heap, tree, &mut links)?;
        }
    }
    Ok(links)
}

/// The links of a group of the old kind: a tree of nodes of symbols, and a heap of their names.
fn add_symbols(walk: &mut Walk, tree: u64, heap: u64, links: &mut Vec<Link>) -> Result<()> {
    let head = walk.signed(heap, 32, b"HEAP")?;
    let mut fields = Fields::new(&head[4..]);
    let (n_bytes, _free, address) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let names = walk.read(address, n_bytes)?;
    let mut nodes = Vec::new();
    btree_v1::for_each(walk, tree, Children::Symbols, |_key, address| {
        nodes.push(address);
        Ok(())
    })?;
    for address in nodes {
        let head = walk.signed(address, 8, b"SNOD")?;
        let n_symbols = Fields::new(&head[2..]).u16()?;
        let symbols = walk.read(address + 8, u64::from(n_symbols) * 40)?;
        for symbol in symbols.chunks_exact(40) {
            let mut fields = Fields::new(symbol);
            let name = text_at(&names, fields.u64()?)?;
            let object = fields.u64()?;
            let is_soft = fields.u32()? == 2;
            let _reserved = fields.u32()?;
            let target = match is_soft {
                true => Target::Path(text_at(&names, u64::from(fields.u32()?))?),
                false => Target::Object(object),
            };
            walk.spend(name.len() as u64)?;
            links.push(Link { name, target });
        }
    }
    Ok(())
}

/// The links of a group with many: messages in a heap, which a tree points to.
fn add_dense(walk: &mut Walk, heap: u64, tree: u64, links: &mut Vec<Link>) -> Result<()> {
    let mut heap = FractalHeap::read(walk, heap)?;
    let records = btree_v2::records(walk, tree, &[LINKS_BY_NAME])?;
    for record in records.iter() {
        let mut fields = Fields::new(record);
        let _hash = fields.u32()?;
        let message = heap.object(walk, fields.rest)?;
        links.extend(link(Fields::new(&message))?);
    }
    Ok(())
}

/// The link that a message tells, unless it leads out of the file.
fn link(mut fields: Fields) -> Result<Option<Link>> {
    if fields.u8()? != 1 {
        return Err(damaged("a link of an unknown version"));
    }
    let flags = fields.u8()?;
    let kind = if flags & 8 == 0 { 0 } else { fields.u8()? };
    fields.take(if flags & 4 == 0 { 0 } else { 8 })?;
    fields.take(if flags & 16 == 0 { 0 } else { 1 })?;
    let name_bytes = fields.number(1 << (flags & 3))?;
    let name = text(fields.take(usize::try_from(name_bytes).unwrap_or(usize::MAX))?)?;
    let target = match kind {
        0 => Target::Object(fields.u64()?),
        1 => {
            let n_bytes = usize::from(fields.u16()?);
            Target::Path(text(fields.take(n_bytes)?)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(Link { name, target }))
}

/// The text in a heap of names that begins at `start` and ends with a zero.
fn text_at(names: &[u8], start: u64) -> Result<String> {
    let rest = usize::try_from(start).ok().and_then(|start| names.get(start..));
    let rest = rest.ok_or_else(|| damaged("a name lies outside of its heap"))?;
    let rest = &rest[..rest.len().min(LONGEST_NAME + 1)];
    text(rest.split(|&byte| byte == 0).next().unwrap_or_default())
}

fn text(bytes: &[u8]) -> Result<String> {
    if bytes.len() > LONGEST_NAME {
        return Err(damaged(format!("a name has more than {LONGEST_NAME} bytes")));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
