"""The page of an atlas: one self-contained HTML file."""

import base64
import html
import json
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfds.explain.record import AtlasNumbers, GraphView, Neighbourhood, PoolView

_TWO_BYTES_UP_TO = 2_000_000  # shares; a larger page stores them in one byte each


def render_page(numbers: AtlasNumbers) -> str:
    """Return the page; shares are rounded to one part in :func:`share_levels`."""
    folder = resources.files("lfds.explain") / "template"
    scripts = sorted(file.name for file in folder.iterdir() if file.name.endswith(".js"))
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in scripts)
    filled = {
        "title": html.escape(f"Where the nodes go: {numbers.name}"),
        "style": (folder / "page.css").read_text(encoding="utf-8"),
        "data": safe_json(page_data(numbers)),
        "script": '"use strict";\n(() => {\n' + script + "})();",
    }
    text = (folder / "page.html").read_text(encoding="utf-8")
    head, *rest = text.split("{{")
    return head + "".join(filled[name] + tail for name, tail in (p.split("}}", 1) for p in rest))


def safe_json(data: object) -> str:
    """Return JSON that cannot close its script element, whatever the name of a class."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def share_levels(numbers: AtlasNumbers, two_bytes_up_to: int = _TWO_BYTES_UP_TO) -> int:
    """Return the integer that stands for a share of one: 65535, or 255 in a very large page.

    Shares in the page differ from the true ones by at most half of one part in that many.
    """
    count = sum(shares.size for graph in numbers.graphs for shares in graph.shares)
    return 65535 if count <= two_bytes_up_to else 255


def packed_shares(shares: NDArray[np.float32], levels: int) -> str:
    """Return shares as base64 of little-endian integers from 0 to ``levels``."""
    rounded = np.rint(shares.astype(np.float64) * levels)
    return _base64(rounded.astype("<u2" if levels > 255 else "u1"))


def page_data(numbers: AtlasNumbers, levels: int | None = None) -> dict[str, Any]:
    """Return the data that the scripts of the page read.

    Args:
        numbers: Those of the atlas.
        levels: See :func:`share_levels`.
    """
    levels = share_levels(numbers) if levels is None else levels
    return {
        "name": numbers.name,
        "levels": levels,
        "classes": numbers.classes,
        "counts": [len(numbers.members(place)) for place in range(len(numbers.classes))],
        "grouped": numbers.grouped_by_target,
        "total": len(numbers.target),
        "headChannels": numbers.head_channels,
        "legend": numbers.legend,
        "legendTitle": numbers.legend_title,
        "overall": _rounded(numbers.overall, 4),
        "first": numbers.first,
        "pools": [_pool_data(numbers, pool) for pool in numbers.pools],
        "graphs": [_graph_data(numbers, graph, levels) for graph in numbers.graphs],
    }


def _pool_data(numbers: AtlasNumbers, pool: PoolView) -> dict[str, Any]:
    drawing = pool.drawing
    strongest = max(float(np.abs(drawing.basis).max(initial=0)), 1e-12)
    maps = [numbers.class_map(pool, place) for place in range(len(numbers.classes))]
    return {
        "title": drawing.title,
        "note": drawing.note,
        "positions": _rounded(drawing.positions, 4),
        "size": drawing.size,
        "outlines": _rounded(drawing.outlines, 4),
        "labelPositions": _rounded(drawing.label_positions, 4),
        "edges": drawing.edges.tolist(),
        "weights": _rounded(drawing.weights, 3),
        "columns": drawing.basis.shape[1],
        "basis": _base64(np.rint(drawing.basis / strongest * 127).astype(np.int8)),
        "usage": _rounded(pool.usage, 6),
        "picked": _rounded(pool.picked.mean(axis=0), 6),
        "idle": pool.idle.tolist(),
        "extraReadout": pool.extra_readout,
        "topographicError": pool.topographic_error,
        "randomError": pool.random_error,
        "typical": [
            [
                {"share": round(share, 4), "graph": graph, "node": node, **_hood_data(hood)}
                for (share, graph, node), hood in zip(some, hoods, strict=True)
            ]
            for some, hoods in zip(pool.typical, pool.neighbourhoods, strict=True)
        ],
        "mix": _rounded(pool.mix, 4),
        "classMaps": [None if one is None else _rounded(one, 6) for one in maps],
    }


def _graph_data(numbers: AtlasNumbers, graph: GraphView, levels: int) -> dict[str, Any]:
    number = graph.number
    pools = [
        {
            "shares": packed_shares(shares, levels),
            "mass": _rounded(pool.mass[number], 6),
            "effects": _rounded(own.T, 4),
        }
        for shares, own, pool in zip(graph.shares, graph.slot_effects, numbers.pools, strict=True)
    ]
    return {
        "number": number,
        "target": int(numbers.target[number]),
        "predicted": int(numbers.predicted[number]),
        "probabilities": _rounded(numbers.probabilities[number], 6),
        "values": _texts(numbers.values[number]),
        "trueValues": _texts(numbers.true_values[number]),
        "dims": graph.positions.shape[1],
        "hasCoordinates": graph.has_coordinates,
        "positions": _rounded(graph.positions, 3),
        "edges": graph.edges.ravel().tolist(),
        "bonds": graph.bonds.tolist() if graph.bonds.any() else [],
        "symbols": graph.symbols if any(graph.symbols) else [],
        "details": graph.details if any(graph.details) else [],
        "category": graph.category.tolist(),
        "scores": _rounded(graph.scores, 4),
        "effects": _rounded(graph.effects.T, 4),
        "exact": graph.exact,
        "beside": _rounded(graph.beside, 4),
        "reference": _rounded(graph.reference, 4),
        "pools": pools,
    }


def _hood_data(hood: Neighbourhood) -> dict[str, Any]:
    return {
        "positions": _rounded(hood.positions, 2),
        "edges": hood.edges.ravel().tolist(),
        "bonds": hood.bonds.tolist() if hood.bonds.any() else [],
        "symbols": hood.symbols,
        "category": hood.category.tolist(),
    }


def _texts(values: NDArray[np.float32]) -> list[str | None]:
    """Return numbers as text of six digits; None for those that are unknown."""
    return [f"{value:.6g}" if np.isfinite(value) else None for value in values]


def _rounded(values: NDArray[np.floating[Any]], digits: int) -> Any:
    return np.round(values.astype(np.float64), digits).tolist()


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
