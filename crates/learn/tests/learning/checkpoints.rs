//! Checkpoints that cannot be read say why.

use crate::support::Parts;
use unbraid_data::ImageShape;
use unbraid_learn::{Learner, checkpoint};

fn learner(network: &str, settings: &str) -> Learner {
    let shape = ImageShape { height: 1, width: 1, channels: 3 };
    Parts::new(("vae", ""), (network, settings), shape).learner()
}

fn message(bytes: &[u8], into: &mut Learner) -> String {
    checkpoint::read(bytes, into).unwrap_err().to_string()
}

#[test]
fn a_checkpoint_of_another_architecture_is_refused() {
    let two = checkpoint::write(&learner("linear", "latents = 2"), "").unwrap();
    let wider = message(&two, &mut learner("linear", "latents = 3"));
    assert!(
        wider.starts_with("the checkpoint belongs to another architecture: parameter \"encoder.outputs."),
        "{wider}"
    );
    let deeper = message(&two, &mut learner("mlp", "latents = 2\nencoder = [4]\ndecoder = [4]"));
    assert!(deeper.contains("the checkpoint has no \"encoder.hidden0.weight\""), "{deeper}");
    let mlp = checkpoint::write(&learner("mlp", "latents = 2\nencoder = [4]\ndecoder = []"), "").unwrap();
    let shallower = message(&mlp, &mut learner("linear", "latents = 2"));
    assert!(shallower.contains("has a parameter \"encoder.hidden0.bias\" and the model has none"), "{shallower}");
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut target = learner("linear", "latents = 2");
    let bytes = checkpoint::write(&target, "").unwrap();
    for length in [0, 4, 60, bytes.len() / 2, bytes.len() - 1] {
        let text = message(&bytes[..length], &mut target);
        assert!(text.starts_with("this is no whole safetensors file"), "{length}: {text}");
    }
}

#[test]
fn a_checkpoint_in_which_one_bit_was_changed_is_refused() {
    let mut target = learner("linear", "latents = 2");
    let bytes = checkpoint::write(&target, "[framework]\nbeta = 0.5\n").unwrap();
    checkpoint::read(&bytes, &mut target).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(checkpoint::read(&changed, &mut target).is_err(), "bit {bit} of {}", bytes.len() * 8);
    }
    let mut weight = bytes.clone();
    *weight.last_mut().unwrap() ^= 1;
    let text = message(&weight, &mut target);
    assert!(text.starts_with("the checkpoint is damaged: its checksum is not that of its contents"), "{text}");
}

#[test]
fn a_checkpoint_of_the_first_format_has_no_checksum_and_is_read() {
    let source = learner("linear", "latents = 2");
    let bytes = checkpoint::write(&source, "seed = 1").unwrap();
    let find = |text: &str| bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let (start, end) = (find(",\\\"checksum"), find("}\"}"));
    // The header says how long it is in its first eight bytes, and ends in spaces.
    let mut first = [&bytes[..start], &bytes[end..]].concat();
    let format = find("format\\\":2") + "format\\\":".len();
    first[format] = b'1';
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) - (end - start) as u64;
    first[..8].copy_from_slice(&length.to_le_bytes());
    assert_eq!(checkpoint::read(&first, &mut learner("linear", "latents = 2")).unwrap(), "seed = 1");
    // In the second format it must be there.
    first[format] = b'2';
    let text = message(&first, &mut learner("linear", "latents = 2"));
    assert!(text.starts_with("the checkpoint is damaged"), "{text}");
}
