//! One tree of a random forest, grown on rows drawn with replacement until its leaves are pure or as deep as wanted.

use std::mem;

use rand::RngExt;
use unbraid_data::Rng;

use super::partition::partition;
use super::ranked_columns::RankedColumns;
use crate::statistics::classes::Classes;

/// A fitted tree.
pub struct DecisionTree {
    nodes: Vec<TreeNode>,
    /// The classes of each leaf and of each node at a wanted depth, and their shares, node after node.
    shares: Vec<(usize, f64)>,
}

enum TreeNode {
    /// Rows whose latent is at most the threshold go to the next node, others to the one numbered `right`. Where its
    /// classes are, if it is at a wanted depth.
    Split { latent: u32, right: u32, threshold: f64, shares: Part },
    /// Where its classes are.
    Leaf { shares: Part },
}

/// A part of the shares.
#[derive(Clone, Copy)]
struct Part {
    start: u32,
    end: u32,
}

impl DecisionTree {
    /// Grows a tree on the classes of the table's rows, and says what each latent takes off the impurity. It is grown to the
    /// last of the ascending `depths`, and can be read at each; where there are none, until its leaves are pure.
    pub fn grow(table: &RankedColumns, classes: &Classes, depths: &[usize], rng: &mut Rng) -> (Self, Vec<f64>) {
        let mut growth = Growth::new(table, classes, depths, rng);
        // Of each part that waits: where it starts and ends, its depth, and the split whose right side it is.
        let mut waiting = vec![(0, growth.rows.len(), 0, None)];
        while let Some((start, end, depth, parent)) = waiting.pop() {
            let number = growth.tree.nodes.len();
            if let Some(parent) = parent
                && let TreeNode::Split { right, .. } = &mut growth.tree.nodes[parent]
            {
                *right = number as u32;
            }
            if let Some(middle) = growth.split(start, end, depth, rng) {
                waiting.push((middle, end, depth + 1, Some(number)));
                waiting.push((start, middle, depth + 1, None));
            }
        }
        (growth.tree, growth.importance)
    }

    /// Adds to `shares [rows, classes]` those of the leaf that each code falls into, or of its node at `depth`, one of those
    /// the tree was grown with, where the leaf is deeper. `codes [rows, latents]`
    pub fn add_shares(
        &self,
        codes: &[f64],
        n_latents: usize,
        depth: Option<usize>,
        shares: &mut [f64],
        n_classes: usize,
    ) {
        // All rows go down the tree together, which spares the processor a wrong guess at every node of every row.
        let mut rows: Vec<u32> = (0..(codes.len() / n_latents) as u32).collect();
        let mut right_rows = Vec::new();
        let mut waiting = vec![(0, 0, rows.len(), 0)];
        while let Some((number, start, end, at)) = waiting.pop() {
            let part = &mut rows[start..end];
            match self.nodes[number] {
                TreeNode::Split { latent, right, threshold, .. } if depth != Some(at) => {
                    let value = |row: u32| codes[row as usize * n_latents + latent as usize];
                    let middle = start + partition(part, &mut right_rows, |row| value(row) > threshold);
                    for (number, start, end) in [(right as usize, middle, end), (number + 1, start, middle)] {
                        if start < end {
                            waiting.push((number, start, end, at + 1));
                        }
                    }
                }
                TreeNode::Split { shares: Part { start, end }, .. }
                | TreeNode::Leaf { shares: Part { start, end } } => {
                    for &row in part.iter() {
                        for &(class, share) in &self.shares[start as usize..end as usize] {
                            shares[row as usize * n_classes + class] += share;
                        }
                    }
                }
            }
        }
    }
}

/// A row's class, and how often the row was drawn.
#[derive(Clone, Copy)]
struct Drawn {
    class: u32,
    n_times: u32,
}

/// A tree while it grows.
struct Growth<'a> {
    table: &'a RankedColumns,
    depths: &'a [usize],
    tree: DecisionTree,
    importance: Vec<f64>,
    drawn: Vec<Drawn>,
    rows: Vec<u32>,
    right: Vec<u32>,
    latents: Vec<usize>,
    /// How many rows of each class the node has on either side of the place that is tried.
    counts: Vec<[i64; 2]>,
    /// Which of both sides is the right one; all rows are there before the first place.
    right_side: usize,
    places: Vec<u32>,
    is_in_node: Vec<u64>,
}

/// The best place so far, and the sum of `squares / rows` of both sides.
struct Best {
    proxy: f64,
    latent: usize,
    threshold: f64,
}

impl<'a> Growth<'a> {
    fn new(table: &'a RankedColumns, classes: &Classes, depths: &'a [usize], rng: &mut Rng) -> Self {
        let n_rows = table.n_rows;
        let mut drawn: Vec<Drawn> =
            classes.of_rows.iter().map(|&class| Drawn { class: class as u32, n_times: 0 }).collect();
        for _ in 0..n_rows {
            drawn[rng.random_range(0..n_rows)].n_times += 1;
        }
        Self {
            table,
            depths,
            tree: DecisionTree { nodes: Vec::new(), shares: Vec::new() },
            importance: vec![0.0; table.columns.len()],
            rows: (0..n_rows as u32).filter(|&row| drawn[row as usize].n_times > 0).collect(),
            drawn,
            right: Vec::new(),
            latents: (0..table.columns.len()).collect(),
            counts: vec![[0, 0]; classes.n_classes],
            right_side: 0,
            places: Vec::new(),
            is_in_node: vec![0; n_rows.div_ceil(64)],
        }
    }

