"""``lfds.atlas``: from a fitted model and some graphs to a page, its numbers and its figures."""

import html as escaping
import operator
import warnings
from collections.abc import Sequence
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
from lfds.estimator.compatibility import UnseenLabelsWarning, check_widths, unseen_labels
from lfds.estimator.input_conversion import Graphs, as_graphs
from lfds.estimator.output_decoding import ClassMeaning
from lfds.estimator.regressor import LFDSRegressor
from lfds.explain.capture import latent_pools
from lfds.explain.compute import atlas_numbers, spread_over_classes
from lfds.explain.errors import ExplainError
from lfds.explain.page import page
from lfds.explain.predictions import known_targets, with_known
from lfds.explain.record import AtlasNumbers


@final
@dataclass(frozen=True, eq=False, repr=False)
class Atlas:
    """Where the nodes of graphs land on the latent structures of a model.

    In Jupyter it shows itself.

    Attributes:
        numbers: All that the page shows, as arrays.
    """

    numbers: AtlasNumbers

    @cached_property
    def html(self) -> str:
        """The page, one piece of HTML that needs no network and no other file."""
        return page(self.numbers)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        atomic_write(Path(path), self.html.encode())

    def save_figures(self, folder: str | PathLike[str]) -> list[Path]:
        """Write the figures of the page as PNG and SVG to a folder, and return their files."""
        from lfds.explain.figures import write_figures  # matplotlib takes its time to import

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
        structures = " and ".join(pool.drawing.words for pool in numbers.pools)
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
) -> Atlas:
    """Draw where the nodes of some graphs land on the latent structures of a fitted model.

    Args:
        model: A fitted estimator, or one that :func:`lfds.load` returned.
        graphs: What ``model.predict`` takes. Maps and usage are averaged over all of them.
        y: Their true classes or quantities, to be shown beside what is predicted; left out, those
            that the graphs carry, if any.
        show: How many of them can be looked at one by one, classes in turn; or which, by number.

    >>> import numpy as np
    >>> sets = [np.random.default_rng(k).normal(size=(20, 2)) + (k % 2) for k in range(40)]
    >>> kinds = ["here", "there"] * 20
    >>> clf = LFDSClassifier(epochs=2, options={"width": 16}).fit(sets, kinds)
    >>> made = atlas(clf, sets, kinds, show=[3, 8])
    >>> made
    Atlas('graphs', Loop of 16 slots, 40 graphs, 2 shown; .save('atlas.html'))
    >>> made.numbers.graphs[0].shares[0].shape  # of graph 3, on the first structure
    (20, 16)
    """
    if not isinstance(model, LFDSClassifier | LFDSRegressor):
        raise ExplainError(
            f"an atlas needs a fitted LFDSClassifier or LFDSRegressor, not {type(model).__name__}"
        )
    check_is_fitted(model, "network_")
    latent_pools(model.network_)
    known = as_graphs(
        graphs,
        node_attributes=model.node_attributes,
        node_label=model.node_label,
        targets=y is None,
    )
    if y is not None:
        known = with_known(known, y, model.meaning_)
    check_widths(known, model.encoder_)
    strange = unseen_labels(known, model.encoder_)
    if strange:
        warnings.warn(strange, UnseenLabelsWarning, stacklevel=2)
    shown = _shown(show, known, model)
    return Atlas(atlas_numbers(model.network_, model.encoder_, known, model.meaning_, shown))


def _shown(
    show: int | Sequence[int], graphs: GraphSet, model: LFDSClassifier | LFDSRegressor
) -> list[int]:
    count = len(graphs)
    wish = _whole(show)
    if isinstance(wish, int):
        if wish < 1:
            raise ExplainError(f"show needs at least 1 graph, not {wish}")
        meaning = model.meaning_
        classes = meaning.names if isinstance(meaning, ClassMeaning) else ()
        return spread_over_classes(known_targets(graphs, classes).tolist(), wish)
    if not wish:
        raise ExplainError("show needs at least 1 graph, and the list is empty")
    for number in wish:
        if not 0 <= number < count:
            raise ExplainError(f"there is no graph {number}; they are numbered 0 to {count - 1}")
    return wish


def _whole(show: Any) -> int | list[int]:
    """Return a number or numbers, numpy's or others, as Python's own."""
    try:
        if np.ndim(show) == 0:
            return operator.index(show)
        return [operator.index(number) for number in show]
    except (TypeError, ValueError):
        raise ExplainError(
            f"show needs how many graphs, as 50, or a list of which, as [0, 7], not {show!r}"
        ) from None
