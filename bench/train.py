"""Compares unbraid with PyTorch on the same training steps, and prints how many times as fast it is.

Three contenders run all cases in turn, each in a process of its own: PyTorch as installed, PyTorch at its best, and
unbraid. That makes a round; the next begins with another contender, so that whatever else the machine does hits all
alike. A ratio is taken within each round, and the median over rounds is what is printed.

    python3 bench/train.py --rounds 5 --seconds 2

Needs nothing but Python; PyTorch is installed into bench/.venv by the first run. See bench/README.md.
"""

import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKER = HERE / "train_torch.py"
REQUIREMENTS = ["torch==2.15.0", "numpy==2.4.6"]

CONV_CASES = ["conv.b64.c1", "conv.b256.c1", "conv.b64.c3", "conv.b256.c3"]
ENCODE_CASES = ["encode.c1", "encode.c3"]
CASES = [*CONV_CASES, *ENCODE_CASES, "mlp.b256"]

INSTALLED, BEST, UNBRAID = "PyTorch as installed", "PyTorch at its best", "unbraid"
CONTENDERS = [INSTALLED, BEST, UNBRAID]
# Makes glibc keep the memory of a step for the next one, rather than give it back and fetch its pages again.
KEEP_PAGES = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
}


class Problem(Exception):
    """Something the user can put right, told in one line."""


def main():
    arguments = parse_arguments()
    check_unbraid(arguments.unbraid)
    python = prepare_venv(arguments.venv)
    rounds = [run_round(index, arguments, python) for index in range(arguments.rounds)]
    results = summarise(rounds, arguments.cases)
    results["machine"] = machine_facts(arguments.threads, rounds)
    print("\n".join(facts_lines(results["machine"])) + "\n")
    print("\n".join(text_table(results)))
    if arguments.markdown:
        print("\n" + "\n".join(markdown_table(results)))
    if arguments.json:
        write_json(arguments.json, {**results, "rounds": rounds})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender runs (5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each case is timed in a round (2)")
    parser.add_argument("--cases", default=",".join(CASES), help="names with commas between (all)")
    parser.add_argument("--threads", type=int, default=available_cores(), help="threads of each contender (all cores)")
    parser.add_argument("--unbraid", type=Path, default=HERE.parent / "target/release/unbraid", help="the binary")
    parser.add_argument("--venv", type=Path, default=HERE / ".venv", help="where PyTorch is, or will be installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every number of every round")
    parser.add_argument("--markdown", action="store_true", help="also print the table as Markdown")
    arguments = parser.parse_args()
    arguments.cases = list(dict.fromkeys(arguments.cases.split(",")))
    for case in arguments.cases:
        if case not in CASES:
            raise Problem(f'no case is called "{case}"; there are {", ".join(CASES)}')
    for name in ["rounds", "threads"]:
        if getattr(arguments, name) < 1:
            raise Problem(f"--{name} is {getattr(arguments, name)}; wanted 1 or more")
    if not 0 < arguments.seconds <= 3600:
        raise Problem(f"--seconds is {arguments.seconds:g}; wanted more than 0 and at most 3600")
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        raise Problem(f"{arguments.json} cannot be written: there is no folder {arguments.json.absolute().parent}")
    return arguments


def available_cores():
    """The cores this process may use; the affinity is known on Linux only."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_unbraid(binary):
    if not binary.is_file():
        raise Problem(f"there is no {binary}; run `cargo build --release`, or name the binary with --unbraid")


def prepare_venv(venv):
    """The Python of the venv, which has the pinned torch when this returns."""
    python = venv.absolute() / "bin" / "python"
    if not python.exists():
        if venv.exists():
            raise Problem(f"{venv} is not a virtual environment; delete it, or name another with --venv")
        tell(f"creating {venv}")
        output_of([sys.executable, "-m", "venv", str(venv)], f"the virtual environment {venv} cannot be created")
    wanted = REQUIREMENTS[0].partition("==")[2]
    found = installed_torch(python)
    if not found:
        tell(f"installing {' '.join(REQUIREMENTS)} into {venv}; this downloads a lot")
        pip = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS]
        output_of(pip, f"pip cannot install {' '.join(REQUIREMENTS)}")
    elif found.partition("+")[0] != wanted:
        raise Problem(f"{venv} has torch {found} but {wanted} is wanted; delete it, or name another with --venv")
    return python


def installed_torch(python):
    """The version of torch that this Python has, or an empty string."""
    code = (
        "from importlib.metadata import distributions\n"
        "print(next((found.version for found in distributions() if found.metadata['Name'] == 'torch'), ''))"
    )
    return output_of([str(python), "-c", code], f"{python} does not run").strip()


def run_round(index, arguments, python):
    """What each contender says, `{contender: answer}`; the order rotates with the index of the round."""
    first = index % len(CONTENDERS)
    answers = {}
    for contender in CONTENDERS[first:] + CONTENDERS[:first]:
        began = time.monotonic()
        answers[contender] = run_contender(contender, arguments, python)
        took = time.monotonic() - began
        tell(f"round {index + 1} of {arguments.rounds}: {contender}, {took:.0f} s")
    return answers


def run_contender(contender, arguments, python):
    """Runs all cases: `{"rates": {case: images per second}}` and what else the contender tells."""
    cases = ["--cases", ",".join(arguments.cases), "--seconds", f"{arguments.seconds:g}"]
    threads = ["--threads", str(arguments.threads)]
    torch = [str(python), str(WORKER), *threads, *cases]
    command, extra_environment = {
        INSTALLED: (torch, {}),
        BEST: ([*torch, "--channels-last", "--fused-adam"], KEEP_PAGES),
        UNBRAID: ([str(arguments.unbraid.absolute()), *threads, "bench", "train", "--json", *cases], {}),
    }[contender]
    output = output_of(command, f"{contender} failed", {**clean_environment(), **extra_environment})
    answer = read_answer(contender, output)
    rates = answer["rates"]
    for case in arguments.cases:
        if not is_positive(rates.get(case)):
            raise Problem(f'{contender} gives {rates.get(case)} for case "{case}"; wanted images per second')
    return answer


def read_answer(contender, output):
    """Reads the JSON that a contender printed. Unbraid's has the cases at the top, beside what it says of the peak."""
    try:
        answer = json.loads(output)
        if contender != UNBRAID:
            return answer
        shares, peak = answer.pop("share_of_peak"), answer.pop("peak_gflops")
        answer.pop("share_of_peak_by_definition", None)
        return {"rates": answer, "share_of_peak": dict(shares), "peak_gflops": float(peak)}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        wanted = 'wanted a JSON object of cases, "share_of_peak" and "peak_gflops"'
        raise Problem(f"{contender} printed {output[:200]!r}; {wanted} ({type(error).__name__}: {error})") from error


def clean_environment():
    """This environment without settings of the allocator, which are part of what is compared."""
    allocator = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if not name.startswith(allocator)}