    /// Adds the node of `rows[start..end]` to the tree. If it is split, says where its right side starts.
    fn split(&mut self, start: usize, end: usize, depth: usize, rng: &mut Rng) -> Option<usize> {
        let (mut n_rows, mut squares) = (0, 0);
        for &row in &self.rows[start..end] {
            let Drawn { class, n_times } = self.drawn[row as usize];
            let (count, n_times) = (&mut self.counts[class as usize][self.right_side], i64::from(n_times));
            squares += n_times * (2 * *count + n_times);
            *count += n_times;
            n_rows += n_times;
        }
        let is_leaf = squares == n_rows * n_rows || self.depths.last() == Some(&depth);
        let best = if is_leaf { None } else { self.best(start, end, (n_rows, squares), rng) };
        let is_read = best.is_none() || self.depths.contains(&depth);
        let shares = if is_read { self.add_shares(start, end, n_rows) } else { Part { start: 0, end: 0 } };
        let middle = match best {
            None => {
                self.tree.nodes.push(TreeNode::Leaf { shares });
                None
            }
            Some(best) => {
                self.importance[best.latent] += (best.proxy - squares as f64 / n_rows as f64).max(0.0);
                Some(self.add_split(start, end, &best, shares))
            }
        };
        for &row in &self.rows[start..end] {
            self.counts[self.drawn[row as usize].class as usize] = [0, 0];
        }
        middle
    }

    /// The best place of the latents that are drawn for this node, which has `n_rows` with `squares`.
    fn best(&mut self, start: usize, end: usize, whole: (i64, i64), rng: &mut Rng) -> Option<Best> {
        let n_latents = self.latents.len();
        let n_wanted = (n_latents as f64).sqrt() as usize;
        let mut best = None;
        let mut has_moving = false;
        for n_drawn in 0..n_latents {
            if n_drawn >= n_wanted && has_moving {
                break;
            }
            self.latents.swap(n_drawn, rng.random_range(n_drawn..n_latents));
            let latent = self.latents[n_drawn];
            self.sort(latent, start, end);
            let (first, last) = (self.places[0], self.places[self.places.len() - 1]);
            if self.table.columns[latent].is_apart(first as usize, last as usize) {
                has_moving = true;
                self.walk(latent, whole, &mut best);
            }
        }
        best
    }

    /// The places of the node's rows among the latent's values, in ascending order.
    fn sort(&mut self, latent: usize, start: usize, end: usize) {
        let ranks = &self.table.columns[latent].ranks;
        let places = self.rows[start..end].iter().map(|&row| ranks[row as usize]);
        self.places.clear();
        if end - start < self.is_in_node.len() / 4 {
            self.places.extend(places);
            self.places.sort_unstable();
            return;
        }
        // With many rows it is quicker to mark all places and to read the marks in order.
        for place in places {
            self.is_in_node[place as usize / 64] |= 1 << (place % 64);
        }
        for (number, word) in self.is_in_node.iter_mut().enumerate() {
            while *word != 0 {
                self.places.push(number as u32 * 64 + word.trailing_zeros());
                *word &= *word - 1;
            }
        }
    }

    /// Tries all places between the node's sorted rows.
    fn walk(&mut self, latent: usize, (n_rows, squares): (i64, i64), best: &mut Option<Best>) {
        let column = &self.table.columns[latent];
        let mut highest = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.proxy);
        let (mut n_left, mut squares_left, mut squares_right) = (0, 0, squares);
        let (right_side, left_side) = (self.right_side % 2, (self.right_side + 1) % 2);
        let mut before = self.places[0] as usize;
        for &place in &self.places {
            let place = place as usize;
            if column.is_apart(before, place) {
                let (left, right) = (n_left as f64, (n_rows - n_left) as f64);
                let (of_left, of_right) = (squares_left as f64, squares_right as f64);
                // Most places are refused without a division.
                if of_left * right + of_right * left >= highest * left * right * (1.0 - 1e-12) {
                    let proxy = of_left / left + of_right / right;
                    if proxy > highest {
                        highest = proxy;
                        *best = Some(Best { proxy, latent, threshold: column.threshold(before, place) });
                    }
                }
            }
            let Drawn { class, n_times } = self.drawn[column.rows[place] as usize];
            let n_times = i64::from(n_times);
            let counts = &mut self.counts[class as usize];
            squares_left += n_times * (2 * counts[left_side] + n_times);
            squares_right -= n_times * (2 * counts[right_side] - n_times);
            counts[left_side] += n_times;
            counts[right_side] -= n_times;
            n_left += n_times;
            before = place;
        }
        // All rows are on the left now, which the next latent calls right.
        self.right_side = left_side;
    }

    /// Adds the shares of the classes that a node's rows have, whose counts are spent.
    fn add_shares(&mut self, start: usize, end: usize, n_rows: i64) -> Part {
        let first = self.tree.shares.len() as u32;
        for &row in &self.rows[start..end] {
            let class = self.drawn[row as usize].class as usize;
            // A class is added at its first row.
            let count = mem::take(&mut self.counts[class][self.right_side]);
            if count > 0 {
                self.tree.shares.push((class, count as f64 / n_rows as f64));
            }
        }
        Part { start: first, end: self.tree.shares.len() as u32 }
    }

    /// Adds a split and moves the rows that go right behind those that go left.
    fn add_split(&mut self, start: usize, end: usize, best: &Best, shares: Part) -> usize {
        let threshold = best.threshold;
        self.tree.nodes.push(TreeNode::Split { latent: best.latent as u32, right: 0, threshold, shares });
        let values = &self.table.columns[best.latent].values;
        let is_right = |row: u32| values[row as usize] > threshold;
        start + partition(&mut self.rows[start..end], &mut self.right, is_right)
    }
}
