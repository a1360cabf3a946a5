"""The command ``lfds bench``: time poolings on a device, and say what to send back."""

import json
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.options import with_flags
from lfds.config.messages import SpecError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    Contestant = Callable[[Tensor], Tensor]

_PACKAGES = ("lfds", "torch", "torch-geometric", "triton")


def bench(
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, ..., or auto.")] = "auto",
    graphs: Annotated[int, typer.Option(min=1, help="Graphs of a batch.")] = 128,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of a graph, on average.")] = 30,
    slots: Annotated[int, typer.Option(min=2, help="Slots of the structure.")] = 64,
    channels: Annotated[int, typer.Option(min=1, help="Width of the nodes.")] = 64,
    precision: Annotated[str, typer.Option(help="32 or bf16.", metavar="32|bf16")] = "32",
    seconds: Annotated[float, typer.Option(min=0, help="Time for each pooling.")] = 2.0,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="JSON file to write.")] = None,
) -> None:
    """Time a training step of poolings, ours and others, on a device of this machine."""
    from lfds.train.device import resolve_device

    if precision not in ("32", "bf16"):
        raise SpecError(f"--precision: needs 32 or bf16, not {precision!r}")
    try:
        where = resolve_device(device)
    except SpecError as error:
        raise SpecError(with_flags(str(error), {"device": "--device"})) from error
    report: dict[str, Any] = {
        "device": device_name(where),
        "versions": _versions(),
        "batch": {"graphs": graphs, "nodes": nodes, "slots": slots, "channels": channels},
        "precision": precision,
        "rows": [],
    }
    typer.echo(f"{report['device']}, {', '.join(f'{k} {v}' for k, v in _versions().items())}")
    typer.echo(f"{graphs} graphs of {nodes} nodes, {slots} slots x {channels} channels")
    typer.echo(f"{'pooling':<28}{'ms a step':>10}{'peak MB':>9}{'error':>10}")
    for row in measure(where, graphs, nodes, slots, channels, precision, seconds):
        report["rows"].append(row)
        memory = "-" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 1e6:.1f}"
        off = "-" if row["error"] is None else f"{row['error']:.1e}"
        typer.echo(f"{row['pooling']:<28}{1000 * row['seconds']:>10.3f}{memory:>9}{off:>10}")
    if out is not None:
        from lfds.data.atomic_io import atomic_write

        atomic_write(out, json.dumps(report, indent=2).encode() + b"\n")
        typer.echo(f"written to {out}: please attach it to an issue of lfds")


def measure(
    device: "torch.device",
    graphs: int,
    nodes: int,
    slots: int,
    channels: int,
    precision: str,
    seconds: float,
) -> Iterator[dict[str, Any]]:
    """Time every pooling; the error is that of our operator against the CPU in float64."""
    import torch

    from lfds.train.device import autocast

    random = torch.Generator().manual_seed(0)
    sizes = torch.randint(1, 2 * nodes, (graphs,), generator=random)
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    x = torch.randn(int(ptr[-1]), channels, generator=random)
    anchors = torch.randn(slots, channels, generator=random) / channels**0.5
    exact = _exact(x, anchors, ptr)
    nodes_there = x.to(device).requires_grad_()
    for name, run, backend in _contestants(device, ptr.to(device), anchors, slots, channels):
        with backend(), autocast(device, "bf16" if precision == "bf16" else "32"):
            found, taken, peak = _time(run, nodes_there, device, seconds)
        ours = name.startswith("distribute")
        error = float((found.double().cpu() - exact).abs().max()) if ours else None
        yield {"pooling": name, "seconds": taken, "peak_bytes": peak, "error": error}


def _exact(x: "Tensor", anchors: "Tensor", ptr: "Tensor") -> "Tensor":
    from lfds.nn import distribute

    return distribute(x.double(), anchors.double(), ptr, reduction="mean")


def _contestants(
    device: "torch.device", ptr: "Tensor", anchors: "Tensor", slots: int, channels: int
) -> "Iterator[tuple[str, Contestant, Any]]":
    """Yield names, functions of the nodes, and the backend of lfds that they run on."""
    import torch
    from torch_geometric.nn import global_add_pool
    from torch_geometric.nn.aggr import GraphMultisetTransformer
    from torch_geometric.utils import to_dense_batch

    from lfds.nn import LFDSPool, distribute
    from lfds.nn.accel.dispatch import backend_for, use_backend

    graphs, weight = ptr.shape[0] - 1, torch.nn.Parameter(anchors.to(device))
    index = torch.repeat_interleave(ptr.diff())
    pool = LFDSPool(channels, "loop", num_slots=slots).to(device)
    gmt = GraphMultisetTransformer(channels, k=slots, heads=1).to(device)

    def padded(x: "Tensor") -> "Tensor":
        dense, mask = to_dense_batch(x, index, batch_size=graphs)
        share = (dense @ weight.T).softmax(dim=-1) * mask[:, :, None]
        pooled: Tensor = share.mT @ dense
        return pooled

    own = backend_for(weight)
    backends = ["cpu", "batched"] if own == "cpu" else [own, "batched"]
    yield "sum (global_add_pool)", lambda x: global_add_pool(x, index, graphs), _plainly
    for name in dict.fromkeys(backends):
        context = _using(use_backend, name)
        yield (
            f"distribute ({name})",
            lambda x: distribute(x, weight, ptr, reduction="mean"),
            context,
        )
        yield f"LFDSPool ({name})", lambda x: pool(x, ptr=ptr), context
    yield "padded bmm", padded, _plainly
    yield "GMT (PyG)", lambda x: gmt(x, index, dim_size=graphs), _plainly


@contextmanager
def _plainly() -> Iterator[None]:
    yield


def _using(use_backend: Callable[..., Any], name: str) -> Callable[[], Any]:
    return lambda: use_backend(name)


def _time(
    run: "Contestant", x: "Tensor", device: "torch.device", seconds: float
) -> "tuple[Tensor, float, int | None]":
    """Return the output, the median time of a training step and the peak memory of one."""
    import torch

    def step() -> "Tensor":
        x.grad = None
        found = run(x)
        found.float().sum().backward()
        return found.detach()

    def wait() -> None:
        if device.type != "cpu":
            torch.accelerator.synchronize(device)

    for _ in range(3):
        found = step()
    wait()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while not times or (time.perf_counter() < deadline and len(times) < 1000):
        start = time.perf_counter()
        step()
        wait()
        times.append(time.perf_counter() - start)
    peak = None
    if device.type == "cuda":
        peak = torch.cuda.max_memory_allocated(device) - before
    return found, sorted(times)[len(times) // 2], peak


def device_name(device: "torch.device") -> str:
    """Return the name of a device as its maker calls it, where torch knows."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} ({platform.machine()})"


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
