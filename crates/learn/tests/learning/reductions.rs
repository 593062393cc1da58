//! Every reduction of burn that is used here, on tensors as large as training makes them, against sums in `f64`.
use std::fs;
use std::path::Path;

use burn::tensor::Tensor;
use rand::RngExt;
use unbraid_data::Seed;
use unbraid_learn::Device;
use unbraid_learn::ops::{mean, sum};
use unbraid_learn::tensors::{floats, scalar};

/// Two million values between 0 and 1, squared, as a matrix.
const N_VALUES: usize = 1 << 21;

fn squares(n_rows: usize, n_columns: usize) -> Tensor<2> {
    let mut rng = Seed(1).stream("squares");
    let values = (0..n_rows * n_columns).map(|_| rng.random_range(0.0..1.0_f32).powi(2)).collect();
    Device::cpu().tensor(values, [n_rows, n_columns])
}

fn sum_in_f64(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value)).sum()
}

fn assert_close(found: f32, wanted: f64, name: &str) {
    assert_within(1e-6, found, wanted, name);
}

fn assert_within(most_gap: f64, found: f32, wanted: f64, name: &str) {
    let gap = (f64::from(found) / wanted - 1.0).abs();
    assert!(gap <= most_gap, "{name}: {found} is not {wanted}");
}

/// The same values as they may lie in memory: as they are, turned, every second column, and one column many times.
fn views() -> Vec<(&'static str, Tensor<2>)> {
    let matrix = squares(512, N_VALUES / 512);
    vec![
        ("contiguous", matrix.clone()),
        ("transposed", matrix.clone().transpose()),
        ("a slice", matrix.clone().narrow(1, 1, N_VALUES / 512 - 2)),
        ("repeated", matrix.narrow(1, 0, 1).expand([512, 4096])),
    ]
}

#[test]
fn our_sum_and_mean_are_right_however_the_values_lie() {
    for (name, tensor) in views() {
        let values = floats(tensor.clone());
        let wanted = sum_in_f64(&values);
        assert_close(scalar(sum(tensor.clone())), wanted, name);
        assert_close(scalar(mean(tensor)), wanted / values.len() as f64, name);
    }
    let large = squares(4, 3 * N_VALUES);
    assert_close(scalar(sum(large.clone())), sum_in_f64(&floats(large)), "large");
}

/// Why there is a sum of our own: this one is off by a thousandth. If this fails, burn's has become right.
#[test]
fn burns_sum_of_a_slice_is_off() {
    let (_, slice) = views().remove(2);
    let wanted = sum_in_f64(&floats(slice.clone()));
    let gap = f64::from(scalar(slice.sum())) / wanted - 1.0;
    assert!(gap.abs() > 1e-5, "burn's sum is off by {gap:.1e} only");
}

#[test]
fn gradients_of_our_sum_and_mean_are_burns() {
    let values = (0..24_u8).map(f32::from).collect();
    let matrix = Device::cpu().recording_tensor(values, [4, 6]).require_grad();
    let gradient = |total: Tensor<1>| floats(matrix.grad(&(total * 3.0).backward()).unwrap());
    let squared = || matrix.clone().transpose().powi_scalar(2);
    assert_eq!(gradient(sum(squared())), gradient(squared().sum()));
    for (ours, burns) in gradient(mean(squared())).iter().zip(gradient(squared().mean())) {
        assert!((ours - burns).abs() <= 1e-6 * burns.abs(), "{ours} is not {burns}");
    }
}

