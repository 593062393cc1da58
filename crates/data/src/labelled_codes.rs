//! Codes beside the factors they came from: where learning ends and measuring begins.

use ndarray::{Array2, Array3};

use crate::error::{Error, Result};
use crate::factor_kinds::{FactorKinds, Stated, factor_space};
use crate::factor_space::FactorSpace;
use crate::words::counted;

/// Codes `[rows, latents]` and factors `[rows, factors]` of the same images. Every metric is a function of this table.
///
/// Checked when made: at least one row and latent; there may be no factors; equal row counts; all finite; discrete factors whole and
/// within their size; row numbers within the table.
#[derive(Debug, Clone)]
pub struct LabelledCodes {
    codes: Array2<f64>,
    factors: Array2<f64>,
    space: FactorSpace,
    extras: Extras,
}

/// What some inputs have and others lack.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Rows to fit on, for metrics that split; all rows where absent.
    pub train_rows: Option<Vec<usize>>,
    /// Rows to test on, for metrics that split.
    pub test_rows: Option<Vec<usize>>,
    /// The posterior's log-variances, `[rows, latents]`.
    pub log_variances: Option<Array2<f64>>,
    /// Each image's reconstruction loss, summed over pixels, `[rows]`.
    pub reconstruction_losses: Option<Vec<f64>>,
    /// The divergence of each image's posterior from the prior, in nats, where it is not the sum over the latents of that of
    /// diagonal Gaussians (full covariance, Concrete), `[rows]`.
    pub kl_divergences: Option<Vec<f64>>,
    /// How each latent moves each pixel that the decoder draws, at a few codes, `[codes, pixels, latents]`.
    pub jacobians: Option<Array3<f64>>,
    /// Why there are no Jacobians and what to do about it, where that is known; metrics that need them say it.
    pub why_no_jacobians: Option<String>,
    /// The positions of the factors that were text, in order: their values are numbered alphabetically, so that the order
    /// of the numbers means nothing.
    pub text_factors: Vec<usize>,
}

impl LabelledCodes {
    /// Checks the parts and puts them together.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_data::labelled_codes::Extras;
    /// use unbraid_data::{FactorSpace, LabelledCodes};
    ///
    /// // Two factors of two values each, and two latents that are the factors.
    /// let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    /// let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
    /// let data = LabelledCodes::new(factors.clone(), factors, space, Extras::default())?;
    /// assert_eq!((data.n_rows(), data.n_latents()), (4, 2));
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn new(codes: Array2<f64>, factors: Array2<f64>, space: FactorSpace, extras: Extras) -> Result<Self> {
        check_tables(&codes, &factors, &space)?;
        check_extras(&codes, &extras)?;
        if let Some(factor) = extras.text_factors.iter().find(|&&factor| factor >= space.n_factors()) {
            let there = counted(space.n_factors(), "factor");
            return Err(Error::new(format!("text_factors names factor {factor}, but there are {there}")));
        }
        Ok(Self { codes, factors, space, extras })
    }

    /// The same codes with the Jacobians of their decoder, `[codes, pixels, latents]`.
    pub fn with_jacobians(mut self, jacobians: Array3<f64>) -> Result<Self> {
        check_jacobians(self.n_latents(), &jacobians)?;
        self.extras.jacobians = Some(jacobians);
        self.extras.why_no_jacobians = None;
        Ok(self)
    }

    /// The same codes without Jacobians, for this reason.
    pub fn without_jacobians(mut self, why: String) -> Self {
        self.extras.jacobians = None;
        self.extras.why_no_jacobians = Some(why);
        self
    }

    /// The same codes with factors of the kinds that the user says.
    pub fn with_kinds(mut self, kinds: &FactorKinds) -> Result<Self> {
        let stated = |size: Option<usize>| size.map_or(Stated::Continuous, Stated::Size);
        let stated = self.space.factors().iter().map(|factor| (factor.name.clone(), stated(factor.size))).collect();
        self.space = factor_space(&mut self.factors, stated, kinds)?;
        Self::new(self.codes, self.factors, self.space, self.extras)
    }

    /// `[rows, latents]`.
    pub fn codes(&self) -> &Array2<f64> {
        &self.codes
    }

    /// `[rows, factors]`; a discrete factor's values are whole numbers from 0.
    pub fn factors(&self) -> &Array2<f64> {
        &self.factors
    }

