//! How a run tells what it is doing, and hears that it should stop.

/// Whoever looks on while a run goes on.
pub trait Watch {
    /// A stage begins, with so much to do (steps, images; 0 where it is not counted).
    fn stage(&mut self, name: &str, total: u64);

    /// So much of the stage is done.
    fn progress(&mut self, done: u64);

    /// The next piece of the stage begins, which has a name.
    fn next_item(&mut self, name: &str);

    /// A training step was taken: how many are done, the loss, and how many images the step learned from.
    fn step(&mut self, done: u64, loss: f32, images: u64);

    /// Something worth a line.
    fn note(&mut self, text: &str);

    /// Whether the user asked to stop; the run then saves itself and ends.
    fn should_stop(&self) -> bool;
}

/// Nobody looks on, and nobody stops it.
pub struct Nobody;

impl Watch for Nobody {
    fn stage(&mut self, _name: &str, _total: u64) {}

    fn progress(&mut self, _done: u64) {}

    fn next_item(&mut self, _name: &str) {}

    fn step(&mut self, _done: u64, _loss: f32, _images: u64) {}

    fn note(&mut self, _text: &str) {}

    fn should_stop(&self) -> bool {
        false
    }
}
