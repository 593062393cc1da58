//! The sum of many values.

use rayon::prelude::*;

/// Values that a thread adds up at once.
const PIECE_LEN: usize = 16 * 1024;

/// The sum of `values`, added up in `f64` and in an order that follows from their number alone.
pub fn sum(values: &[f32]) -> f64 {
    let of_pieces: Vec<f64> = values.par_chunks(PIECE_LEN).map(sum_of_piece).collect();
    of_pieces.iter().sum()
}

/// Several sums at once, since one chain of additions is slow.
fn sum_of_piece(values: &[f32]) -> f64 {
    const N_CHAINS: usize = 16;
    let mut chains = [0.0; N_CHAINS];
    for values in values.chunks(N_CHAINS) {
        chains.iter_mut().zip(values).for_each(|(chain, value)| *chain += f64::from(*value));
    }
    chains.iter().sum()
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn whole_numbers_add_up_exactly() {
        assert_eq!(sum(&[]), 0.0);
        let values: Vec<f32> = (0..100_000_u32).map(|value| value as f32).collect();
        assert_eq!(sum(&values), 99_999.0 * 50_000.0);
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let values: Vec<f32> = (0..300_000_u32).map(|index| (index as f32 * 0.37).sin()).collect();
        let on = |n_threads| {
            let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool");
            pool.install(|| sum(&values).to_bits())
        };
        assert!(on(1) == on(2) && on(1) == on(3));
    }
}
