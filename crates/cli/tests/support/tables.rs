//! A table of codes and factors, written in every format.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Repetition, Type};
use parquet::data_type::DoubleType;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as SchemaType;
use serde_json::Value;
use unbraid_data::npy::write_header;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Place;

/// A table of two factors, one discrete and one continuous, and codes that follow them.
pub struct Table {
    pub codes: Vec<[f64; 3]>,
    pub factors: Vec<[f64; 2]>,
}

impl Table {
    /// Sixty rows; another `turn` makes other codes of the same factors.
    pub fn new(turn: f64) -> Self {
        let factors: Vec<[f64; 2]> = (0..60).map(|row| [f64::from(row % 4), f64::from(row * 37 % 60) / 7.0]).collect();
        let code = |(row, [shape, angle]): (usize, &[f64; 2])| {
            [shape + turn * angle, angle - turn * shape, f64::from(row as u32 * 17 % 11) / 3.0]
        };
        Self { codes: factors.iter().enumerate().map(code).collect(), factors }
    }

    pub fn npy<const N: usize>(rows: &[[f64; N]]) -> Vec<u8> {
        let mut file = Vec::new();
        write_header(&mut file, "<f8", &[rows.len(), N]).unwrap();
        file.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
        file
    }

    /// With the names that a pair of `.npy` gives the factors, or these.
    pub fn npz(&self, names: Option<[&str; 2]>) -> Vec<u8> {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: &[u8]| {
            archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        };
        add("codes", &Self::npy(&self.codes));
        add("factors", &Self::npy(&self.factors));
        if let Some(names) = names {
            let mut file = Vec::new();
            write_header(&mut file, "|S5", &[2]).unwrap();
            file.extend(names.iter().flat_map(|name| name.bytes().chain(std::iter::repeat(0)).take(5)));
            add("factor_names", &file);
        }
        archive.finish().unwrap().into_inner()
    }

    pub fn csv(&self, header: &str) -> String {
        let mut text = format!("{header}\n");
        for ([z0, z1, z2], [shape, angle]) in self.codes.iter().zip(&self.factors) {
            text += &format!("{shape},{z0},{z1},{angle},{z2}\n");
        }
        text
    }

    pub fn write_parquet(&self, file: File) {
        let of_code = |latent: usize| self.codes.iter().map(|code| code[latent]).collect::<Vec<_>>();
        let of_factor = |factor: usize| self.factors.iter().map(|factors| factors[factor]).collect::<Vec<_>>();
        let columns = [
            ("shape", of_factor(0)),
            ("z0", of_code(0)),
            ("z1", of_code(1)),
            ("angle", of_factor(1)),
            ("z2", of_code(2)),
        ];
        let field = |name: &str| {
            let builder = SchemaType::primitive_type_builder(name, Type::DOUBLE);
            Arc::new(builder.with_repetition(Repetition::REQUIRED).build().unwrap())
        };
        let fields = columns.iter().map(|(name, _)| field(name)).collect();
        let schema = Arc::new(SchemaType::group_type_builder("schema").with_fields(fields).build().unwrap());
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for (_, values) in &columns {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
    }
}

/// A folder with the table in every format.
pub fn every_format() -> Place {
    let place = Place::new();
    let table = Table::new(0.3);
    place.write("named.npz", table.npz(Some(["shape", "angle"])));
    place.write("plain.npz", table.npz(None));
    place.write("codes.npy", Table::npy(&table.codes));
    place.write("factors.npy", Table::npy(&table.factors));
    place.write("table.csv", table.csv("shape,z0,z1,angle,z2"));
    place.write("other_names.csv", table.csv("shape,first,second,angle,third"));
    place.write("table.tsv", table.csv("shape,z0,z1,angle,z2").replace(',', "\t"));
    table.write_parquet(File::create(place.path("table.parquet")).unwrap());
    place
}

/// What `unbraid evaluate --json` prints with these arguments.
pub fn json(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["evaluate", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&place.output(&arguments)).unwrap()
}
