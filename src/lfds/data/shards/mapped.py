"""Tensors of many files, mapped into memory and read as if they were one.

A batch of random graphs touches nearly every part. A loop over the parts would cost many times
what the graphs cost, so that rows are taken from all of them at once: numpy sees the address space
of the process as one array, in which each mapped tensor begins at a known place.  Nothing of that
array is touched but the rows that are asked for, and those who ask check that they are inside of a
tensor.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from lfds.config.strict_json import strict_json
from lfds.data.edges import Ints
from lfds.data.errors import DataError, check_regular, reading

_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "F32": np.dtype("<f4"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
}
# Never mapped, so that an address of 0 stands for no tensor at all.
_FIRST_ADDRESS: Final = 4096
_ADDRESSES: Final = 2**47 - 2 * _FIRST_ADDRESS
_MAX_HEADER: Final = 100_000_000
_REMEDY = "copy or convert it again"


class _AddressSpace:
    """The memory of this process as an array of numbers of one type."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "data": (_FIRST_ADDRESS, True),
            "shape": (_ADDRESSES // dtype.itemsize,),
            "typestr": dtype.str,
            "version": 3,
        }


_FLAT: Final = {dtype: np.asarray(_AddressSpace(dtype)) for dtype in _DTYPES.values()}


@dataclass(frozen=True)
class Field:
    """What a tensor needs to be.

    Attributes:
        dtype: Type of its numbers.
        columns: Number of columns; ``None`` for one dimension.
    """

    dtype: np.dtype[Any]
    columns: int | None = None

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return 1 if self.columns is None else self.columns


class MappedTensors:
    """The tensors of safetensors files, one file for each part.

    Args:
        fields: The tensors that are used; each file needs them, unless they have no columns.
        count: Number of parts.
    """

    def __init__(self, fields: Mapping[str, Field], count: int) -> None:
        self._fields = dict(fields)
        self._first = {name: np.zeros(count, dtype=np.int64) for name in fields}
        self._rows = {name: _every_row(field) for name, field in fields.items()}
        self._files: dict[int, NDArray[np.uint8]] = {}
        self.mapped = np.zeros(count, dtype=bool)

    def open(self, part: int, path: Path, rows: Mapping[str, int], size: int | None = None) -> None:
        """Map a file.

        Args:
            part: The number of the part.
            path: The file.
            rows: The rows that each tensor needs.
            size: The bytes that the file needs; ``None`` for any.
        """
        content = _mapped(path, size)
        places = _places(content, path)
        address = content.ctypes.data - _FIRST_ADDRESS
        for name, field in self._fields.items():
            if field.width and rows[name]:
                start = _checked(name, field, rows[name], places, path)
                self._first[name][part] = (address + start) // field.dtype.itemsize
        self._files[part] = content  # mapped as long as this is there
        self.mapped[part] = True

    def first(self, name: str, parts: Ints) -> Ints:
        """Return where the tensor of some parts begins; only for parts that are mapped."""
        return self._first[name].take(parts)

    def take(self, name: str, places: Ints) -> NDArray[Any]:
        """Return the rows that begin at ``places``: :meth:`first`, and the numbers before them."""
        columns = self._fields[name].columns
        rows = self._rows[name]
        if columns is None:
            return rows.take(places)
        if columns == 1:
            return rows.take(places)[:, None]
        return rows[places]

    def whole(self, name: str, part: int, rows: int) -> NDArray[Any]:
        """Return all rows of a tensor of a part, without a copy."""
        field = self._fields[name]
        start, count = int(self._first[name][part]), rows * field.width
        flat = _FLAT[field.dtype][start : start + count] if count else np.empty(0, field.dtype)
        return flat if field.columns is None else flat.reshape(rows, field.columns)


def _every_row(field: Field) -> NDArray[Any]:
    """Return what can be a row of a tensor: the one that begins at number i in row i."""
    flat = _FLAT[field.dtype]
    if field.width == 1:
        return flat
    # Rows overlap with their neighbors.
    step, shape = field.dtype.itemsize, (len(flat) - field.width, field.width)
    return as_strided(flat, shape, (step, step), writeable=False)


def _mapped(path: Path, size: int | None) -> NDArray[np.uint8]:
    with reading(path):
        check_regular(path)
        found = path.stat().st_size
        if size is not None and found != size:
            raise DataError(
                f"has {found:,} bytes where {size:,} are needed: it was changed or is truncated; "
                f"{_REMEDY}",
                source=path,
            )
        with path.open("rb") as file:
            try:
                return np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8)
            except ValueError:  # a file of length 0
                raise DataError(f"is empty; {_REMEDY}", source=path) from None


def _places(content: NDArray[np.uint8], path: Path) -> dict[str, tuple[str, list[int], int]]:
    """Return type, shape and first byte of each tensor of a safetensors file."""
    try:
        (length,) = struct.unpack("<Q", content[:8].tobytes())
        if length > min(_MAX_HEADER, len(content) - 8):
            raise ValueError("its header is longer than the file")
        header = strict_json(content[8 : 8 + length].tobytes())
        found = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            shape = [int(rows) for rows in entry["shape"]]
            dtype = _DTYPES[entry["dtype"]]
            if min(shape, default=0) < 0 or end - begin != int(np.prod(shape)) * dtype.itemsize:
                raise ValueError(f"{name} has another length than its shape")
            first = 8 + length + begin
            if begin < 0 or 8 + length + end > len(content) or first % dtype.itemsize:
                raise ValueError(f"{name} is not inside of the file")
            found[name] = (entry["dtype"], shape, first)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
        problem = f"cannot be read as safetensors ({error})"
        raise DataError(f"{problem}; {_REMEDY}", source=path) from error
    return found


def _checked(
    name: str,
    field: Field,
    rows: int,
    places: Mapping[str, tuple[str, list[int], int]],
    path: Path,
) -> int:
    """Return the first byte of a tensor, or raise if it is not as the manifest says."""
    need = [rows] if field.columns is None else [rows, field.columns]
    if name not in places:
        raise DataError(f"lacks {name}; {_REMEDY}", source=path)
    dtype, shape, start = places[name]
    if _DTYPES[dtype] != field.dtype or shape != need:
        raise DataError(
            f"{name} needs {field.dtype.name} of shape {need}, as the manifest says, not "
            f"{_DTYPES[dtype].name} of shape {shape}; {_REMEDY}",
            source=path,
        )
    return start
