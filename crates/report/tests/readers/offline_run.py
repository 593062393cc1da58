"""Reads a .wandb file by the message classes of the wandb package, in the blocks that LevelDB's log format prescribes.

    python3 offline_run.py FILE

Prints the run, its rows and its summary as JSON.
"""

import json
import struct
import sys
import zlib

from wandb.proto import wandb_internal_pb2

BLOCK_BYTES = 32768


def records(data):
    assert data[:7] == struct.pack("<4sHB", b":W&B", 0xBEE1, 0), data[:7]
    at, record = 7, b""
    while at < len(data):
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < 7:
            assert not any(data[at : at + left])
            at += left
            continue
        checksum, length, kind = struct.unpack("<IHB", data[at : at + 7])
        piece = data[at + 7 : at + 7 + length]
        assert len(piece) == length <= left - 7 and zlib.crc32(bytes([kind]) + piece) == checksum
        assert (kind in (1, 2)) == (record == b"" or kind == 1)
        record, at = record + piece, at + 7 + length
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(record)
            record = b""


def values(items):
    return {item.key: json.loads(item.value_json) for item in items}


answer = {"kinds": [], "rows": []}
for record in records(open(sys.argv[1], "rb").read()):
    kind = record.WhichOneof("record_type")
    if kind == "run":
        run = record.run
        answer["run"] = [run.run_id, run.project, run.display_name, run.host, run.start_time.seconds]
        answer["config"] = values(run.config.update)
    elif kind == "history":
        answer["rows"].append([record.history.step.num, values(record.history.item)])
    elif kind == "summary":
        answer["summary"] = values(record.summary.update)
    elif kind == "exit":
        answer["exit"] = record.exit.exit_code
    if kind not in answer["kinds"]:
        answer["kinds"].append(kind)
print(json.dumps(answer))
