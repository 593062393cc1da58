//! The two checksums of HDF5: lookup3 of Bob Jenkins over structures, Fletcher's over chunks.

/// lookup3 (`hashlittle` from 0), which follows every newer structure of a file.
pub(super) fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        add(&mut state, &rest[..12]);
        mix(&mut state);
        rest = &rest[12..];
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

/// Fletcher's checksum of 16-bit words, most significant byte first.
pub(super) fn fletcher32(bytes: &[u8]) -> u32 {
    let mut sums = [0_u32; 2];
    // The sums of 360 words still fit 32 bits.
    for block in bytes.chunks(720) {
        for word in block.chunks(2) {
            sums[0] += u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low));
            sums[1] += sums[0];
        }
        sums = sums.map(|sum| (sum & 0xffff) + (sum >> 16));
    }
    sums = sums.map(|sum| (sum & 0xffff) + (sum >> 16));
    sums[1] << 16 | sums[0]
}

/// Adds up to 12 bytes as three words, least significant byte first.
fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (index, &byte) in bytes.iter().enumerate() {
        let word = &mut state[index / 4];
        *word = word.wrapping_add(u32::from(byte) << (8 * (index % 4)));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: &mut u32, z: &mut u32, bits: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(bits);
        *z = z.wrapping_add(*y);
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, bits: u32| *x = (*x ^ y).wrapping_sub(y.rotate_left(bits));
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_the_published_ones() {
        // From the self-test that comes with lookup3.c.
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
        // 0x6162 and 0x6364 are 24930 and 25444: 50374 in all, and 24930 + 50374 = 75304 = 9769 modulo 65535.
        assert_eq!(fletcher32(b"abcd"), 9769 << 16 | 50374);
    }
}
