//! The frame of each event in a file (TFRecord): its length, a checksum of the length, the event, and a checksum of the event.

/// Appends one event.
pub(super) fn push_record(file: &mut Vec<u8>, event: &[u8]) {
    let length = (event.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(masked_crc32c(&length).to_le_bytes());
    file.extend(event);
    file.extend(masked_crc32c(event).to_le_bytes());
}

/// A checksum turned and shifted, so that one of bytes that hold checksums themselves stays a good one.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C, by Castagnoli's polynomial (RFC 3720); `crc32fast` has that of zip files only.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| CRC32C[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

/// What each byte does to the checksum.
static CRC32C: [u32; 256] = crc32c_table();

const fn crc32c_table() -> [u32; 256] {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        // The check value of the catalogue of CRCs, and the examples of RFC 3720, appendix B.4.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&std::array::from_fn::<u8, 32, _>(|index| index as u8)), 0x46dd_794e);
        // By hand: e3069283 turned right by 15 bits is 2507c60d, and a282ead8 more is c78ab0e5.
        assert_eq!(masked_crc32c(b"123456789"), 0xc78a_b0e5);
    }

    #[test]
    fn a_record_is_framed_as_tensorflow_frames_it() {
        // The first 40 bytes of any event file that TensorFlow writes, but for the time: here at 0 s.
        let mut file = Vec::new();
        push_record(&mut file, b"\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2");
        assert_eq!(&file[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
        assert_eq!(file.len(), 8 + 4 + 24 + 4);
    }
}
