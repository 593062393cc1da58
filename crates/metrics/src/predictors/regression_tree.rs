//! Regression trees of depth 3 on the gradients of a loss, as gradient boosting grows them.
//!
//! They follow scikit-learn 1.9's `DecisionTreeRegressor` with the squared error: a node is split wherever it can be,
//! even where nothing is gained, unless its gradients are all but equal. A split's importance is what it takes off the squared
//! error. Where several latents gain exactly as much, scikit-learn takes one at random, and of a latent's places the lowest;
//! here the importance is shared evenly between the latents, which is the mean over its draws, and the rows are parted in
//! one of the ways, drawn anew for each node (see `split_search`). Neither the order nor the signs of latents matter for
//! importances and for the rows fitted on. About other rows one of the latents that part the rows so decides, drawn too.

use std::mem;

use super::gradients::{Gradients, Histogram, fill_histogram, subtract_histogram};
use super::partition::partition;
use super::ranked_columns::RankedColumns;
use super::split_search::{Node, Search, Split};

/// How often a tree splits at most between its root and a leaf.
const DEPTH: u32 = 3;
const N_SPLITS: usize = (1 << DEPTH) - 1;

/// Nodes whose gradients have no more variance than this are leaves, as in scikit-learn.
const LEAST_VARIANCE: f64 = f64::EPSILON;

/// Nodes with fewer rows than this are split by sorting their rows.
const FEW_ROWS: usize = 64;

/// A fitted tree; a node that was not split sends all rows left.
#[derive(Debug, Clone)]
pub struct RegressionTree {
    latents: [u32; N_SPLITS],
    thresholds: [f64; N_SPLITS],
    leaves: [f64; N_SPLITS + 1],
}

impl RegressionTree {
    /// The value of the leaf that a code falls into. `code [latents]`
    #[inline]
    pub fn value(&self, code: &[f64]) -> f64 {
        let mut node = 0;
        for _ in 0..DEPTH {
            let is_right = code[self.latents[node] as usize] > self.thresholds[node];
            node = 2 * node + 1 + usize::from(is_right);
        }
        self.leaves[node - N_SPLITS]
    }
}

/// What growing a tree needs, kept from tree to tree.
pub struct Grower<'a> {
    table: &'a RankedColumns,
    gradients: Gradients,
    salt: u64,
    rows: Vec<u32>,
    right: Vec<u32>,
    node_of_rows: Vec<u8>,
    histograms: Vec<Histogram>,
}

/// A tree while it grows.
struct Growth<'a, LeafValue> {
    tree: RegressionTree,
    importance: &'a mut [f64],
    leaf_value: LeafValue,
}

/// The part of the rows that belongs to a node.
#[derive(Clone, Copy)]
struct Part {
    node: usize,
    start: usize,
    end: usize,
    sum: i64,
    squares: f64,
}

impl<'a> Grower<'a> {
    /// Grows trees on this table.
    pub fn new(table: &'a RankedColumns) -> Self {
        Self {
            table,
            gradients: Gradients::default(),
            salt: 0,
            rows: Vec::new(),
            right: Vec::new(),
            node_of_rows: Vec::new(),
            histograms: Vec::new(),
        }
    }

    /// How many latents the table has.
    pub fn n_latents(&self) -> usize {
        self.table.columns.len()
    }

    /// A tree on `gradients [rows]`, whose leaves get their value from `leaf_value` of their rows. What each latent takes
    /// off the squared error is added to `importance [latents]`. Ties are broken by `salt`.
    pub fn grow(
        &mut self,
        gradients: &[f64],
        salt: u64,
        importance: &mut [f64],
        leaf_value: impl FnMut(&[u32]) -> f64,
    ) -> RegressionTree {
        let n_rows = self.table.n_rows;
        self.gradients.fill(gradients);
        self.salt = salt;
        self.rows.clear();
        self.rows.extend(0..n_rows as u32);
        self.node_of_rows.clear();
        self.node_of_rows.resize(n_rows, 0);
        let tree = RegressionTree {
            latents: [0; N_SPLITS],
            thresholds: [f64::INFINITY; N_SPLITS],
            leaves: [0.0; N_SPLITS + 1],
        };
        let Gradients { sum, squares, .. } = self.gradients;
        let mut growth = Growth { tree, importance, leaf_value };
        let mut histogram = self.histograms.pop().unwrap_or_default();
        if n_rows >= FEW_ROWS {
            fill_histogram(&mut histogram, self.table, &self.gradients.cells, &self.rows);
        }
        self.grow_node(&mut growth, Part { node: 0, start: 0, end: n_rows, sum, squares }, histogram);
        growth.tree
    }

