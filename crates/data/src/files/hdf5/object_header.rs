//! The header of a group or dataset: messages, in one or several blocks.

use super::source::{Fields, Walk, damaged, unsupported};
use crate::error::Result;

pub(super) const DATASPACE: u16 = 0x01;
pub(super) const LINK_INFO: u16 = 0x02;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const OLD_FILL_VALUE: u16 = 0x04;
pub(super) const FILL_VALUE: u16 = 0x05;
pub(super) const LINK: u16 = 0x06;
pub(super) const EXTERNAL_FILES: u16 = 0x07;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const FILTERS: u16 = 0x0b;
const CONTINUATION: u16 = 0x10;
pub(super) const SYMBOL_TABLE: u16 = 0x11;

const MOST_HEADER_BYTES: u64 = 1 << 26;

/// What a header says, kept where it is about data or links.
pub(super) struct Header {
    messages: Vec<Message>,
}

struct Message {
    kind: u16,
    /// Whether the body only says where the message is.
    shared: bool,
    body: Vec<u8>,
}

impl Header {
    /// Reads the header at `address`.
    pub(super) fn read(walk: &mut Walk, address: u64) -> Result<Self> {
        let start = walk.read(address, walk.source().after(address).min(40))?;
        let (mut blocks, form) = first_block(&start, address)?;
        let mut header = Self { messages: Vec::new() };
        let mut n_bytes = 0_u64;
        while let Some((address, length)) = blocks.pop() {
            n_bytes = n_bytes.saturating_add(length);
            if n_bytes > MOST_HEADER_BYTES || length == 0 {
                return Err(damaged(format!("a header of {n_bytes} bytes was announced")));
            }
            let bytes = form.block(walk, address, length)?;
            header.add(&bytes, form, &mut blocks)?;
        }
        Ok(header)
    }

    /// The bodies of all messages of this kind.
    pub(super) fn all(&self, kind: u16) -> impl Iterator<Item = Result<Fields<'_>>> {
        self.messages.iter().filter(move |message| message.kind == kind).map(|message| match message.shared {
            true => Err(unsupported("has a type or shape that several datasets share, which is not read")),
            false => Ok(Fields::new(&message.body)),
        })
    }

    /// The body of the first message of this kind.
    pub(super) fn first(&self, kind: u16) -> Result<Option<Fields<'_>>> {
        self.all(kind).next().transpose()
    }

    pub(super) fn has(&self, kind: u16) -> bool {
        self.messages.iter().any(|message| message.kind == kind)
    }

    fn add(&mut self, block: &[u8], form: Form, blocks: &mut Vec<(u64, u64)>) -> Result<()> {
        let mut fields = Fields::new(block);
        while fields.rest.len() >= form.message_head_bytes() {
            let (kind, n_bytes, flags) = form.message_head(&mut fields)?;
            let body = fields.take(n_bytes)?;
            match kind {
                CONTINUATION => {
                    let mut place = Fields::new(body);
                    blocks.push((place.u64()?, place.u64()?));
                }
                DATASPACE..=LAYOUT | FILTERS | SYMBOL_TABLE => {
                    self.messages.push(Message { kind, shared: flags & 2 != 0, body: body.to_vec() });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// How the messages lie in the blocks.
#[derive(Clone, Copy)]
enum Form {
    Old,
    New { has_creation_order: bool, first_address: u64, first_skipped: usize },
}

impl Form {
    fn block(self, walk: &mut Walk, address: u64, length: u64) -> Result<Vec<u8>> {
        match self {
            Self::Old => walk.read(address, length),
            Self::New { first_address, first_skipped, .. } if first_address == address => {
                Ok(walk.checked(address, length, b"OHDR")?.split_off(first_skipped - 4))
            }
            Self::New { .. } => walk.checked(address, length, b"OCHK"),
        }
    }

    fn message_head_bytes(self) -> usize {
        match self {
            Self::Old => 8,
            Self::New { has_creation_order, .. } => 4 + 2 * usize::from(has_creation_order),
        }
    }

    /// The kind, size and flags of a message.
    fn message_head(self, fields: &mut Fields) -> Result<(u16, usize, u8)> {
        let mut head = Fields::new(fields.take(self.message_head_bytes())?);
        let kind = if matches!(self, Self::Old) { head.u16()? } else { u16::from(head.u8()?) };
        Ok((kind, usize::from(head.u16()?), head.u8()?))
    }
}

/// Where the first block is, and how messages lie in it.
fn first_block(start: &[u8], address: u64) -> Result<(Vec<(u64, u64)>, Form)> {
    let mut fields = Fields::new(start);
    if !start.starts_with(b"OHDR") {
        if fields.u8()? != 1 {
            return Err(damaged("a header of an unknown version"));
        }
        fields.take(7)?;
        return Ok((vec![(address.saturating_add(16), u64::from(fields.u32()?))], Form::Old));
    }
    fields.take(4)?;
    if fields.u8()? != 2 {
        return Err(damaged("a header of an unknown version"));
    }
    let flags = fields.u8()?;
    fields.take(if flags & 0x20 == 0 { 0 } else { 16 })?;
    fields.take(if flags & 0x10 == 0 { 0 } else { 4 })?;
    let length = fields.number(1 << (flags & 3))?;
    let first_skipped = start.len() - fields.rest.len();
    let form = Form::New { has_creation_order: flags & 4 != 0, first_address: address, first_skipped };
    // The length counts neither what comes before the messages nor the checksum.
    Ok((vec![(address, length.saturating_add(first_skipped as u64 + 4))], form))
}
