//! The table as files for other programs: CSV and Parquet, a row for each run.
//!
//! Columns are `run`, every setting, every score, and `why_undefined`: a JSON object with the reason of each empty score. A setting that is
//! called like one of the others has `config.` before its name.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type as SchemaType, TypePtr};
use serde_json::{Map, Value};
use unbraid_data::whole_file::{write_whole, write_whole_with};
use unbraid_data::{Error, Result};

use crate::columns::{SettingColumn, SettingValues};
use crate::table::StudyTable;

/// Writes the table as CSV. Numbers have all their digits, and what is undefined is an empty cell.
pub fn write_csv(table: &StudyTable, path: &Path) -> Result<()> {
    write_whole(path, csv_text(table)?.as_bytes())
}

/// Writes the table as Parquet, with whole numbers, numbers, truths and text as such, and missing values where there is none.
pub fn write_parquet(table: &StudyTable, path: &Path) -> Result<()> {
    let columns = file_columns(table);
    write_whole_with(path, |file| write_columns(file, &columns).map_err(io::Error::other))
}

/// The table as CSV.
pub fn csv_text(table: &StudyTable) -> Result<String> {
    let columns = file_columns(table);
    let failure = |error: &dyn std::fmt::Display| Error::failure(format!("cannot write the table as CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| &column.name)).map_err(|error| failure(&error))?;
    for run in 0..table.n_runs() {
        let cells = columns.iter().map(|column| cell_text(column, run));
        writer.write_record(cells).map_err(|error| failure(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failure(&error))?;
    String::from_utf8(bytes).map_err(|error| failure(&error))
}

/// Numbers as they have to be written to be read back to the bit.
fn cell_text(column: &SettingColumn, run: usize) -> String {
    match &column.values {
        SettingValues::Numbers(values) => values[run].map(|value| format!("{value:?}")).unwrap_or_default(),
        _ => column.text(run).unwrap_or_default(),
    }
}

/// Every column of the files, in order.
pub fn file_columns(table: &StudyTable) -> Vec<SettingColumn> {
    let text_column = |name: &str, texts: Vec<Option<String>>| SettingColumn {
        name: name.to_string(),
        values: SettingValues::Texts(texts),
    };
    let mut columns = vec![text_column("run", table.names().iter().cloned().map(Some).collect())];
    columns.extend(
        table
            .setting_columns()
            .iter()
            .map(|column| SettingColumn { name: free_name(table, &column.name), values: column.values.clone() }),
    );
    columns.extend(table.score_columns().iter().map(|column| SettingColumn {
        name: column.name.clone(),
        values: SettingValues::Numbers(column.values.clone()),
    }));
    columns.push(text_column("why_undefined", (0..table.n_runs()).map(|run| Some(reasons(table, run))).collect()));
    columns
}

fn free_name(table: &StudyTable, setting: &str) -> String {
    let is_taken = ["run", "why_undefined"].contains(&setting) || table.score(setting).is_some();
    if is_taken { format!("config.{setting}") } else { setting.to_string() }
}

/// `{"mig": "one factor"}`; `{}` where every score is defined.
fn reasons(table: &StudyTable, run: usize) -> String {
    let reasons = table.score_columns().iter().filter_map(|column| {
        let reason = column.reasons[run].as_ref()?;
        Some((column.name.clone(), Value::String(reason.clone())))
    });
    let reasons: Map<String, Value> = reasons.collect();
    Value::Object(reasons).to_string()
}

fn write_columns(
    file: &mut (impl io::Write + Send),
    columns: &[SettingColumn],
) -> std::result::Result<(), ParquetError> {
    let fields = columns.iter().map(field).collect::<std::result::Result<Vec<TypePtr>, ParquetError>>()?;
    let schema = Arc::new(SchemaType::group_type_builder("runs").with_fields(fields).build()?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties)?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        if let Some(mut writer) = group.next_column()? {
            write_values(&mut writer, &column.values)?;
            writer.close()?;
        }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(column: &SettingColumn) -> std::result::Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.values {
        SettingValues::Wholes(_) => (Type::INT64, None),
        SettingValues::Numbers(_) => (Type::DOUBLE, None),
        SettingValues::Truths(_) => (Type::BOOLEAN, None),
        SettingValues::Texts(_) => (Type::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = SchemaType::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(builder.with_logical_type(logical).build()?))
}

fn write_values(writer: &mut SerializedColumnWriter, values: &SettingValues) -> std::result::Result<(), ParquetError> {
    // A value that is there has level 1, a missing one 0.
    fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
        values.iter().map(|value| i16::from(value.is_some())).collect()
    }
    fn there<T: Clone>(values: &[Option<T>]) -> Vec<T> {
        values.iter().flatten().cloned().collect()
    }
    match values {
        SettingValues::Wholes(values) => {
            writer.typed::<Int64Type>().write_batch(&there(values), Some(&levels(values)), None)
        }
        SettingValues::Numbers(values) => {
            writer.typed::<DoubleType>().write_batch(&there(values), Some(&levels(values)), None)
        }
        SettingValues::Truths(values) => {
            writer.typed::<BoolType>().write_batch(&there(values), Some(&levels(values)), None)
        }
        SettingValues::Texts(values) => {
            let bytes: Vec<ByteArray> = values.iter().flatten().map(|text| text.as_bytes().to_vec().into()).collect();
            writer.typed::<ByteArrayType>().write_batch(&bytes, Some(&levels(values)), None)
        }
    }
    .map(|_| ())
}
