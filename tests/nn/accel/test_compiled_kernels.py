"""The Triton kernels compile for GPUs, and fit on them; no GPU is needed for that."""

import pytest
import torch

pytest.importorskip("triton")

from benchmarks import gpu_kernels
from benchmarks.gpu_kernels import Variant

pytestmark = pytest.mark.plain


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def assert_fits(found):
    for one in found:
        # All operands at once in registers took 11,000 bytes of stack: each product chunk by chunk.
        assert one.stack <= 256, one
        assert one.shared <= 64 << 10, one
        assert one.resident_warps >= 8, one


def test_a_variant_in_low_precision_compiles():
    found = gpu_kernels.compile_all(80, [Variant("sum", torch.bfloat16, 16, 16)])
    assert {"place_kernel", "backward_kernel", "max_kernel"} <= {one.kernel for one in found}
    assert_fits(found)


@pytest.mark.slow
@pytest.mark.parametrize("arch", gpu_kernels.ARCHITECTURES)
def test_every_variant_of_every_kernel_compiles(arch):
    found = gpu_kernels.compile_all(arch, gpu_kernels.variants())
    assert {one.kernel for one in found} == gpu_kernels.all_kernels()
    assert_fits(found)
