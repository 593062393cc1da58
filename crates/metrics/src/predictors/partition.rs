//! Rows that go left before rows that go right.

/// Moves the rows that go right behind the others, keeping the order on both sides, and says how many go left. `right` is
/// room to work in.
#[inline]
pub fn partition(rows: &mut [u32], right: &mut Vec<u32>, mut is_right: impl FnMut(u32) -> bool) -> usize {
    if right.len() < rows.len() {
        right.resize(rows.len(), 0);
    }
    let (mut n_left, mut n_right) = (0, 0);
    for place in 0..rows.len() {
        // Which way a row goes is hard to guess, so both ways are taken without a branch, and one is overwritten.
        let row = rows[place];
        let goes_right = is_right(row);
        rows[n_left] = row;
        right[n_right] = row;
        n_left += usize::from(!goes_right);
        n_right += usize::from(goes_right);
    }
    rows[n_left..].copy_from_slice(&right[..n_right]);
    n_left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_keep_their_order() {
        let mut rows = [5, 2, 9, 4, 7];
        let n_left = partition(&mut rows, &mut Vec::new(), |row| row % 2 == 1);
        assert_eq!((n_left, rows), (2, [2, 4, 5, 9, 7]));
    }
}
