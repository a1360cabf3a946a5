"""What classifier and regressor have in common: reading graphs, fitting, predicting, saving."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from lfds.config.encoding import EncodingSettings, encoding_from
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder, automatic_encoding
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.readers.atom_features import MoleculeOptions
from lfds.estimator.fitting import (
    FitPlan,
    FitResult,
    WarmStart,
    fit_network,
    new_encoder,
    new_network,
    partial_fit_network,
)
from lfds.estimator.input_conversion import Graphs, as_graphs, check_features
from lfds.estimator.model_card import ModelCard, TrainingData
from lfds.estimator.options import Options
from lfds.estimator.output_decoding import Decoder
from lfds.estimator.persistence import SavedModel, save_model
from lfds.estimator.predictor import predict
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.device import resolve_device
from lfds.train.loop import Progress
from lfds.train.memory_limit import check_memory
from lfds.train.objective import Objective

DEFAULTS = Options()
_MOLECULES = MoleculeOptions()
Encoding = str | Sequence[str] | EncodingSettings
_Decoder = TypeVar("_Decoder", bound=Decoder)


class GraphEstimator(BaseEstimator, ABC, Generic[_Decoder]):
    """A network with a latent structure as a scikit-learn estimator."""

    network_: GraphNetwork
    encoder_: Encoder
    decoder_: _Decoder
    history_: Progress
    training_data_: TrainingData
    _fits: int
    _optimizer: torch.optim.Optimizer | None

    # scikit-learn reads the options from this signature; everything else about them is in Options.
    def __init__(
        self,
        structure: str | Sequence[str] = DEFAULTS.structure,
        *,
        base: str = DEFAULTS.base,
        slots: int = DEFAULTS.slots,
        reduction: str = DEFAULTS.reduction,
        encoding: Encoding = DEFAULTS.encoding,
        epochs: int = DEFAULTS.epochs,
        batch_size: int = DEFAULTS.batch_size,
        learning_rate: float = DEFAULTS.learning_rate,
        validation: float = DEFAULTS.validation,
        patience: int | None = DEFAULTS.patience,
        options: Mapping[str, Any] | None = DEFAULTS.options,
        node_attributes: Sequence[str] = (),
        node_label: str | None = DEFAULTS.node_label,
        edge_attributes: Sequence[str] = (),
        edge_label: str | None = DEFAULTS.edge_label,
        seed: int = DEFAULTS.seed,
        device: str = DEFAULTS.device,
        precision: str = DEFAULTS.precision,
        warm_start: bool = DEFAULTS.warm_start,
        workers: int = DEFAULTS.workers,
        ray: str | None = DEFAULTS.ray,
        progress: bool = DEFAULTS.progress,
    ) -> None:
        self._store(locals())

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Store the arguments of the constructor unchanged; ``fit`` validates them."""
        self.__dict__.update({name: one for name, one in arguments.items() if name != "self"})

    def fit(
        self,
        graphs: Graphs,
        y: Any = None,
        *,
        held_out: Sequence[int] | None = None,
        checkpoints: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the network on graphs.

        Args:
            graphs: A ``GraphSet``, or a list of PyG's ``Data``, of NetworkX graphs, of SMILES, or
                of arrays ``[n, d]``.
            y: One target per graph; by default those that the graphs carry.
            held_out: Rows of the graphs to validate on, instead of a random ``validation`` of them;
                without it, graphs of a group (``GraphSet.groups``) are held out together.
            checkpoints: Folder for checkpoints, which all nodes of a cluster share; the same fit
                goes on from there if it was interrupted. By default a temporary folder if there are
                several workers.
        """
        start = self._warm_start() if self.warm_start and hasattr(self, "network_") else None
        data = self._read(graphs, targets=y is None, anew=start is None)
        before = None if start is None else self.decoder_
        targets, decoder, objective = self._prepare(data, y, before)
        plan = self._plan(data, objective)
        if start is not None:
            check_features(data, start.encoder, stacklevel=2)
        fitted = fit_network(
            data.with_targets(targets),
            self._strata(targets),
            decoder.outputs,
            plan,
            start,
            _checked_rows(held_out, len(data)),
            None if checkpoints is None else Path(checkpoints),
        )
        self._set(fitted.network, fitted.encoder, self._calibrate(decoder, fitted, targets))
        self.history_ = fitted.history
        self.training_data_ = TrainingData.of(data)
        self._fits = 1 if start is None else start.fits + 1
        return self

    def _partial_fit(self, graphs: Graphs, y: Any, decoder: _Decoder | None) -> Self:
        """Train one epoch on some graphs; see ``partial_fit``."""
        data = self._read(graphs, targets=y is None)
        started = hasattr(self, "network_")
        targets, decoder, objective = self._prepare(data, y, self.decoder_ if started else decoder)
        plan = self._plan(data, objective)
        if not started:
            encoder = new_encoder(data, plan)
            self._set(new_network(encoder, decoder.outputs, plan, data), encoder, decoder)
            self.history_, self.training_data_, self._fits = Progress(), TrainingData.of(data), 0
        check_features(data, self.encoder_, stacklevel=3)
        if self._optimizer is None:
            rate = plan.training.learning_rate
            self._optimizer = torch.optim.AdamW(
                self.network_.parameters(), lr=rate, weight_decay=plan.training.weight_decay
            )
        loss, score = partial_fit_network(
            data.with_targets(targets),
            self.network_,
            self.encoder_,
            plan,
            self.history_.epochs,
            self._optimizer,
        )
        self.history_.loss.append(loss)
        self.history_.train.append(score)
        return self

    @property
    def n_iter_(self) -> int:
        """Number of epochs, or of calls of ``partial_fit``."""
        check_is_fitted(self, "network_")
        return self.history_.epochs

    def outputs(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return the outputs of the network, ``[graphs, outputs]``: logits, or scaled values."""
        return self._predict(graphs)

    def transform(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return the vector of every graph that the head of the network sees."""
        return self._predict(graphs, head=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a folder, completely or not at all; :func:`lfds.load` reads it.

        A model that is there is replaced; a folder with other files, or a link, raises a DataError.
        """
        check_is_fitted(self, "network_")
        card = ModelCard(
            # A model may be loaded where there is no such device.
            parameters=self._options().model_copy(update={"device": DEFAULTS.device}),
            network=self.network_.settings,
            features=self.network_.in_channels,
            edge_features=self.network_.edge_channels,
            meaning=self.decoder_,
            training_data=self.training_data_,
            history=self.history_,
            fits=self._fits,
        )
        save_model(path, card, self.network_, self.encoder_)

    def restore(self, saved: SavedModel) -> Self:
        """Take over a saved model; called by :func:`lfds.load`."""
        self._set(saved.network, saved.encoder, cast(_Decoder, saved.card.decoder))
        self.history_, self.training_data_ = saved.card.history, saved.card.training_data
        self._fits = saved.card.fits
        return self

    @abstractmethod
    def _prepare(
        self, graphs: GraphSet, y: Any, decoder: _Decoder | None
    ) -> tuple[Tensor, _Decoder, Objective]:
        """Return targets for the training, the decoder of the outputs, and the objective.

        ``decoder`` is that of earlier calls, if any.
        """

    @abstractmethod
    def _strata(self, targets: Tensor) -> NDArray[np.integer]:
        """Return the class of each graph for a stratified split; zeros for regression."""

    def _calibrate(self, decoder: _Decoder, fitted: FitResult, targets: Tensor) -> _Decoder:
        """Return the decoder, calibrated on the validation graphs."""
        return decoder

    def check_options(self) -> None:
        """Raise if an option is invalid, or the network would need too much memory."""
        check_memory(self._network())
        options = self._options()
        if options.ray is None:  # the nodes of a cluster have devices of their own
            resolve_device(options.device)

    def _options(self) -> Options:
        """Validate the arguments of the constructor."""
        return Options.of(self.get_params(deep=False))

    def _network(self) -> NetworkSettings:
        return self._options().network_settings()

    def _training(self) -> TrainingSettings:
        return self._options().training_settings()

    def _plan(self, graphs: GraphSet, objective: Objective) -> FitPlan:
        options, network = self._options(), self._network()
        self.check_options()  # before graphs are encoded, which may take an hour
        encoding = encoding_settings(options.encoding, graphs)
        return FitPlan(network, self._training(), encoding, objective, options)

    def _warm_start(self) -> WarmStart:
        if self._network() != self.network_.settings:
            raise DataError(
                "the settings of the network have changed since the last fit; set warm_start=False",
                source="warm_start",
            )
        return WarmStart(self.network_, self.encoder_, self._fits)

    def _read(self, graphs: Graphs, *, targets: bool, anew: bool = False) -> GraphSet:
        options = self._options()
        return as_graphs(
            graphs,
            node_attributes=options.node_attributes,
            node_label=options.node_label,
            edge_attributes=options.edge_attributes,
            edge_label=options.edge_label,
            targets=targets,
            molecules=_MOLECULES if anew else self.molecules_,
        )

    @property
    def molecules_(self) -> MoleculeOptions:
        """How SMILES are read: as those that the model was fitted on."""
        return self.training_data_.molecules if hasattr(self, "training_data_") else _MOLECULES

    def _predict(self, graphs: Graphs, *, head: bool = True) -> NDArray[np.float32]:
        check_is_fitted(self, "network_")
        data = self._read(graphs, targets=False)
        check_features(data, self.encoder_, stacklevel=4)
        options = self._options()
        found = predict(
            self.network_,
            self.encoder_,
            data,
            workers=options.workers,
            head=head,
            device=resolve_device(options.device),
            precision=options.precision,
        )
        return found.numpy()

    def _set(self, network: GraphNetwork, encoder: Encoder, decoder: _Decoder) -> None:
        self.network_, self.encoder_, self.decoder_ = network, encoder, decoder
        self._optimizer = None


def _checked_rows(held_out: Sequence[int] | None, count: int) -> NDArray[np.int64] | None:
    if held_out is None:
        return None
    rows = np.asarray(held_out)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise DataError("needs a list of rows, as [0, 7]", source="held_out")
    rows = np.unique(rows.astype(np.int64))
    if rows[0] < 0 or rows[-1] >= count or len(rows) == count:
        raise DataError(
            f"needs some rows from 0 to {count - 1}, and others to train on", source="held_out"
        )
    return rows


def encoding_settings(encoding: Encoding, graphs: GraphSet) -> EncodingSettings:
    """Return which features the nodes get.

    Args:
        encoding: ``"auto"``, names of structural encodings, or settings.
        graphs: Whose labels and attributes decide what ``"auto"`` is.
    """
    if isinstance(encoding, EncodingSettings):
        return encoding
    names = [encoding] if isinstance(encoding, str) else list(encoding)
    return automatic_encoding(graphs) if names == ["auto"] else encoding_from(names)
