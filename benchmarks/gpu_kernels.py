"""Compile all Triton kernels for GPUs, on any machine, and say what they need of one.

    python -m benchmarks.gpu_kernels [--arch 80 90]

No GPU is used: launches are compiled for the architecture that is given, and not run. The table is
written to ``docs/gpu.md``.
"""

import argparse
import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from benchmarks.marks import write_between
from lfds.nn.accel import triton_distribute, triton_kernels, triton_max

PAGE = Path(__file__).parent.parent / "docs" / "gpu.md"
ARCHITECTURES = {80: "A100", 90: "H100"}
SHARED_OF_MULTIPROCESSOR = {80: 164 << 10, 90: 228 << 10}
REGISTERS, MOST_WARPS, MOST_PROGRAMS = 65536, 64, 32  # of a multiprocessor, both architectures
SIZES = (300, 30, 0)


class Variant(NamedTuple):
    """What decides which code a kernel is compiled to."""

    reduction: str = "mass"
    dtype: torch.dtype = torch.float32
    slots: int = 64
    channels: int = 64
    per_graph: bool = False
    weighted: bool = False
    by_mass: bool = False
    tf32: bool = False


class Compiled(NamedTuple):
    """What a kernel takes, compiled; ``stack`` are bytes that do not fit into the registers."""

    kernel: str
    arch: int
    seconds: float
    shared: int
    registers: int
    stack: int
    warps: int

    @property
    def resident_warps(self) -> int:
        """How many warps a multiprocessor runs at a time, of 64."""
        of_a_thread = -(-self.registers // 8) * 8
        programs = min(
            MOST_PROGRAMS,
            MOST_WARPS // self.warps,
            REGISTERS // (of_a_thread * 32 * self.warps),
            SHARED_OF_MULTIPROCESSOR[self.arch] // (self.shared + 1024),
        )
        return programs * self.warps


def variants() -> list[Variant]:
    """Every two branches together in one block, each in several; every type and width."""
    one_block = [
        Variant(reduction, weighted=weighted, by_mass=by_mass)
        for reduction, weighted, by_mass in (
            *(("sum", False, False), ("sum", True, True)),
            *(("mean", False, True), ("mean", True, False)),
            *(("mass", False, False), ("mass", True, True)),
        )
    ]
    one_block += [
        Variant(dtype=torch.bfloat16),
        Variant(dtype=torch.float16, weighted=True),
        Variant(tf32=True),
        Variant(per_graph=True),
        Variant(slots=5, channels=7),
    ]
    wide = Variant(slots=200, channels=200)
    several_blocks = [
        wide._replace(reduction="sum", by_mass=True),
        wide._replace(reduction="mean", weighted=True),
        wide._replace(weighted=True, by_mass=True),
        wide._replace(dtype=torch.bfloat16, per_graph=True),
        wide._replace(dtype=torch.float16, slots=16),
        wide._replace(tf32=True, channels=16),
    ]
    return one_block + several_blocks


class NoGPU:
    """Stands in for triton's driver: says which architecture there is."""

    def __init__(self, arch: int) -> None:
        self.arch = arch

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.arch, 32)

    def get_current_device(self) -> int:
        return self.arch

    def get_current_stream(self, device: int) -> int:
        return 0


@contextmanager
def compiling(arch: int) -> Iterator[list[Compiled]]:
    """Compile what is launched inside instead of running it; what was compiled before is not."""
    found: list[Compiled] = []
    seen: set[int] = set()

    def compile_only(
        kernel: Any, grid: tuple[int, ...], like: Tensor, *given: Any, **constants: Any
    ) -> None:
        begin = _cpu_seconds()
        compiled = kernel.warmup(*given, grid=grid, **constants, **triton_distribute.OPTIONS)
        if id(compiled) not in seen:
            seen.add(id(compiled))
            found.append(_needs(compiled, kernel.__name__, arch, _cpu_seconds() - begin))

    with ExitStack() as stack:
        for module in (triton_distribute, triton_max):
            stack.enter_context(mock.patch.object(module, "launch", compile_only))
        stack.enter_context(mock.patch.object(driver, "_active", NoGPU(arch)))
        yield found


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _needs(compiled: Any, name: str, arch: int, seconds: float) -> Compiled:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        command = [knobs.nvidia.cuobjdump.path, "-res-usage", file.name]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    usage = dict(re.findall(r"(REG|STACK):(\d+)", said))
    metadata = compiled.metadata
    registers, stack = int(usage["REG"]), int(usage["STACK"])
    return Compiled(name, arch, seconds, metadata.shared, registers, stack, metadata.num_warps)


def launch_all(variant: Variant) -> None:
    """Launch everything that a training step launches; results are never read."""
    ptr = torch.tensor([0, *SIZES]).cumsum(0)
    x = torch.zeros(sum(SIZES), variant.channels, dtype=variant.dtype)
    shape = (variant.slots, variant.channels)
    anchors = torch.zeros(*((len(SIZES),) if variant.per_graph else ()), *shape)
    weight = torch.ones(len(x)) if variant.weighted else None
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if variant.tf32 else "highest")
    try:
        slots, mass = triton_distribute.place(x, anchors, ptr, weight, variant.reduction)
        triton_distribute.place_backward(
            torch.zeros_like(slots),
            torch.zeros_like(mass) if variant.by_mass else None,
            *(x, anchors, ptr, weight, slots, mass, variant.reduction),
        )
    finally:
        torch.set_float32_matmul_precision(before)
    largest = triton_max.ragged_max(x, ptr)
    triton_max.ragged_max_backward(largest, x, ptr, largest)


def all_kernels() -> set[str]:
    """The names of all kernels there are."""
    return {
        name
        for module in (triton_kernels, triton_max)
        for name, value in vars(module).items()
        if isinstance(value, JITFunction) and name.endswith("_kernel")
    }


def compile_all(arch: int, chosen: list[Variant]) -> list[Compiled]:
    with compiling(arch) as found:
        for variant in chosen:
            launch_all(variant)
    return found


def table(found: list[Compiled]) -> str:
    lines = [
        "| kernel | GPU | variants | CPU s to compile one | shared memory, KiB | registers "
        "| stack, bytes | resident warps of 64 |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, arch in sorted({(one.kernel, one.arch) for one in found}):
        group = [one for one in found if (one.kernel, one.arch) == (name, arch)]
        cells = [
            f"{sum(one.seconds for one in group) / len(group):.1f}",
            _range([round(one.shared / 1024, 1) for one in group]),
            _range([one.registers for one in group]),
            _range([one.stack for one in group]),
            _range([one.resident_warps for one in group]),
        ]
        chip = f"{ARCHITECTURES.get(arch, '')} (sm_{arch})".strip()
        lines.append(f"| `{name}` | {chip} | {len(group)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _range(values: list[Any]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, nargs="+", choices=ARCHITECTURES, default=[80, 90])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:  # times are those of an empty cache
        os.environ["TRITON_CACHE_DIR"] = cache
        found = [one for arch in arguments.arch for one in compile_all(arch, variants())]
    text = table(found)
    print(text)
    if set(arguments.arch) == set(ARCHITECTURES):
        write_between(PAGE, "gpu kernels", text)


if __name__ == "__main__":
    main()
