"""Time all contestants on all batches, and write the tables of ``README.md`` here.

``make bench``, or ``python -m benchmarks [--only WORD]``; takes about twenty minutes.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.batches import SIZES
from benchmarks.contestants import CONTESTANTS
from benchmarks.marks import write_between

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "pooling.csv"
FIELDS = ["batch", "contestant", "milliseconds", "times_floor", "mebibytes", "rounds", "failed"]
TIME_LIMIT = 120
PEERS = ["GMT(64)", "SetTransformer", "MemPooling(64)", "DiffPool(64), dense"]

Row = dict[str, str]


def measure(batch: str, contestant: str) -> Row:
    command = [sys.executable, "-m", "benchmarks.measure", batch, contestant]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"batch": batch, "contestant": contestant, "failed": "time"}
    if done.returncode != 0:
        raise SystemExit(f"{contestant} on {batch} failed:\n{done.stderr}")
    result: Row = json.loads(done.stdout.splitlines()[-1])
    return result


def cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row.get("failed") == "memory":
        return "> 16 GiB"
    if row.get("failed") == "time":
        return f"> {TIME_LIMIT} s"
    return f"{float(row['milliseconds']):,.1f} ({float(row['times_floor']):.2f})"


def table(rows: dict[tuple[str, str], Row]) -> list[str]:
    head = ["| | " + " | ".join(SIZES) + " |", "|---|" + "--:|" * len(SIZES)]
    body = [
        f"| {name} | " + " | ".join(cell(rows.get((batch, name))) for batch in SIZES) + " |"
        for name in CONTESTANTS
    ]
    return head + body


def speed_ups(rows: dict[tuple[str, str], Row]) -> list[str]:
    """Return how many times longer than ``LFDSPool loop`` each peer takes."""
    lines = ["| | " + " | ".join(SIZES) + " |", "|---|" + "--:|" * len(SIZES)]
    for name in PEERS:
        cells = []
        for batch in SIZES:
            peer, own = rows.get((batch, name)), rows.get((batch, "LFDSPool loop"))
            if peer is None or own is None or peer.get("failed"):
                cells.append(cell(peer))
            else:
                cells.append(f"{float(peer['times_floor']) / float(own['times_floor']):.1f}x")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def growth(rows: dict[tuple[str, str], Row], name: str) -> float:
    """Return the power of the number of nodes with which the time grows, from 10^4 to 10^6."""
    first, last = (float(rows[f"one of 10^{power}", name]["milliseconds"]) for power in (4, 6))
    return math.log10(last / first) / 2


def memory(rows: dict[tuple[str, str], Row]) -> list[str]:
    lines = ["| one graph of 10^6 nodes | MiB beyond input and gradient |", "|---|--:|"]
    for name in CONTESTANTS:
        row = rows.get(("one of 10^6", name))
        if row is not None and not row.get("failed"):
            lines.append(f"| {name} | {float(row['mebibytes']):,.0f} |")
    return lines


def write_tables(rows: dict[tuple[str, str], Row]) -> None:
    grown = ", ".join(
        f"{name} {growth(rows, name):.2f}"
        for name in ("distribute", "LFDSPool loop", "LFDSPool loop, low memory")
    )
    text = "\n".join(
        [
            f"torch {torch.__version__}, one thread, 64 channels, 64 slots, float32,",
            "forward and backward, median milliseconds (and times the floor, in the same rounds).",
            "",
            *table(rows),
            "",
            "Times longer than `LFDSPool loop`:",
            "",
            *speed_ups(rows),
            "",
            f"Growth of the time with the number of nodes, 10^4 to 10^6, as a power: {grown}.",
            "",
            *memory(rows),
        ]
    )
    write_between(HERE / "README.md", "pooling", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="contestants or batches with this in the name")
    only = parser.parse_args().only
    rows: dict[tuple[str, str], Row] = {}
    if RESULTS.exists():
        with RESULTS.open() as file:
            rows = {(row["batch"], row["contestant"]): row for row in csv.DictReader(file)}
    for batch in SIZES:
        for name in CONTESTANTS:
            if only in batch or only in name:
                rows[batch, name] = measure(batch, name)
                print(f"{batch:14} {name:28} {cell(rows[batch, name])}", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))
    write_tables(rows)


if __name__ == "__main__":
    main()