/// `sum_dim(1)` and `mean_dim(1)` of pixels and of latents, and of one row of all values. The values of a row lie next to
/// each other; those of a transposed or a repeated tensor would be added up in one chain.
#[test]
fn sums_along_rows_are_right() {
    let shapes = [(256, 3 * 64 * 64), (64, 64 * 64), (100_000, 10), (1, N_VALUES)];
    let matrices = shapes.map(|(n_rows, n_columns)| ("whole", squares(n_rows, n_columns)));
    let slices = views().into_iter().filter(|(name, _)| ["contiguous", "a slice"].contains(name));
    for (name, matrix) in matrices.into_iter().chain(slices) {
        let [n_rows, n_columns] = matrix.dims();
        let (values, name) = (floats(matrix.clone()), format!("{name}, {n_rows} x {n_columns}"));
        let (sums, means) = (floats(matrix.clone().sum_dim(1)), floats(matrix.mean_dim(1)));
        for (row, (sum, mean)) in values.chunks_exact(n_columns).zip(sums.into_iter().zip(means)) {
            let wanted = sum_in_f64(row);
            // As many chains as the processor has lanes: with eight, those of two million values lose a digit more.
            let most_gap = if n_columns < N_VALUES { 1e-6 } else { 1e-5 };
            assert_within(most_gap, sum, wanted, &name);
            assert_within(most_gap, mean, wanted / n_columns as f64, &name);
        }
    }
}

/// The mean over a batch, which is a column: `mean()` and `sum()` are right for those.
#[test]
fn sums_of_a_column_are_right() {
    for n_rows in [1, 64, 256, 1000, 4096] {
        let column = squares(n_rows, 3).sum_dim(1); // [n_rows, 1]
        let wanted = sum_in_f64(&floats(column.clone()));
        assert_close(scalar(column.clone().sum()), wanted, "sum");
        assert_close(scalar(column.mean()), wanted / n_rows as f64, "mean");
    }
}

/// `sum_dim(0)` and `mean_dim(0)`, statistics of each latent over a batch, add up each column in one chain: good for a
/// batch, less and less for more rows.
#[test]
fn sums_along_columns_are_right_for_a_batch() {
    for (n_rows, n_columns) in [(64, 10), (256, 10), (1024, 12)] {
        let matrix = squares(n_rows, n_columns);
        let values = floats(matrix.clone());
        let (sums, means) = (floats(matrix.clone().sum_dim(0)), floats(matrix.mean_dim(0)));
        for column in 0..n_columns {
            let of_column: Vec<f32> = values.iter().skip(column).step_by(n_columns).copied().collect();
            assert_within(3e-6, sums[column], sum_in_f64(&of_column), "sum");
            assert_within(3e-6, means[column], sum_in_f64(&of_column) / n_rows as f64, "mean");
        }
    }
}

#[test]
fn the_least_and_the_largest_of_each_row_are_exact() {
    for matrix in [squares(100_000, 10), squares(10, 100_000).transpose(), squares(64, 12_288)] {
        let [_, n_columns] = matrix.dims();
        let values = floats(matrix.clone());
        let (least, most) = (floats(matrix.clone().min_dim(1)), floats(matrix.max_dim(1)));
        for (row, (least, most)) in values.chunks_exact(n_columns).zip(least.into_iter().zip(most)) {
            assert_eq!(least, row.iter().copied().fold(f32::INFINITY, f32::min));
            assert_eq!(most, row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }
}

/// burn's `sum()` and `mean()` are for columns, and a line that calls one says so by the shape: `// [batch, 1]`.
#[test]
fn whole_tensors_are_summed_by_our_own_operation() {
    let mut wrong = Vec::new();
    look_through(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut wrong);
    assert!(
        wrong.is_empty(),
        "use ops::sum or ops::mean, or say `// [n, 1]` where it is a column:\n{}",
        wrong.join("\n")
    );
}

fn look_through(folder: &Path, wrong: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            look_through(&path, wrong);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // Tests come last in a file, and sum a few values.
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let sums = [".sum()", ".mean()"].iter().any(|call| line.contains(call));
            let is_our_own = path.ends_with("ops/sum.rs") || line.trim_start().starts_with("//");
            if sums && !is_our_own && !line.contains(", 1]") {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
}
