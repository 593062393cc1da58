//! The older trees: they lead to the symbols of a group, or to the chunks of a dataset.

use super::source::{Fields, UNDEFINED, Walk, damaged};
use crate::error::Result;

/// What the leaves lead to.
#[derive(Clone, Copy)]
pub(super) enum Children {
    /// Nodes of symbols.
    Symbols,
    /// Chunks of a dataset with this many axes.
    Chunks { rank: usize },
}

impl Children {
    fn node_type(self) -> u8 {
        match self {
            Self::Symbols => 0,
            Self::Chunks { .. } => 1,
        }
    }

    fn key_bytes(self) -> usize {
        match self {
            Self::Symbols => 8,
            // The size and the filters, then a place along every axis and within an element.
            Self::Chunks { rank } => 8 + 8 * (rank + 1),
        }
    }
}

/// Calls `visit` with the key and address of everything that the tree at `root` leads to.
pub(super) fn for_each(
    walk: &mut Walk,
    root: u64,
    children: Children,
    mut visit: impl FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    if root == UNDEFINED {
        return Ok(());
    }
    let mut nodes = vec![(root, None)];
    while let Some((address, expected_level)) = nodes.pop() {
        let head = walk.signed(address, 24, b"TREE")?;
        let mut fields = Fields::new(&head);
        let (node_type, level, n_children) = (fields.u8()?, fields.u8()?, fields.u16()?);
        if node_type != children.node_type() || expected_level.is_some_and(|expected| level != expected) {
            return Err(damaged("a tree holds a node of another"));
        }
        let item_bytes = children.key_bytes() + 8;
        let items = walk.read(address.saturating_add(24), u64::from(n_children) * item_bytes as u64)?;
        for item in items.chunks_exact(item_bytes) {
            let (key, child) = item.split_at(children.key_bytes());
            let child = Fields::new(child).u64()?;
            // Levels fall by one from node to node, so that no tree is deeper than 255.
            match level.checked_sub(1) {
                Some(below) => nodes.push((child, Some(below))),
                None => visit(key, child)?,
            }
        }
    }
    Ok(())
}
