//! What variables a MAT-file holds, without their values.

use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use super::element::COMPRESSED;
use super::variable::Variable;
use super::{HEADER_BYTES, read_file_header, read_inner_tag, read_variable_tag};
use crate::error::{Error, Result};
use crate::files::announced::{cause, expect_end, pass_over_bytes};
use crate::files::inflated::{Inflated, most_inflated};
use crate::npy::open_file;

/// What is said of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatVariable {
    /// What the file calls it; empty where it has no name.
    pub name: String,
    /// What MATLAB calls its class, like `uint8`.
    pub class: String,
    /// The size along each axis.
    pub shape: Vec<usize>,
}

/// Adds the variables of a file to `found`, in order. All values are inflated on the way, so that their checksums are compared;
/// those before the one that is broken are found all the same.
pub fn list_variables(path: &Path, found: &mut Vec<MatVariable>) -> Result<()> {
    let (file, n_bytes) = open_file(path)?;
    list(BufReader::new(file), n_bytes, found).map_err(|error| error.at(path.display()))
}

fn list(mut reader: impl io::BufRead, n_bytes: u64, found: &mut Vec<MatVariable>) -> Result<()> {
    let order = read_file_header(&mut reader)?;
    let mut left = n_bytes.saturating_sub(HEADER_BYTES);
    while left > 0 {
        let tag = read_variable_tag(&mut reader, order, &mut left)?;
        let element_bytes = u64::from(tag.n_bytes);
        let mut element = reader.by_ref().take(element_bytes);
        if tag.kind == COMPRESSED {
            let most_inflated = most_inflated(element_bytes);
            let mut inflated = Inflated::new(ZlibDecoder::new(&mut element), "the compressed stream of a variable");
            let body_bytes = read_inner_tag(&mut inflated, order, most_inflated)?;
            let mut body = inflated.by_ref().take(body_bytes);
            found.push(described(Variable::read(&mut body, order)?));
            let n_values = body.limit();
            pass_over_bytes(&mut body, n_values, "the values")?;
            expect_end(&mut inflated, "a compressed variable")?;
        } else {
            found.push(described(Variable::read(&mut element, order)?));
        }
        let rest = element.limit();
        io::copy(&mut element, &mut io::sink()).map_err(cause)?;
        if element.limit() > 0 {
            return Err(Error::new(format!("is cut short: wanted {rest} more bytes of a variable, found fewer"))
                .help("copy or download the file again"));
        }
        left -= element_bytes;
    }
    Ok(())
}

fn described(variable: Variable) -> MatVariable {
    MatVariable { class: variable.class_name(), name: variable.name, shape: variable.shape }
}
