//! Labelled codes from Parquet: flat columns of numbers or text, uncompressed or compressed by any common method.
//!
//! What each column is for follows from its name (see [`crate::columns`]).

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use unbraid_data::error::{Error, Result};
use unbraid_data::npy::{half, open_file};
use unbraid_data::words::counted;

use crate::columns::{Column, Roles, Table, Understood, Values};
use crate::memory_limit::MemoryLimit;

/// Rows that are decoded at once.
const GROUP: usize = 1 << 16;
/// What a number takes: as it is read, and in the table of all columns.
const NUMBER_BYTES: f64 = 16.0;

/// Reads labelled codes from a Parquet file.
pub fn read_labelled_codes(path: &Path, roles: &Roles, limit: MemoryLimit) -> Result<Understood> {
    let (file, _) = open_file(path)?;
    let table = whatever_happens(|| read_table(file, limit));
    table.and_then(|table| table.into_labelled_codes(roles)).map_err(|error| error.at(path.display()))
}

fn read_table(file: File, limit: MemoryLimit) -> Result<Table> {
    let reader = SerializedFileReader::new(file).map_err(|error| {
        Error::new(format!("is not a whole Parquet file ({})", in_plain_words(&error)))
            .help("save it again; if it was copied, copy it again")
    })?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let n_rows = usize::try_from(reader.metadata().file_metadata().num_rows())
        .map_err(|_| Error::new("is not a whole Parquet file: its number of rows is negative"))?;
    let mut memory = Memory { limit, bytes: 0.0 };
    memory.take(n_rows as f64 * schema.num_columns() as f64 * NUMBER_BYTES)?;
    let columns = schema.columns().iter().enumerate().map(|(position, description)| {
        let name = description.path().parts().first().cloned().unwrap_or_default();
        let before = memory.bytes;
        let values = read_column(&reader, position, description, n_rows, &mut memory);
        if values.is_err() {
            // What was read of it is gone, and the column may not be needed.
            memory.bytes = before;
        }
        let values = values.map_err(|error| error.of(format!("column \"{name}\"")));
        Column { name, values }
    });
    let mut columns: Vec<Column> = columns.collect();
    // The parts of a nested column share its name, and none of them can be used.
    columns.dedup_by(|next, before| next.name == before.name && next.values.is_err() && before.values.is_err());
    Ok(Table { columns, n_rows, lines: None })
}

/// What the columns have taken so far.
struct Memory {
    limit: MemoryLimit,
    bytes: f64,
}

impl Memory {
    /// Counts so many bytes more; an error where all are above the limit.
    fn take(&mut self, bytes: f64) -> Result<()> {
        self.bytes += bytes;
        self.limit.check(self.bytes)
    }
}

/// The values of a column. An error goes on from the column's name.
fn read_column(
    file: &SerializedFileReader<File>,
    position: usize,
    description: &ColumnDescriptor,
    n_rows: usize,
    memory: &mut Memory,
) -> Result<Values> {
    if description.max_rep_level() > 0 || description.path().parts().len() > 1 {
        return Err(Error::new("holds lists or other nested values").help("write a column for each latent and factor"));
    }
    let decoding = Decoding::of(description)?;
    let mut values = if decoding == Decoding::Text { Values::Text(Vec::new()) } else { Values::Numbers(Vec::new()) };
    for group in 0..file.num_row_groups() {
        let chunk = file.metadata().row_group(group).column(position);
        check_compression(chunk.compression())?;
        memory.limit.check(memory.bytes + chunk.uncompressed_size().max(0) as f64)?;
        let reader = file.get_row_group(group).and_then(|rows| rows.get_column_reader(position));
        let reader = reader.map_err(|error| unreadable(&error))?;
        append_group(&mut values, reader, decoding, n_rows, memory)?;
    }
    if values.n_rows() != n_rows {
        return Err(wrong_count(values.n_rows(), n_rows));
    }
    Ok(values)
}