    /// The factors' names and sizes.
    pub fn space(&self) -> &FactorSpace {
        &self.space
    }

    /// What only some inputs have.
    pub fn extras(&self) -> &Extras {
        &self.extras
    }

    /// How many images were encoded.
    pub fn n_rows(&self) -> usize {
        self.codes.nrows()
    }

    /// How many latents a code has.
    pub fn n_latents(&self) -> usize {
        self.codes.ncols()
    }

    /// How many factors there are.
    pub fn n_factors(&self) -> usize {
        self.factors.ncols()
    }
}

/// Whether codes `[rows, latents]` and factors `[rows, factors]` fit, by their sizes alone.
pub fn check_sizes(codes: (usize, usize), factors: (usize, usize)) -> Result<()> {
    if codes.0 != factors.0 {
        return Err(Error::new(format!("codes have {} but factors have {}", counted(codes.0, "row"), factors.0)));
    }
    if [codes.0, codes.1].contains(&0) {
        return Err(Error::new(format!("wanted at least one row and latent; found codes {codes:?}")));
    }
    Ok(())
}

fn check_tables(codes: &Array2<f64>, factors: &Array2<f64>, space: &FactorSpace) -> Result<()> {
    check_sizes(codes.dim(), factors.dim())?;
    if space.n_factors() != factors.ncols() {
        return Err(Error::new(format!(
            "factors have {} but {} factors are named",
            counted(factors.ncols(), "column"),
            space.n_factors()
        )));
    }
    for (table, name) in [(codes, "codes"), (factors, "factors")] {
        if let Some(((row, column), value)) = table.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::new(format!("{name} hold {value} at row {row}, column {column}"))
                .help("every value must be a finite number: leave such rows out"));
        }
    }
    for (column, factor) in space.factors().iter().enumerate() {
        let Some(size) = factor.size else { continue };
        for (row, &value) in factors.column(column).iter().enumerate() {
            if value.fract() != 0.0 || value < 0.0 || value >= size as f64 {
                return Err(Error::new(format!("factor \"{}\" is {value} at row {row}", factor.name))
                    .help(format!("a factor of size {size} takes the whole numbers 0 to {}", size - 1)));
            }
        }
    }
    Ok(())
}

fn check_extras(codes: &Array2<f64>, extras: &Extras) -> Result<()> {
    for (rows, name) in [(&extras.train_rows, "train_rows"), (&extras.test_rows, "test_rows")] {
        let Some(rows) = rows else { continue };
        if rows.is_empty() {
            return Err(Error::new(format!("{name} is empty")).help("leave it out to use all rows"));
        }
        if let Some(row) = rows.iter().find(|&&row| row >= codes.nrows()) {
            return Err(Error::new(format!(
                "{name} names row {row}, but codes have {}",
                counted(codes.nrows(), "row")
            )));
        }
    }
    if let Some(log_variances) = &extras.log_variances {
        if log_variances.dim() != codes.dim() {
            return Err(Error::new(format!(
                "log_variances are {:?} but codes are {:?}",
                log_variances.dim(),
                codes.dim()
            )));
        }
        if log_variances.iter().any(|value| !value.is_finite()) {
            return Err(Error::new("log_variances hold a value that is not finite"));
        }
    }
    for (column, name) in
        [(&extras.reconstruction_losses, "reconstruction_losses"), (&extras.kl_divergences, "kl_divergences")]
    {
        let Some(column) = column else { continue };
        if column.len() != codes.nrows() {
            return Err(Error::new(format!(
                "{name} have {} but codes have {}",
                counted(column.len(), "row"),
                codes.nrows()
            )));
        }
        if column.iter().any(|value| !value.is_finite()) {
            return Err(Error::new(format!("{name} hold a value that is not finite")));
        }
    }
    extras.jacobians.as_ref().map_or(Ok(()), |jacobians| check_jacobians(codes.ncols(), jacobians))
}

