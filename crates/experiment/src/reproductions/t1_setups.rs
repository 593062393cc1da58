//! What T1's experiments are at small scale, where appendix A trains `conv64` in 57,600 steps and more of 256 examples.
//!
//! Models have one hidden layer of 128 units each way and 9 latents, and learn in 3,000 steps of 32 examples, for convolutional ones find one or
//! two of three squares in so short a run. `xy_squares` has two squares on 32 x 32 pixels (4,096 images), `dsprites` the
//! ellipses of one orientation (6,144 images in 3 factors). All images are scored, as ratios along whole traversals need, and by the same metrics, so
//! that figures share their runs.

/// What small scale has in place of the network, the steps and the metrics of appendix A.
pub const SMALL: &str = "
[base]
rows = []
[base.model]
name = 'mlp'
latents = 9
encoder = [128]
decoder = [128]
[base.training]
steps = 3_000
batch_size = 32
checkpoint_every = 1_000
[[base.metrics]]
name = 'mig'
[[base.metrics]]
name = 'dci'
[[base.metrics]]
name = 'distance_correlation'
[[base.metrics]]
name = 'linearity_ratio'
[[base.metrics]]
name = 'axis_ratio'
[[base.metrics]]
name = 'reconstruction'
[[base.metrics]]
name = 'kl'
";

/// What the smoke scale changes of that: sixteen units, twenty steps, and scores that take no time.
pub const SMOKE: &str = "
[base]
rows = 200
[base.model]
encoder = [16]
decoder = [16]
[base.training]
steps = 20
batch_size = 8
checkpoint_every = 10
[[base.metrics]]
name = 'mig'
[[base.metrics]]
name = 'dci'
[[base.metrics]]
name = 'reconstruction'
";

/// The same for figures of distances and ratios, which are of whole traversals: all images are scored.
pub const SMOKE_OF_TRAVERSALS: &str = "
[base.model]
encoder = [16]
decoder = [16]
[base.training]
steps = 20
batch_size = 8
checkpoint_every = 10
[[base.metrics]]
name = 'distance_correlation'
[[base.metrics]]
name = 'linearity_ratio'
[[base.metrics]]
name = 'axis_ratio'
[[base.metrics]]
name = 'mig'
[[base.metrics]]
name = 'reconstruction'
[[base.metrics]]
name = 'kl'
";

/// Two squares on 32 x 32 pixels.
pub const SMALL_SQUARES: &str = "
[base.dataset]
squares = 2
grid = 8
size = 32
";

/// Two squares at four places along each axis, on 16 x 16 pixels.
pub const SMOKE_SQUARES: &str = "
[base.dataset]
squares = 2
grid = 4
size = 16
";

/// The scores of chapter 3, 6 and 7, and how they are shown.
pub const MIG_AND_DCI: [(&str, &str); 2] = [("mig", "MIG"), ("dci", "DCI")];

/// The scores of chapters 4 and 5.
pub const OF_TRAVERSALS: [(&str, &str); 3] =
    [("distance_correlation", "distance correlation"), ("linearity_ratio", "linearity"), ("axis_ratio", "axis ratio")];