/// Adds the values that one group of rows has in a column.
fn append_group(
    values: &mut Values,
    reader: ColumnReader,
    decoding: Decoding,
    n_rows: usize,
    memory: &mut Memory,
) -> Result<()> {
    match (values, reader) {
        (Values::Numbers(numbers), ColumnReader::BoolColumnReader(reader)) => {
            append(reader, n_rows, numbers, |&value| Ok(f64::from(u8::from(value))))
        }
        (Values::Numbers(numbers), ColumnReader::Int32ColumnReader(reader)) => {
            append(reader, n_rows, numbers, |&value| {
                Ok(decoding.whole(i64::from(value), u64::from(value.cast_unsigned())))
            })
        }
        (Values::Numbers(numbers), ColumnReader::Int64ColumnReader(reader)) => {
            append(reader, n_rows, numbers, |&value| Ok(decoding.whole(value, value.cast_unsigned())))
        }
        (Values::Numbers(numbers), ColumnReader::FloatColumnReader(reader)) => {
            append(reader, n_rows, numbers, |&value| Ok(f64::from(value)))
        }
        (Values::Numbers(numbers), ColumnReader::DoubleColumnReader(reader)) => {
            append(reader, n_rows, numbers, |&value| Ok(value))
        }
        (Values::Numbers(numbers), ColumnReader::FixedLenByteArrayColumnReader(reader)) => {
            append(reader, n_rows, numbers, |value| match value.data() {
                &[low, high] => Ok(half(u16::from_le_bytes([low, high]))),
                other => Err(Error::new(format!("holds a 16-bit float of {} bytes", other.len()))),
            })
        }
        (Values::Text(texts), ColumnReader::ByteArrayColumnReader(reader)) => append(reader, n_rows, texts, |value| {
            memory.take((size_of::<String>() + value.len()) as f64)?;
            text_of(value)
        }),
        _ => Err(Error::new("is not what the file announces")),
    }
}

fn wrong_count(n_values: usize, n_rows: usize) -> Error {
    let (values, rows) = (counted(n_values, "value"), counted(n_rows, "row"));
    Error::new(format!("has {values}, but the file has {rows}")).help("the file is damaged: save or copy it again")
}

/// Adds all values of a part of a column, of which there are `n_rows` in all.
fn append<T: DataType, V>(
    mut reader: ColumnReaderImpl<T>,
    n_rows: usize,
    to: &mut Vec<V>,
    mut decode: impl FnMut(&T::T) -> Result<V>,
) -> Result<()> {
    // A damaged file may announce any number of rows, but the limit was held against it.
    to.reserve_exact(n_rows.saturating_sub(to.len()));
    loop {
        let mut values = Vec::new();
        let mut levels = Vec::new();
        let read = reader.read_records(GROUP, Some(&mut levels), None, &mut values);
        let (n_records, n_values, _) = read.map_err(|error| unreadable(&error))?;
        if n_values < n_records {
            // Values of an optional column that are there have level 1, missing ones 0.
            let row = to.len() + levels.iter().position(|&level| level == 0).unwrap_or(n_values);
            return Err(
                Error::new(format!("has no value at row {row}")).help("every row needs a value: leave such rows out")
            );
        }
        if n_records == 0 {
            return Ok(());
        }
        if to.len() + n_values > n_rows {
            return Err(wrong_count(to.len() + n_values, n_rows));
        }
        for value in &values {
            to.push(decode(value)?);
        }
    }
}

fn text_of(value: &ByteArray) -> Result<String> {
    let text = std::str::from_utf8(value.data()).map_err(|_| Error::new("holds text that is not UTF-8"))?;
    Ok(text.to_string())
}

/// How stored values become numbers or text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Decoding {
    /// As they are.
    Plain,
    /// Whole numbers without a sign.
    Unsigned,
    /// Whole numbers divided by this power of ten.
    Decimal(i32),
    /// Bytes of UTF-8.
    Text,
}

