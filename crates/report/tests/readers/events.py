"""Reads the event files of a folder by TensorBoard's own reader: once for each line of the input, with what came since.

    python3 events.py FOLDER

Each answer is a line of JSON: for each tag its points.
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={kind: 0 for kind in ("scalars", "images", "tensors")})
for _ in sys.stdin:
    events.Reload()
    tags = events.Tags()
    answer = {
        "scalars": {tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in tags["scalars"]},
        "images": {
            tag: [[e.step, e.width, e.height, e.encoded_image_string.hex()] for e in events.Images(tag)]
            for tag in tags["images"]
        },
        "texts": {
            tag: [[e.step, e.tensor_proto.string_val[0].decode()] for e in events.Tensors(tag)]
            for tag in tags["tensors"]
            if events.SummaryMetadata(tag).plugin_data.plugin_name == "text"
        },
    }
    print(json.dumps(answer), flush=True)
