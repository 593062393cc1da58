//! How far apart two rows of bytes are: sums of squared and of absolute differences, exactly.

use pulp::Arch;

/// Bytes whose squared differences surely fit into one `u32` lane: 255^2 times a piece's share.
const BYTE_PIECE: usize = 32 * 1024;

/// The sum of the squared differences of bytes.
pub fn squared_difference_of_bytes(a: &[u8], b: &[u8]) -> u64 {
    assert_eq!(a.len(), b.len(), "rows of another length");
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let pieces = a.chunks(BYTE_PIECE).zip(b.chunks(BYTE_PIECE));
            pieces.map(|(a, b)| u64::from(squared_difference_of_piece(a, b))).sum()
        },
    )
}

#[inline(always)]
fn squared_difference_of_piece(a: &[u8], b: &[u8]) -> u32 {
    let square = |(a, b): (&u8, &u8)| {
        let difference = i32::from(i16::from(*a) - i16::from(*b));
        (difference * difference) as u32
    };
    a.iter().zip(b).map(square).sum()
}

/// The sum of the absolute differences of bytes.
pub fn absolute_difference_of_bytes(a: &[u8], b: &[u8]) -> u64 {
    assert_eq!(a.len(), b.len(), "rows of another length");
    Arch::new().dispatch(|| {
        let pieces = a.chunks(BYTE_PIECE).zip(b.chunks(BYTE_PIECE));
        let of_piece =
            |(a, b): (&[u8], &[u8])| -> u32 { a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum() };
        pieces.map(|piece| u64::from(of_piece(piece))).sum()
    })
}

/// Pixels in [0, 1] as bytes, to the nearest.
pub fn bytes_of_pixels(pixels: &[f32]) -> Vec<u8> {
    Arch::new().dispatch(
        #[inline(always)]
        || pixels.iter().map(|pixel| (pixel * 255.0 + 0.5) as i32 as u8).collect(),
    )
}

/// Bytes as numbers.
pub fn numbers_of_bytes(bytes: &[u8], numbers: &mut [f32]) {
    assert_eq!(bytes.len(), numbers.len(), "rows of another length");
    Arch::new().dispatch(
        #[inline(always)]
        || numbers.iter_mut().zip(bytes).for_each(|(number, byte)| *number = f32::from(*byte)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_by_hand() {
        assert_eq!(squared_difference_of_bytes(&[0, 255, 7], &[255, 0, 4]), 2 * 65_025 + 9);
        assert_eq!(absolute_difference_of_bytes(&[0, 255, 7], &[255, 0, 4]), 2 * 255 + 3);
        assert_eq!(squared_difference_of_bytes(&[], &[]), 0);
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let pixels: Vec<f32> = bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect();
        assert_eq!(bytes_of_pixels(&pixels), bytes);
        let mut numbers = vec![9.0; 256];
        numbers_of_bytes(&bytes, &mut numbers);
        assert_eq!((numbers[0], numbers[255]), (0.0, 255.0));
    }

    #[test]
    fn long_rows_do_not_overflow() {
        let n = 300_001;
        assert_eq!(squared_difference_of_bytes(&vec![255; n], &vec![0; n]), 65_025 * n as u64);
        assert_eq!(absolute_difference_of_bytes(&vec![255; n], &vec![0; n]), 255 * n as u64);
    }
}
