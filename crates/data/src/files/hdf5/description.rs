//! What the header of a dataset says: its shape, the type of its values, and how and where they are stored.

use super::element::Element;
use super::filters::Filter;
use super::object_header::{DATASPACE, DATATYPE, EXTERNAL_FILES, FILL_VALUE, FILTERS, Header, LAYOUT, OLD_FILL_VALUE};
use super::source::{Fields, damaged, unsupported};
use crate::error::Result;

/// The most axes that HDF5 itself knows.
const MOST_AXES: usize = 32;

/// A dataset as its header describes it.
pub(super) struct Description {
    pub(super) shape: Vec<u64>,
    /// The sizes that the axes may grow to, `u64::MAX` for any.
    pub(super) most: Vec<u64>,
    pub(super) element: Element,
    pub(super) layout: Layout,
    pub(super) filters: Vec<Filter>,
    /// One value that stands where none was written; nothing for zero.
    pub(super) fill: Vec<u8>,
}

/// How the values lie in the file.
pub(super) enum Layout {
    Compact(Vec<u8>),
    Contiguous { address: u64, n_bytes: u64 },
    Chunked { chunk: Vec<u64>, address: u64, index: Index, edges_unfiltered: bool },
}

/// How chunks are found.
pub(super) enum Index {
    BtreeV1,
    Single { filtered: Option<(u64, u32)> },
    Implicit,
    FixedArray,
    ExtensibleArray,
    BtreeV2,
}

/// Whether the header is a dataset's.
pub(super) fn is_dataset(header: &Header) -> bool {
    header.has(DATASPACE) && header.has(LAYOUT)
}

impl Description {
    pub(super) fn read(header: &Header) -> Result<Self> {
        if header.has(EXTERNAL_FILES) {
            return Err(unsupported("keeps its values in other files, which are not read"));
        }
        let required = |kind, what: &str| header.first(kind)?.ok_or_else(|| damaged(format!("has no {what}")));
        let (shape, most) = dataspace(required(DATASPACE, "shape")?)?;
        let element = Element::read(&mut required(DATATYPE, "type")?)?;
        let layout = layout(required(LAYOUT, "layout")?, shape.len(), element.n_bytes)?;
        let filters = header.first(FILTERS)?.map_or(Ok(Vec::new()), filters)?;
        Ok(Self { shape, most, element, layout, filters, fill: fill(header, element.n_bytes)? })
    }
}

/// The size along each axis, and what it may grow to.
fn dataspace(mut fields: Fields) -> Result<(Vec<u64>, Vec<u64>)> {
    let (version, n_axes, flags) = (fields.u8()?, usize::from(fields.u8()?), fields.u8()?);
    match version {
        1 => {
            fields.take(5)?;
        }
        2 if fields.u8()? == 2 => return Err(unsupported("is empty, without a shape")),
        2 => {}
        _ => return Err(damaged(format!("a shape of version {version}"))),
    }
    if n_axes > MOST_AXES {
        return Err(damaged(format!("a shape with {n_axes} axes was announced")));
    }
    let shape = (0..n_axes).map(|_| fields.u64()).collect::<Result<Vec<_>>>()?;
    let most = match flags & 1 {
        0 => shape.clone(),
        _ => (0..n_axes).map(|_| fields.u64()).collect::<Result<Vec<_>>>()?,
    };
    if shape.iter().zip(&most).any(|(size, most)| size > most) {
        return Err(damaged(format!("a shape {shape:?} above the largest one, {most:?}, was announced")));
    }
    Ok((shape, most))
}