    fn grow_node<LeafValue: FnMut(&[u32]) -> f64>(
        &mut self,
        growth: &mut Growth<LeafValue>,
        part: Part,
        mut histogram: Histogram,
    ) {
        let Some(split) = self.split(part, &histogram) else {
            self.histograms.push(histogram);
            let leaf = leftmost_leaf(part.node);
            growth.tree.leaves[leaf] = (growth.leaf_value)(&self.rows[part.start..part.end]);
            return;
        };
        for &latent in &split.tied {
            growth.importance[latent] += split.gain / split.tied.len() as f64;
        }
        growth.tree.latents[part.node] = split.latent as u32;
        growth.tree.thresholds[part.node] = split.threshold;
        let [left, right] = self.partition(part, &split);
        let mut smaller = self.histograms.pop().unwrap_or_default();
        let (small, large) =
            if left.end - left.start <= right.end - right.start { (left, right) } else { (right, left) };
        if is_split_further(large.node) && large.end - large.start >= FEW_ROWS {
            fill_histogram(&mut smaller, self.table, &self.gradients.cells, &self.rows[small.start..small.end]);
            subtract_histogram(&mut histogram, &smaller);
        }
        if small.node == left.node {
            mem::swap(&mut smaller, &mut histogram);
        }
        self.grow_node(growth, left, histogram);
        self.grow_node(growth, right, smaller);
    }

    /// The best split of a node, or none if it is a leaf.
    fn split(&self, part: Part, histogram: &Histogram) -> Option<Split> {
        let rows = &self.rows[part.start..part.end];
        if rows.len() < 2 || !is_split_further(part.node) || self.is_pure(part) {
            return None;
        }
        // Not the node's number: which side is called left is a matter of the latent's sign.
        let node = Node { id: part.node as u8, rows, sum: part.sum, salt: self.salt };
        let search = Search::new(self.table, &self.gradients, &self.node_of_rows, &node);
        if rows.len() < FEW_ROWS { search.by_sorting() } else { search.by_histogram(histogram) }
    }

    fn is_pure(&self, part: Part) -> bool {
        let rows = &self.rows[part.start..part.end];
        let (n_rows, unit) = (rows.len() as f64, self.gradients.unit);
        let mean = part.sum as f64 / n_rows;
        let variance = part.squares / n_rows - mean * mean;
        if variance * unit * unit <= LEAST_VARIANCE {
            return true;
        }
        // So little may be rounding alone, which would be split in vain.
        let first = self.gradients.cells[rows[0] as usize].sum;
        variance < 1e-10 * mean * mean && rows.iter().all(|&row| self.gradients.cells[row as usize].sum == first)
    }

    /// Moves the rows that go right behind those that go left. Sums are counted where a side may be split again.
    fn partition(&mut self, part: Part, split: &Split) -> [Part; 2] {
        let values = &self.table.columns[split.latent].values;
        let [left, right] = [2 * part.node + 1, 2 * part.node + 2];
        let rows = &mut self.rows[part.start..part.end];
        let (mut sum, mut squares) = (0, 0.0);
        let is_right = |row: u32| values[row as usize] > split.threshold;
        let n_left = if is_split_further(left) {
            partition(rows, &mut self.right, |row| {
                let is_right = is_right(row);
                self.node_of_rows[row as usize] = left as u8 + u8::from(is_right);
                let of_left = self.gradients.cells[row as usize].sum * i64::from(!is_right);
                sum += of_left;
                squares += of_left as f64 * of_left as f64;
                is_right
            })
        } else {
            partition(rows, &mut self.right, is_right)
        };
        let middle = part.start + n_left;
        let on_right = (part.sum - sum, part.squares - squares);
        [
            Part { node: left, start: part.start, end: middle, sum, squares },
            Part { node: right, start: middle, end: part.end, sum: on_right.0, squares: on_right.1 },
        ]
    }
}

/// Whether a node is above the last level.
fn is_split_further(node: usize) -> bool {
    node < N_SPLITS
}

/// The leaf that a code reaches from `node` by going left.
fn leftmost_leaf(mut node: usize) -> usize {
    while node < N_SPLITS {
        node = 2 * node + 1;
    }
    node - N_SPLITS
}
