"""Time one contestant on one batch, in turns with the floor, in a process of its own.

Run: python -m benchmarks.measure BATCH CONTESTANT; prints one line of JSON.
The floor runs before and after every round of the contestant, so that a ratio compares what ran
within the same second, whatever else the machine is doing.
"""

import json
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message="`torch.jit.script` is deprecated")

import torch  # noqa: E402
from torch import nn  # noqa: E402

from benchmarks.batches import Batch, make_batch  # noqa: E402
from benchmarks.contestants import CONTESTANTS  # noqa: E402

MEMORY_LIMIT = 16 * 2**30
SECONDS = 8.0  # of timing; one round is always run
GRADIENTS: dict[torch.Size, torch.Tensor] = {}


def step(model: nn.Module, batch: Batch) -> None:
    """Run one forward and backward pass; gradients are new each time, as in training."""
    model.zero_grad()
    batch.x.grad = None
    out = model(batch)
    if out.shape not in GRADIENTS:  # drawing the output's gradient is not timed
        GRADIENTS[out.shape] = torch.randn_like(out)
    out.backward(GRADIENTS[out.shape])


def seconds(model: nn.Module, batch: Batch) -> float:
    start = time.perf_counter()
    step(model, batch)
    return time.perf_counter() - start


def rounds(model: nn.Module, floor: nn.Module, batch: Batch) -> tuple[list[float], list[float]]:
    own, ratios = [], []
    for _ in range(2):
        seconds(model, batch)
        before = seconds(floor, batch)
    deadline = time.perf_counter() + SECONDS
    while len(own) < 40 and (not own or time.perf_counter() < deadline):
        own.append(seconds(model, batch))
        after = seconds(floor, batch)
        ratios.append(own[-1] / ((before + after) / 2))
        before = after
    return own, ratios


def peak_memory(model: nn.Module, batch: Batch) -> int:
    """Return the bytes of a step beyond those before it and those of the gradient of the nodes."""
    model.zero_grad()
    batch.x.grad = None
    Path("/proc/self/clear_refs").write_text("5")  # Linux: reset the peak
    before = _status("VmRSS")
    step(model, batch)
    return _status("VmHWM") - before - batch.x.nbytes


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}; memory is measured on Linux only")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    torch.manual_seed(0)
    batch_name, name = sys.argv[1:]
    batch = make_batch(batch_name)
    batch.x.requires_grad_()
    model, floor = CONTESTANTS[name](), CONTESTANTS["floor"]()
    try:
        memory = peak_memory(model, batch)
        own, ratios = rounds(model, floor, batch)
    except (RuntimeError, MemoryError) as error:
        if "alloc" not in str(error) and "memory" not in str(error):
            raise
        print(json.dumps({"batch": batch_name, "contestant": name, "failed": "memory"}))
        return
    result = {
        "batch": batch_name,
        "contestant": name,
        "milliseconds": round(1e3 * statistics.median(own), 3),
        "times_floor": round(statistics.median(ratios), 3),
        "mebibytes": round(memory / 2**20, 1),
        "rounds": len(own),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
