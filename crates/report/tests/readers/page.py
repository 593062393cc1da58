"""Starts TensorBoard over a folder of runs, and asks its page as a browser would.

    python3 page.py FOLDER RUN true|false

The last says whether TensorBoard's fast reader, a program of its own, is used. Each line of the input is a tag and how many points are
waited for, up to a minute; the answer is a line of JSON: the steps and values of that tag, and what else is shown by then.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

folder, run, fast = sys.argv[1:]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


def ask(route, **query):
    url = f"http://127.0.0.1:{port}/data/{route}?{urllib.parse.urlencode(query)}"
    try:
        return json.load(urllib.request.urlopen(url, timeout=10))
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


command = [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--host", "127.0.0.1", "--port", str(port)]
command += [f"--load_fast={fast}", "--reload_interval", "1", "--samples_per_plugin", "scalars=5000"]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for line in sys.stdin:
        tag, n_points = line.split()
        deadline = time.monotonic() + 60
        while True:
            points = ask("plugin/scalars/scalars", run=run, tag=tag) or []
            if len(points) >= int(n_points) or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        images = (ask("plugin/images/tags") or {}).get(run, {})
        texts = (ask("plugin/text/tags") or {}).get(run, [])
        answer = {
            "points": [[step, value] for _, step, value in points],
            "images": sorted(images),
            "text": [ask("plugin/text/text", run=run, tag=tag) for tag in texts],
        }
        print(json.dumps(answer), flush=True)
finally:
    server.terminate()
    server.wait()
