"""``lfds.atlas``: from a fitted model and some graphs to a page, its numbers and its figures."""

import html as escaping
import operator
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lfds.data.atomic_io import atomic_write
from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.input_conversion import Graphs, as_graphs, check_features
from lfds.estimator.regressor import LFDSRegressor
from lfds.explain import ExplainError
from lfds.explain.capture import latent_pools
from lfds.explain.compute import atlas_numbers, in_model_order, with_targets
from lfds.explain.record import AtlasNumbers
from lfds.explain.render import render_page
from lfds.nn import GraphNetwork
from lfds.train.device import resolve_device


@final
@dataclass(frozen=True, eq=False, repr=False)
class Atlas:
    """Where the nodes of graphs land on the latent structures of a model.

    In Jupyter it shows the page.

    Attributes:
        numbers: Everything that the page shows, as arrays.
    """

    numbers: AtlasNumbers

    @cached_property
    def html(self) -> str:
        """The page: self-contained HTML."""
        return render_page(self.numbers)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file."""
        atomic_write(Path(path), self.html.encode())

    def save_figures(self, folder: str | PathLike[str]) -> list[Path]:
        """Write the figures of the page as PNG and SVG to a folder; return their paths."""
        from lfds.explain.figures import write_figures  # matplotlib takes a while to import

        return write_figures(self.numbers, Path(folder))

    def _repr_html_(self) -> str:
        framed = escaping.escape(self.html, quote=True)
        return (
            '<iframe sandbox="allow-scripts" title="Where the nodes go" '
            'style="width:100%;height:900px;border:0" '
            f'srcdoc="{framed}"></iframe>'
        )

    def __repr__(self) -> str:
        numbers = self.numbers
        structures = " and ".join(pool.drawing.title for pool in numbers.pools)
        return (
            f"Atlas({numbers.name!r}, {structures}, {len(numbers.target)} graphs, "
            f"{len(numbers.graphs)} shown; .save('atlas.html'))"
        )


def atlas(
    model: LFDSClassifier | LFDSRegressor,
    graphs: Graphs,
    y: Any = None,
    *,
    show: int | Sequence[int] = 50,
    member: int = 0,
) -> Atlas:
    """Draw where the nodes of graphs land on the latent structures of a fitted model.

    Args:
        model: A fitted estimator, or one that :func:`lfds.load` returned.
        graphs: What ``model.predict`` takes. Maps and usage are averaged over all of them.
        y: Their true classes or values, shown beside the predictions; by default those that the
            graphs carry, if any.
        show: Number of graphs to draw, classes in turn, every second one a graph with much to
            explain: predicted wrongly, or uncertain. Or which graphs, by number.
        member: Which network of an ensemble to look at, counted from 0; predictions are its own.

    >>> import numpy as np
    >>> sets = [np.random.default_rng(k).normal(size=(20, 2)) + (k % 2) for k in range(40)]
    >>> labels = ["left", "right"] * 20
    >>> clf = LFDSClassifier(epochs=2, options={"width": 16}).fit(sets, labels)
    >>> made = atlas(clf, sets, labels, show=[3, 8])
    >>> made
    Atlas('graphs', Loop of 16 slots, 40 graphs, 2 shown; .save('atlas.html'))
    >>> made.numbers.graphs[0].shares[0].shape  # of graph 3, on the first structure
    (20, 16)
    """
    if not isinstance(model, LFDSClassifier | LFDSRegressor):
        raise ExplainError(
            f"model: needs a fitted LFDSClassifier or LFDSRegressor, not {type(model).__name__}"
        )
    check_is_fitted(model, "network_")
    network = _member(model, member)
    latent_pools(network)
    data = as_graphs(
        graphs,
        node_attributes=model.node_attributes,
        node_label=model.node_label,
        edge_attributes=model.edge_attributes,
        edge_label=model.edge_label,
        targets=y is None,
        molecules=model.molecules_,
    )
    decoder = model.decoder_
    data = in_model_order(data, decoder) if y is None else with_targets(data, y, decoder)
    check_features(data, model.encoder_, stacklevel=2)
    shown = _shown(show, data)
    device = resolve_device(model.device)
    if device.type != "cpu":
        network = deepcopy(network).to(device)
    return Atlas(atlas_numbers(network, model.encoder_, data, model.decoder_, shown))


def _member(model: LFDSClassifier | LFDSRegressor, member: Any) -> GraphNetwork:
    """Return a member of a model by its number."""
    count = len(model.networks_)
    if isinstance(member, bool) or not isinstance(member, int | np.integer):
        raise ExplainError(f"member: needs the number of a member, as 0, not {member!r}")
    if not 0 <= member < count:
        last = f"they are numbered 0 to {count - 1}" if count > 1 else "it has one, number 0"
        raise ExplainError(f"member: the model has no member {member}; {last}")
    return model.networks_[int(member)]


def _shown(show: int | Sequence[int], graphs: GraphSet) -> int | list[int]:
    """Return the numbers of the graphs to draw, or how many."""
    count = len(graphs)
    which = _integers(show)
    if isinstance(which, int):
        if which < 1:
            raise ExplainError(f"show: needs at least 1 graph, not {which}")
        return which
    if not which:
        raise ExplainError("show: needs at least 1 graph, and the list is empty")
    for number in which:
        if not 0 <= number < count:
            raise ExplainError(f"there is no graph {number}; they are numbered 0 to {count - 1}")
    return which


def _integers(show: Any) -> int | list[int]:
    """Return a number or numbers, NumPy's or others, as Python's own."""
    try:
        if np.ndim(show) == 0:
            return operator.index(show)
        return [operator.index(number) for number in show]
    except (TypeError, ValueError):
        raise ExplainError(
            f"show: needs the number of graphs, as 50, or a list of which, as [0, 7], not {show!r}"
        ) from None
