"""Uploads an offline run by `wandb sync` to a server on this machine, which keeps what arrives.

    python3 sync.py FOLDER

Prints as JSON what a server of W&B would have been told: the run, its rows, its summary and how it ended.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

told = {"rows": []}


class Server(BaseHTTPRequestHandler):
    """Answers the few questions that an upload asks."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({})

    def do_PUT(self):
        self.body()
        self.answer({})

    def do_POST(self):
        body = self.body()
        if self.path.endswith("/graphql"):
            self.answer({"data": self.data(json.loads(body))})
        else:
            if self.path.endswith("/file_stream"):
                keep(json.loads(body))
            self.answer({})

    def body(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def data(self, question):
        variables = question.get("variables") or {}
        if "upsertBucket" in question["query"]:
            told.setdefault("run", [variables["name"], variables["project"], variables["displayName"]])
            told.setdefault("config", json.loads(variables["config"]))
            project = {"id": "cA==", "name": variables["project"], "entity": {"id": "ZQ==", "name": "me"}}
            bucket = {"id": "aWQ=", "name": variables["name"], "displayName": variables["displayName"], "project": project}
            return {"upsertBucket": {"bucket": bucket | {"historyLineCount": 0}, "inserted": True}}
        if "createRunFiles" in question["query"]:
            place = f"http://127.0.0.1:{self.server.server_port}/files/"
            files = [{"name": name, "uploadUrl": place + name} for name in variables["files"]]
            return {"createRunFiles": {"runID": "aWQ=", "uploadHeaders": [], "files": files}}
        return {}

    def answer(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def keep(part):
    files = part.get("files") or {}
    history = files.get("wandb-history.jsonl", {"offset": len(told["rows"]), "content": []})
    assert history["offset"] == len(told["rows"]), (history["offset"], len(told["rows"]))
    told["rows"] += [json.loads(row) for row in history["content"]]
    if "wandb-summary.json" in files:
        told["summary"] = json.loads(files["wandb-summary.json"]["content"][-1])
    if part.get("complete"):
        told["exit"] = part["exitcode"]


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as home:
    own = {"HOME": home, "WANDB_BASE_URL": f"http://127.0.0.1:{server.server_port}", "WANDB_API_KEY": "0" * 40}
    own |= {"WANDB_ERROR_REPORTING": "false", "WANDB_DIR": home, "WANDB_CACHE_DIR": home, "WANDB_CONFIG_DIR": home}
    command = [sys.executable, "-m", "wandb", "sync", sys.argv[1]]
    run = subprocess.run(command, env=os.environ | own, cwd=home, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
print(json.dumps(told))