impl Decoding {
    fn of(description: &ColumnDescriptor) -> Result<Self> {
        let logical = description.logical_type_ref();
        let converted = description.converted_type();
        let is_decimal = matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL;
        let is_unsigned = matches!(logical, Some(LogicalType::Integer(whole)) if !whole.is_signed)
            || matches!(converted, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32)
            || converted == ConvertedType::UINT_64;
        match description.physical_type() {
            Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => Ok(Self::Plain),
            Type::INT32 | Type::INT64 if is_decimal => Ok(Self::Decimal(description.type_scale())),
            Type::INT32 | Type::INT64 if is_unsigned => Ok(Self::Unsigned),
            Type::INT32 | Type::INT64 => Ok(Self::Plain),
            Type::BYTE_ARRAY if !is_decimal => Ok(Self::Text),
            Type::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Float16)) => Ok(Self::Plain),
            other => Err(Error::new(format!("holds values of type {other}, which are not read"))
                .help("save whole numbers, floats, booleans or text")),
        }
    }

    fn whole(self, signed: i64, unsigned: u64) -> f64 {
        match self {
            Self::Unsigned => unsigned as f64,
            Self::Decimal(scale) => signed as f64 / 10_f64.powi(scale),
            Self::Plain | Self::Text => signed as f64,
        }
    }
}

fn check_compression(compression: Compression) -> Result<()> {
    if compression != Compression::LZO {
        return Ok(());
    }
    Err(Error::new("is compressed by LZO, which is not read")
        .help("save it with another compression: to_parquet(path) in pandas, write_parquet(path) in polars"))
}

fn unreadable(error: &ParquetError) -> Error {
    Error::new(format!("cannot be read: {}", in_plain_words(error)))
        .help("the file is damaged: save it again, or copy it again")
}

fn in_plain_words(error: &ParquetError) -> String {
    match error {
        ParquetError::General(message) | ParquetError::NYI(message) | ParquetError::EOF(message) => message.clone(),
        other => other.to_string(),
    }
}