def is_positive(rate):
    return isinstance(rate, (int, float)) and math.isfinite(rate) and rate > 0


def output_of(command, problem, environment=None):
    """Runs a command to its end and gives what it printed; if it fails, the problem and its stderr are told."""
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise Problem(f"{problem}: {error}") from error
    if done.returncode != 0:
        stderr = done.stderr.strip() or done.stdout.strip() or "it printed nothing"
        raise Problem(f"{problem} (exit status {done.returncode}):\n{stderr}")
    return done.stdout


def summarise(rounds, cases):
    """Medians over rounds for each case, and geometric means over kinds of cases."""
    rows = {case: summarise_case(rounds, case) for case in cases}
    means = {}
    for name, kind in [("conv", CONV_CASES), ("encode", ENCODE_CASES)]:
        ran = [case for case in kind if case in rows]
        if len(ran) > 1:
            means[f"geometric mean of {len(ran)} {name} cases"] = {
                rival: statistics.geometric_mean(rows[case]["ratios"][rival] for case in ran)
                for rival in [INSTALLED, BEST]
            }
    return {"cases": rows, "geometric_means": means}


def summarise_case(rounds, case):
    """Images per second of each contender, unbraid's ratio to its rivals and its share of the machine's peak."""
    rates = {contender: [answers[contender]["rates"][case] for answers in rounds] for contender in CONTENDERS}
    ratios = {
        rival: statistics.median(ours / theirs for ours, theirs in zip(rates[UNBRAID], rates[rival]))
        for rival in [INSTALLED, BEST]
    }
    shares = [answers[UNBRAID]["share_of_peak"].get(case) for answers in rounds]
    return {
        "images_per_second": {contender: statistics.median(rates[contender]) for contender in CONTENDERS},
        "ratios": ratios,
        "share_of_peak": None if None in shares else statistics.median(shares),
    }


def machine_facts(threads, rounds):
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "threads": threads,
        "peak_gflops": statistics.median(answers[UNBRAID]["peak_gflops"] for answers in rounds),
        "torch": rounds[0][INSTALLED]["torch"],
        "date": datetime.date.today().isoformat(),
        "rounds": len(rounds),
    }


def cpu_model():
    """The processor's name where Linux tells it, else what Python knows."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def facts_lines(facts):
    return [
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads each, "
        f"peak {facts['peak_gflops']:.0f} GFLOP/s measured by unbraid",
        f"torch {facts['torch']}, {facts['date']}, median of {facts['rounds']} rounds, images per second",
    ]


def table_rows(results):
    """The cells of the table as text, heading first."""
    yield ["case", "torch", "torch best", "unbraid", "vs torch", "vs best", "of peak"]
    for case, row in results["cases"].items():
        rates = [f"{row['images_per_second'][contender]:.0f}" for contender in CONTENDERS]
        share = row["share_of_peak"]
        yield [case, *rates, *ratio_cells(row["ratios"]), "-" if share is None else f"{share:.0%}"]
    for name, ratios in results["geometric_means"].items():
        yield [name, "", "", "", *ratio_cells(ratios), ""]


def ratio_cells(ratios):
    return [f"{ratios[rival]:.2f}x" for rival in [INSTALLED, BEST]]


def text_table(results):
    """The table in columns: names to the left, numbers to the right."""
    return text_table_of(list(table_rows(results)))


def text_table_of(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, *numbers in rows:
        cells = [number.rjust(width) for number, width in zip(numbers, widths[1:])]
        yield "  ".join([name.ljust(widths[0]), *cells]).rstrip()


def markdown_table(results):
    """The same table for docs/performance.md, with the facts of the machine above it."""
    heading, *rows = table_rows(results)
    yield " ".join(line + "." for line in facts_lines(results["machine"]))
    yield ""
    yield f"| {' | '.join(heading)} |"
    yield "|---|" + "---:|" * (len(heading) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def write_json(path, results):
    try:
        path.write_text(json.dumps(results, indent=2) + "\n")
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error}") from error


def tell(line):
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"error: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
