//! Isotonic regression: the falling sequence that is nearest to given numbers, by pooling neighbours that are out of order.
//!
//! The solution is flat over blocks of neighbours, and on each block it is their mean (Best et al. 2000; Blondel et al. 2020, section 5).

/// The blocks of the falling sequence that is nearest to given numbers in the sum of squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Falling {
    /// Where each block ends, rising; the last is how many numbers there are.
    pub ends: Vec<usize>,
    /// The value of each block, falling.
    pub values: Vec<f64>,
}

impl Falling {
    /// Fits a sequence to `numbers`. Takes a time proportional to how many there are.
    pub fn fit(numbers: &[f64]) -> Self {
        // Sums and counts rather than means, so that a block of many is not a mean of rounded means.
        let mut blocks: Vec<(f64, usize, usize)> = Vec::with_capacity(numbers.len());
        for (position, &number) in numbers.iter().enumerate() {
            let (mut sum, mut count) = (number, 1);
            while let Some(&(sum_before, count_before, _)) = blocks.last() {
                if sum_before / count_before as f64 > sum / count as f64 {
                    break;
                }
                blocks.pop();
                sum += sum_before;
                count += count_before;
            }
            blocks.push((sum, count, position + 1));
        }
        Self {
            ends: blocks.iter().map(|&(_, _, end)| end).collect(),
            values: blocks.iter().map(|&(sum, count, _)| sum / count as f64).collect(),
        }
    }

    /// The positions of each block.
    pub fn blocks(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// The whole sequence.
    #[cfg(test)]
    pub fn sequence(&self) -> Vec<f64> {
        self.blocks().zip(&self.values).flat_map(|(block, &value)| std::iter::repeat_n(value, block.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_out_of_order_are_pooled_by_hand() {
        // 1 and 3 are out of order: their mean is 2. With 2 it is out of order no more than equal: 2, 2, 2. Then 0 falls.
        assert_eq!(Falling::fit(&[1.0, 3.0, 2.0, 0.0]).sequence(), [2.0, 2.0, 2.0, 0.0]);
        // 4 stays; 1 and 3 give 2; 5 pulls them up to 3, which is below 4.
        let fit = Falling::fit(&[4.0, 1.0, 3.0, 5.0]);
        assert_eq!(fit, Falling { ends: vec![1, 4], values: vec![4.0, 3.0] });
        assert_eq!(Falling::fit(&[]).sequence(), [0.0; 0]);
        assert_eq!(Falling::fit(&[1.0, 2.0, 3.0]).values, [2.0]);
        assert_eq!(Falling::fit(&[3.0, 2.0, 1.0]).ends, [1, 2, 3]);
    }

    /// The best falling sequence among the means over every way to cut the numbers into blocks.
    fn by_all_cuts(numbers: &[f64]) -> Vec<f64> {
        let cost = |fit: &[f64]| fit.iter().zip(numbers).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let fits = (0..1_usize << (numbers.len() - 1)).map(|cuts| {
            let mut fit = Vec::new();
            for block in numbers.iter().enumerate().collect::<Vec<_>>().chunk_by(|(i, _), _| cuts >> i & 1 == 0) {
                let mean = block.iter().map(|(_, number)| **number).sum::<f64>() / block.len() as f64;
                fit.extend(block.iter().map(|_| mean));
            }
            fit
        });
        let falling = fits.filter(|fit| fit.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12));
        falling.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap()
    }

    proptest! {
        #[test]
        fn it_is_the_best_of_all_ways_to_cut(numbers in proptest::collection::vec(-3.0..3.0_f64, 1..9)) {
            let (found, wanted) = (Falling::fit(&numbers).sequence(), by_all_cuts(&numbers));
            prop_assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {wanted:?}");
        }
    }
}