thread_local! {
    static READS_FOREIGN_BYTES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is reading a Parquet file right now. A panic in the middle of that tells of damaged bytes and becomes an
/// error like any other, so that a program which prints panics need not print this one.
pub fn is_reading() -> bool {
    READS_FOREIGN_BYTES.get()
}

/// Does `read`, which hands bytes from outside to the parquet crate. Where that panics on damaged ones, it is an error.
fn whatever_happens<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    READS_FOREIGN_BYTES.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    READS_FOREIGN_BYTES.set(false);
    let damaged = || Error::new("is not a whole Parquet file").help("save it again; if it was copied, copy it again");
    outcome.unwrap_or_else(|_| Err(damaged()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::basic::{BrotliLevel, GzipLevel, Repetition, ZstdLevel};
    use ::parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::types::{Type as SchemaType, TypePtr};
    use proptest::prelude::*;
    use tempfile::NamedTempFile;

    use super::*;

    fn column(name: &str, physical: Type, logical: Option<LogicalType>, repetition: Repetition) -> TypePtr {
        let builder = SchemaType::primitive_type_builder(name, physical).with_repetition(repetition);
        Arc::new(builder.with_logical_type(logical).with_precision(5).with_scale(2).build().unwrap())
    }

    /// A column of a test's file, each value there or missing.
    enum Stored {
        Doubles(Vec<Option<f64>>),
        Wholes(Vec<i32>),
        LongWholes(Vec<i64>),
        Texts(Vec<&'static [u8]>),
    }

    fn write(columns: &[(TypePtr, Stored)]) -> NamedTempFile {
        write_compressed(columns, Compression::SNAPPY)
    }

    fn write_compressed(columns: &[(TypePtr, Stored)], compression: Compression) -> NamedTempFile {
        let file = NamedTempFile::new().unwrap();
        let fields = columns.iter().map(|(field, _)| field.clone()).collect();
        let schema = Arc::new(SchemaType::group_type_builder("schema").with_fields(fields).build().unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(file.reopen().unwrap(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for (_, stored) in columns {
            let mut writer = group.next_column().unwrap().unwrap();
            match stored {
                Stored::Doubles(values) => {
                    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                    let there: Vec<f64> = values.iter().flatten().copied().collect();
                    writer.typed::<DoubleType>().write_batch(&there, Some(&levels), None).map(|_| ())
                }
                Stored::Wholes(values) => writer.typed::<Int32Type>().write_batch(values, None, None).map(|_| ()),
                Stored::LongWholes(values) => writer.typed::<Int64Type>().write_batch(values, None, None).map(|_| ()),
                Stored::Texts(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|text| text.to_vec().into()).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, None, None).map(|_| ())
                }
            }
            .unwrap();
            writer.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    fn doubles(name: &str, values: &[Option<f64>]) -> (TypePtr, Stored) {
        (column(name, Type::DOUBLE, None, Repetition::OPTIONAL), Stored::Doubles(values.to_vec()))
    }

    fn wholes(name: &str, values: &[i32]) -> (TypePtr, Stored) {
        (column(name, Type::INT32, None, Repetition::REQUIRED), Stored::Wholes(values.to_vec()))
    }

    fn message(columns: &[(TypePtr, Stored)]) -> String {
        let file = write(columns);
        let message =
            read_labelled_codes(file.path(), &Roles::default(), MemoryLimit::default()).unwrap_err().to_string();
        message.split_once(": ").unwrap().1.to_string()
    }

    /// A good file of two rows.
    fn good() -> NamedTempFile {
        let unsigned = column("count", Type::INT32, Some(LogicalType::integer(32, false)), Repetition::REQUIRED);
        let decimal = column("price", Type::INT64, Some(LogicalType::decimal(2, 5)), Repetition::REQUIRED);
        let text = column("shape", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
        write(&[
            doubles("z0", &[Some(0.5), Some(-1.5)]),
            wholes("z1", &[7, -8]),
            (unsigned, Stored::Wholes(vec![3, -1])),
            (decimal, Stored::LongWholes(vec![1234, 5])),
            (text, Stored::Texts(vec![b"square", b"heart"])),
        ])
    }

    #[test]
    fn every_number_type_and_text_are_read() {
        let kinds = unbraid_data::FactorKinds { continuous: vec!["count".to_string()], ..Default::default() };
        let file = good();
        let data =
            read_labelled_codes(file.path(), &Roles { factors: None, kinds }, MemoryLimit::default()).unwrap().data;
        assert_eq!(
            data.codes().rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>(),
            [[0.5, 7.0], [-1.5, -8.0]]
        );
        // The bits of -1 are those of 2^32 - 1, and a decimal of scale 2 counts hundredths.
        assert_eq!(data.factors().row(0).to_vec(), [3.0, 12.34, 1.0]);
        assert_eq!(data.factors().row(1).to_vec(), [4_294_967_295.0, 0.05, 0.0]);
    }

    #[test]
    fn a_file_of_arrow_is_read() {
        // Written by pyarrow 26 in two groups of rows, a dictionary of text among them.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/arrow.parquet");
        let data = read_labelled_codes(&path, &Roles::default(), MemoryLimit::default()).unwrap().data;
        assert_eq!(data.codes().column(0).to_vec(), [0.5, 1.5, -2.5, 3.5, f64::from(1e-3_f32), 0.0]);
        assert_eq!(data.codes().column(1).to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, -6.0]);
        assert_eq!(data.codes().column(2).to_vec(), [1.5, -2.0, 65_504.0, 0.25, 1.0, 0.0]);
        assert_eq!(data.space().names().collect::<Vec<_>>(), ["shape", "scale", "round", "angle"]);
        assert_eq!(data.factors().column(0).to_vec(), [1.0, 2.0, 1.0, 0.0, 2.0, 1.0]);
        assert_eq!(data.factors().column(2).to_vec(), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        let sizes: Vec<_> = data.space().factors().iter().map(|factor| factor.size).collect();
        assert_eq!(sizes, [Some(3), Some(3), Some(2), None]);
        assert_eq!(data.extras().test_rows.as_deref(), Some(&[2, 4][..]));
        assert_eq!(data.extras().text_factors, [0]);
    }

    #[test]
    fn every_common_compression_is_read() {
        let numbers: Vec<i32> = (0..1000).map(|row| row % 7).collect();
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::BROTLI(BrotliLevel::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
        ] {
            let file = write_compressed(&[wholes("z0", &numbers), wholes("x", &numbers)], compression);
            let data = read_labelled_codes(file.path(), &Roles::default(), MemoryLimit::default()).unwrap().data;
            let expected: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
            assert_eq!(data.codes().column(0).to_vec(), expected, "{compression}");
            assert_eq!(data.factors().column(0).to_vec(), expected, "{compression}");
        }
        // Written by pyarrow 26.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/zstd.parquet");
        assert!(read_labelled_codes(&path, &Roles::default(), MemoryLimit::default()).is_ok());
        assert!(
            check_compression(Compression::LZO).unwrap_err().to_string().contains("compressed by LZO, which is not")
        );
    }

    #[test]
    fn a_table_without_rows_is_refused() {
        let shape = || column("shape", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
        for empty in [(shape(), Stored::Texts(Vec::new())), wholes("x", &[])] {
            assert!(message(&[wholes("z0", &[]), empty]).starts_with("wanted at least one row"));
        }
    }

    #[test]
    fn tables_above_the_limit_are_refused_unread() {
        // A million equal numbers take a few bytes in the file, and 16 million of them in two columns.
        let numbers = vec![7; 1_000_000];
        let texts = vec![&b"a text of thirty-two letters, a4"[..]; 100_000];
        let shape = column("shape", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
        let few = wholes("z0", &numbers[..100_000]);
        let cases = [
            (write(&[wholes("z0", &numbers), wholes("x", &numbers)]), 0.031, 0.033, "32 MB"),
            // 16 bytes for each of two columns, and 24 + 32 for the text itself.
            (write(&[few, (shape, Stored::Texts(texts))]), 0.008, 0.009, "8 MB"),
        ];
        for (file, below, above, size) in cases {
            assert!(std::fs::metadata(file.path()).unwrap().len() < 10_000);
            let read = |gigabytes: f64| {
                let limit = MemoryLimit::gigabytes(gigabytes).unwrap();
                read_labelled_codes(file.path(), &Roles::default(), limit)
            };
            let message = read(below).unwrap_err().to_string();
            assert!(message.contains(&format!("would take {size} of memory, above the limit of ")), "{message}");
            assert!(read(above).is_ok());
        }
        // A text that is too large matters only where it is needed.
        let note = column("note", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
        let notes = Stored::Texts(vec![&b"a text of thirty-two letters, a4"[..]; 100_000]);
        let file = write(&[(note, notes), wholes("z0", &numbers[..100_000]), wholes("x", &numbers[..100_000])]);
        let read = |factors: &str| {
            let roles = Roles { factors: Some(vec![factors.to_string()]), ..Roles::default() };
            read_labelled_codes(file.path(), &roles, MemoryLimit::gigabytes(0.006).unwrap())
        };
        assert!(read("x").is_ok());
        assert!(read("note").unwrap_err().to_string().contains("column \"note\" would take 6 MB of memory"));
    }

    #[test]
    fn columns_that_cannot_be_used_say_why() {
        let missing = message(&[doubles("z0", &[Some(1.0), None]), wholes("x", &[0, 1])]);
        assert!(missing.starts_with("column \"z0\" has no value at row 1"), "{missing}");
        let nan = message(&[doubles("z0", &[Some(f64::NAN)]), wholes("x", &[0])]);
        assert!(nan.starts_with("column \"z0\" holds NaN at row 0"), "{nan}");
        let bytes = column("x", Type::BYTE_ARRAY, None, Repetition::REQUIRED);
        let broken = message(&[wholes("z0", &[0]), (bytes, Stored::Texts(vec![b"\xff"]))]);
        assert_eq!(broken, "column \"x\" holds text that is not UTF-8");
        let list = column("x", Type::INT32, None, Repetition::REPEATED);
        let nested = Stored::Wholes(Vec::new());
        let nested = message(&[wholes("z0", &[]), (list, nested)]);
        assert!(nested.starts_with("column \"x\" holds lists or other nested values"), "{nested}");
    }

    #[test]
    fn files_that_are_not_parquet_are_refused() {
        let message = |bytes: &[u8]| {
            let file = NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            read_labelled_codes(file.path(), &Roles::default(), MemoryLimit::default()).unwrap_err().to_string()
        };
        assert!(message(b"z0,x\n1,2\n").contains("is not a whole Parquet file"));
        let whole = std::fs::read(good().path()).unwrap();
        for n_bytes in 0..whole.len() {
            let message = message(&whole[..n_bytes]);
            assert!(message.contains("is not a whole Parquet file"), "{n_bytes} bytes: {message}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
            let file = good();
            let mut bytes = std::fs::read(file.path()).unwrap();
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            std::fs::write(file.path(), bytes).unwrap();
            let _ = read_labelled_codes(file.path(), &Roles::default(), MemoryLimit::default());
        }
    }
}