fn layout(mut fields: Fields, n_axes: usize, element_bytes: usize) -> Result<Layout> {
    let (version, class) = (fields.u8()?, fields.u8()?);
    match (version, class) {
        (3..=5, 0) => {
            let n_bytes = usize::from(fields.u16()?);
            Ok(Layout::Compact(fields.take(n_bytes)?.to_vec()))
        }
        (3..=5, 1) => Ok(Layout::Contiguous { address: fields.u64()?, n_bytes: fields.u64()? }),
        (3, 2) => {
            let n_numbers = usize::from(fields.u8()?);
            let address = fields.u64()?;
            let chunk = chunk_shape(&mut fields, n_numbers, 4, n_axes, element_bytes)?;
            Ok(Layout::Chunked { chunk, address, index: Index::BtreeV1, edges_unfiltered: false })
        }
        (4 | 5, 2) => {
            let (flags, n_numbers, number_bytes) = (fields.u8()?, usize::from(fields.u8()?), usize::from(fields.u8()?));
            let chunk = chunk_shape(&mut fields, n_numbers, number_bytes, n_axes, element_bytes)?;
            let index = index(&mut fields, flags & 2 != 0)?;
            Ok(Layout::Chunked { chunk, address: fields.u64()?, index, edges_unfiltered: flags & 1 != 0 })
        }
        (_, 3) => Err(unsupported("is put together from other datasets, which is not read")),
        _ => Err(unsupported(format!("is stored in a way of version {version}, which is not read"))),
    }
}

/// The numbers are the sizes of a chunk along each axis, and the size of a value.
fn chunk_shape(
    fields: &mut Fields,
    n_numbers: usize,
    number_bytes: usize,
    n_axes: usize,
    element_bytes: usize,
) -> Result<Vec<u64>> {
    let mut numbers = (0..n_numbers).map(|_| fields.number(number_bytes)).collect::<Result<Vec<_>>>()?;
    let last = numbers.pop();
    if n_axes == 0 || numbers.len() != n_axes || last != Some(element_bytes as u64) || numbers.contains(&0) {
        return Err(damaged(format!("chunks of shape {numbers:?} do not fit the {n_axes} axes")));
    }
    Ok(numbers)
}

fn index(fields: &mut Fields, single_is_filtered: bool) -> Result<Index> {
    let (index, n_parameter_bytes) = match fields.u8()? {
        1 if single_is_filtered => (Index::Single { filtered: Some((fields.u64()?, fields.u32()?)) }, 0),
        1 => (Index::Single { filtered: None }, 0),
        2 => (Index::Implicit, 0),
        // The parameters stand again at the beginning of the index.
        3 => (Index::FixedArray, 1),
        4 => (Index::ExtensibleArray, 5),
        5 => (Index::BtreeV2, 6),
        kind => return Err(unsupported(format!("has an index of kind {kind}, which is not read"))),
    };
    fields.take(n_parameter_bytes)?;
    Ok(index)
}

fn filters(mut fields: Fields) -> Result<Vec<Filter>> {
    let (version, n_filters) = (fields.u8()?, fields.u8()?);
    if n_filters > 32 {
        return Err(damaged(format!("{n_filters} filters were announced")));
    }
    fields.take(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..n_filters {
        let id = fields.u16()?;
        let n_name_bytes = if version == 1 || id >= 256 { usize::from(fields.u16()?) } else { 0 };
        let _flags = fields.u16()?;
        let n_numbers = usize::from(fields.u16()?);
        fields.take(n_name_bytes)?;
        let numbers = (0..n_numbers).map(|_| fields.u32()).collect::<Result<Vec<_>>>()?;
        fields.take(if version == 1 && n_numbers % 2 == 1 { 4 } else { 0 })?;
        filters.push(Filter::new(id, &numbers)?);
    }
    Ok(filters)
}

/// The value that stands where none was written.
fn fill(header: &Header, element_bytes: usize) -> Result<Vec<u8>> {
    let mut value = Vec::new();
    if let Some(mut fields) = header.first(FILL_VALUE)? {
        let version = fields.u8()?;
        let is_given = match version {
            1 | 2 => {
                fields.take(2)?;
                fields.u8()? != 0
            }
            _ => fields.u8()? & 0x20 != 0,
        };
        if is_given || version == 1 {
            let n_bytes = fields.u32()? as usize;
            value = fields.take(n_bytes)?.to_vec();
        }
    } else if let Some(mut fields) = header.first(OLD_FILL_VALUE)? {
        let n_bytes = fields.u32()? as usize;
        value = fields.take(n_bytes)?.to_vec();
    }
    match value.len() == element_bytes || value.is_empty() {
        true if value.iter().all(|&byte| byte == 0) => Ok(Vec::new()),
        true => Ok(value),
        false => Err(damaged(format!("a fill value of {} bytes for values of {element_bytes}", value.len()))),
    }
}
