"""The page of an atlas: one HTML file that needs nothing else, from numbers alone."""

import base64
import html
import json
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfds.explain.record import AtlasNumbers, GraphView, PoolView

_WIDE_UP_TO = 2_000_000  # shares; a page of more than that has them in one byte instead of two


def page(numbers: AtlasNumbers) -> str:
    """Return the page; shares are rounded to one part in :func:`share_levels`."""
    parts = resources.files("lfds.explain") / "parts"
    scripts = sorted(part.name for part in parts.iterdir() if part.name.endswith(".js"))
    script = "\n".join((parts / name).read_text(encoding="utf-8") for name in scripts)
    filled = {
        "title": html.escape(f"Where the nodes go: {numbers.name}"),
        "style": (parts / "page.css").read_text(encoding="utf-8"),
        "data": safe_json(page_data(numbers)),
        "script": '"use strict";\n(() => {\n' + script + "})();",
    }
    text = (parts / "page.html").read_text(encoding="utf-8")
    head, *rest = text.split("{{")
    return head + "".join(filled[name] + tail for name, tail in (p.split("}}", 1) for p in rest))


def safe_json(data: object) -> str:
    """Return JSON that ends no script element, whatever a class is called."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def share_levels(numbers: AtlasNumbers) -> int:
    """Return the whole number that stands for a share of one: 65535, or 255 in a very large page.

    What the page shows of a share differs from it by at most half of one part in that many.
    """
    count = sum(shares.size for graph in numbers.graphs for shares in graph.shares)
    return 65535 if count <= _WIDE_UP_TO else 255


def packed_shares(shares: NDArray[np.float32], levels: int) -> str:
    """Return shares as base64 of whole numbers from 0 to ``levels``, little-endian."""
    rounded = np.rint(shares.astype(np.float64) * levels)
    return _text(rounded.astype("<u2" if levels > 255 else "u1"))


def page_data(numbers: AtlasNumbers) -> dict[str, Any]:
    """Return what the scripts of the page read."""
    levels = share_levels(numbers)
    return {
        "name": numbers.name,
        "levels": levels,
        "classes": numbers.classes,
        "counts": [len(numbers.members(place)) for place in range(len(numbers.classes))],
        "grouped": numbers.grouped_by_target,
        "total": len(numbers.target),
        "through": numbers.through,
        "pools": [_pool_data(numbers, pool) for pool in numbers.pools],
        "graphs": [_graph_data(numbers, graph, levels) for graph in numbers.graphs],
    }


def _pool_data(numbers: AtlasNumbers, pool: PoolView) -> dict[str, Any]:
    drawing = pool.drawing
    strongest = max(float(np.abs(drawing.basis).max(initial=0)), 1e-12)
    maps = [numbers.class_map(pool, place) for place in range(len(numbers.classes))]
    return {
        "words": drawing.words,
        "note": drawing.note,
        "places": _short(drawing.places, 4),
        "size": drawing.size,
        "outlines": _short(drawing.outlines, 4),
        "labelPlaces": _short(drawing.label_places, 4),
        "edges": drawing.edges.tolist(),
        "weights": _short(drawing.weights, 3),
        "columns": drawing.basis.shape[1],
        "basis": _text(np.rint(drawing.basis / strongest * 127).astype(np.int8)),
        "usage": _short(pool.usage, 6),
        "picked": _short(pool.picked.mean(axis=0), 6),
        "idle": pool.idle.tolist(),
        "beside": pool.beside,
        "classMaps": [None if one is None else _short(one, 6) for one in maps],
    }


def _graph_data(numbers: AtlasNumbers, graph: GraphView, levels: int) -> dict[str, Any]:
    number = graph.number
    pools = [
        {
            "shares": packed_shares(shares, levels),
            "mass": _short(pool.mass[number], 6),
            "picked": _short(pool.picked[number], 6),
            "deciding": _short(deciding, 6),
        }
        for shares, deciding, pool in zip(graph.shares, graph.deciding, numbers.pools, strict=True)
    ]
    return {
        "number": number,
        "target": int(numbers.target[number]),
        "predicted": int(numbers.predicted[number]),
        "probabilities": _short(numbers.probabilities[number], 6),
        "amounts": _known(numbers.amounts[number]),
        "trueAmounts": _known(numbers.true_amounts[number]),
        "dims": graph.xy.shape[1],
        "own": graph.true_place,
        "places": _short(graph.xy, 3),
        "edges": graph.edges.ravel().tolist(),
        "pools": pools,
    }


def _known(values: NDArray[np.float32]) -> list[str | None]:
    """Return numbers as text of six digits; nothing for those that are not known."""
    return [f"{value:.6g}" if np.isfinite(value) else None for value in values]


def _short(values: NDArray[np.floating[Any]], digits: int) -> Any:
    return np.round(values.astype(np.float64), digits).tolist()


def _text(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