/// Refuses Jacobians `[codes, pixels, latents]` of another number of latents, and values that are not finite.
pub fn check_jacobians(n_latents: usize, jacobians: &Array3<f64>) -> Result<()> {
    if jacobians.dim().2 != n_latents {
        let found = jacobians.dim().2;
        return Err(Error::new(format!("jacobians are of {found} latents but codes have {n_latents}"))
            .help("their axes are codes, pixels and latents, in this order"));
    }
    if jacobians.is_empty() {
        return Err(Error::new(format!("jacobians are empty: their shape is {:?}", jacobians.shape()))
            .help("leave them out where there are none"));
    }
    if jacobians.iter().any(|value| !value.is_finite()) {
        return Err(Error::new("jacobians hold a value that is not finite"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn message(codes: Array2<f64>, factors: Array2<f64>) -> String {
        let space = FactorSpace::grid([("shape", 3)]);
        LabelledCodes::new(codes, factors, space, Extras::default()).unwrap_err().to_string()
    }

    #[test]
    fn bad_tables_are_refused_with_the_value_and_its_place() {
        assert_eq!(message(array![[0.0], [1.0]], array![[0.0]]), "codes have 2 rows but factors have 1");
        assert!(message(array![[f64::NAN]], array![[0.0]]).starts_with("codes hold NaN at row 0, column 0"));
        assert!(message(array![[1.0]], array![[3.0]]).starts_with("factor \"shape\" is 3 at row 0"));
        assert!(message(array![[1.0]], array![[0.5]]).starts_with("factor \"shape\" is 0.5 at row 0"));
        assert!(message(array![[1.0]], array![[-1.0]]).starts_with("factor \"shape\" is -1 at row 0"));
    }

    #[test]
    fn jacobians_are_of_the_same_latents_and_finite() {
        let with = |jacobians: Array3<f64>| {
            let extras = Extras { jacobians: Some(jacobians), ..Extras::default() };
            LabelledCodes::new(array![[1.0, 2.0]], array![[0.0]], FactorSpace::grid([("shape", 3)]), extras)
        };
        assert!(with(Array3::zeros((4, 5, 2))).is_ok());
        let message = |jacobians| with(jacobians).unwrap_err().to_string();
        assert!(message(Array3::zeros((4, 2, 5))).starts_with("jacobians are of 5 latents but codes have 2"));
        assert!(message(Array3::zeros((0, 5, 2))).starts_with("jacobians are empty: their shape is [0, 5, 2]"));
        let not_finite = Array3::from_elem((1, 1, 2), f64::INFINITY);
        assert_eq!(message(not_finite), "jacobians hold a value that is not finite");
    }

    #[test]
    fn columns_have_a_finite_number_for_each_row() {
        let with = |extras: Extras| {
            LabelledCodes::new(array![[1.0]], array![[0.0]], FactorSpace::grid([("shape", 3)]), extras)
        };
        let message = |extras| with(extras).unwrap_err().to_string();
        let divergences = |values: Vec<f64>| Extras { kl_divergences: Some(values), ..Extras::default() };
        let losses = |values: Vec<f64>| Extras { reconstruction_losses: Some(values), ..Extras::default() };
        assert!(with(divergences(vec![0.5])).is_ok());
        assert_eq!(message(divergences(vec![0.5, 1.0])), "kl_divergences have 2 rows but codes have 1");
        assert_eq!(message(divergences(vec![f64::NAN])), "kl_divergences hold a value that is not finite");
        assert_eq!(message(losses(vec![])), "reconstruction_losses have 0 rows but codes have 1");
    }

    #[test]
    fn rows_outside_the_table_are_refused() {
        let extras = Extras { train_rows: Some(vec![0, 9]), ..Extras::default() };
        let space = FactorSpace::grid([("shape", 3)]);
        let error = LabelledCodes::new(array![[1.0]], array![[0.0]], space, extras).unwrap_err();
        assert_eq!(error.to_string(), "train_rows names row 9, but codes have 1 row");
    }

    #[test]
    fn kinds_are_overruled_afterwards() {
        let space = FactorSpace::grid([("shape", 3)]);
        let data = LabelledCodes::new(array![[1.0], [2.0]], array![[2.0], [0.0]], space, Extras::default()).unwrap();
        let kinds = |continuous: &[&str], discrete: &[&str]| {
            let names = |list: &[&str]| list.iter().map(ToString::to_string).collect();
            FactorKinds { continuous: names(continuous), discrete: names(discrete) }
        };
        let size = |kinds| data.clone().with_kinds(&kinds).unwrap().space().factors()[0].size;
        assert_eq!(size(kinds(&["shape"], &[])), None);
        assert_eq!(size(kinds(&[], &["shape"])), Some(2));
        assert_eq!(size(kinds(&["other"], &[])), Some(3));
    }
}
