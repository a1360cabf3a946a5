"""Kernels are compiled where nothing can be kept on disk as well."""

from unittest.mock import patch

import pytest

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

import numba

from lfds.nn.accel.numba_compile import compiled


def test_without_a_folder_to_keep_it_in_a_kernel_is_compiled_all_the_same():
    real = numba.njit

    def nowhere(*args, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    with patch("numba.njit", nowhere):
        doubled = compiled(lambda x: 2 * x)
    assert doubled(21) == 42
