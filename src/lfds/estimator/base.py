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
from lfds.config.messages import SpecError, choose_from
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder, automatic_encoding
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.readers.atom_features import MoleculeOptions
from lfds.estimator.fitting import FitPlan, new_encoder, new_network, partial_fit_networks
from lfds.estimator.history_plot import plot_histories
from lfds.estimator.input_conversion import Graphs, as_graphs, check_features
from lfds.estimator.members import FitResult, WarmStart, fit_networks
from lfds.estimator.model_card import ModelCard, TrainingData
from lfds.estimator.options import NESTED, NESTED_SETTINGS, Options
from lfds.estimator.output_decoding import Decoder, member_spread
from lfds.estimator.persistence import SavedModel, save_model
from lfds.estimator.predictor import predict
from lfds.estimator.targets import sample_weights
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.models.ensemble import average_outputs
from lfds.train.device import resolve_device
from lfds.train.loop import Progress
from lfds.train.memory_limit import check_memory
from lfds.train.objective import Objective, Weighted, with_weights

DEFAULTS = Options()
_MOLECULES = MoleculeOptions()
Encoding = str | Sequence[str] | EncodingSettings
_Decoder = TypeVar("_Decoder", bound=Decoder)


class GraphEstimator(BaseEstimator, ABC, Generic[_Decoder]):
    """Networks with a latent structure, mostly one, as a scikit-learn estimator."""

    networks_: tuple[GraphNetwork, ...]
    encoder_: Encoder
    decoder_: _Decoder
    histories_: tuple[Progress, ...]
    training_data_: TrainingData
    validation_score_: float
    validation_rows_: NDArray[np.int64]
    options: Mapping[str, Any] | None
    _fits: int
    _optimizers: tuple[torch.optim.Optimizer, ...]
    _warned: set[type[Warning]]

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Store the arguments of a constructor unchanged; ``fit`` validates them.

        scikit-learn reads the options from the signature of the constructor; everything else about
        them is in :class:`Options`.
        """
        self.__dict__.update({name: one for name, one in arguments.items() if name != "self"})

    def fit(
        self,
        graphs: Graphs,
        y: Any = None,
        sample_weight: Any = None,
        *,
        held_out: Sequence[int] | None = None,
        checkpoints: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the network on graphs.

        Args:
            graphs: A ``GraphSet``, or a list of PyG's ``Data``, of NetworkX graphs, of SMILES, of
                arrays ``[n, d]``, or of pairs ``(X, adjacency)``.
            y: One target per graph; by default those that the graphs carry.
            sample_weight: How much each graph counts in the loss, and in the score by which the
                best epoch is chosen; 1 by default.
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
        weights, known = sample_weights(sample_weight, len(data)), targets
        if weights is not None:
            classes = not targets.is_floating_point()
            objective = Weighted(objective, classes=classes, single=targets.ndim == 1)
            known = with_weights(targets, weights)
        plan = self._plan(data, objective, decoder)
        if start is not None:
            check_features(data, start.encoder, stacklevel=2)
        self._warned = set()
        fitted = fit_networks(
            data.with_targets(known) if weights is None else data.with_targets(known, ()),
            self._strata(targets),
            decoder.outputs,
            plan,
            start,
            _checked_rows(held_out, len(data)),
            None if checkpoints is None else Path(checkpoints),
        )
        self._set(fitted.networks, fitted.encoder, self._calibrate(decoder, fitted, targets))
        self.histories_, self.validation_rows_ = fitted.histories, fitted.validation
        self.validation_score_ = _score(fitted, known, objective, decoder)
        self.training_data_ = TrainingData.of(data, targets=y is None)
        self._fits = 1 if start is None else start.fits + 1
        return self

    def _partial_fit(self, graphs: Graphs, y: Any, decoder: _Decoder | None) -> Self:
        """Train one epoch on some graphs; see ``partial_fit``."""
        data = self._read(graphs, targets=y is None)
        started = hasattr(self, "network_")
        targets, decoder, objective = self._prepare(data, y, self.decoder_ if started else decoder)
        plan = self._plan(data, objective, decoder)
        if not started:
            encoder = new_encoder(data, plan)
            members = range(plan.options.members)
            made = (new_network(encoder, decoder.outputs, plan, data, one) for one in members)
            self._set(tuple(made), encoder, decoder)
            self.histories_ = tuple(Progress() for _ in members)
            self.training_data_ = TrainingData.of(data, targets=y is None)
            self._fits = 0
        check_features(data, self.encoder_, stacklevel=3)
        rate, decay = plan.training.learning_rate, plan.training.weight_decay
        self._optimizers = self._optimizers or tuple(
            torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=decay)
            for network in self.networks_
        )
        found = partial_fit_networks(
            data.with_targets(targets),
            self.networks_,
            self.encoder_,
            plan,
            self.history_.epochs,
            self._optimizers,
        )
        for history, (loss, score) in zip(self.histories_, found, strict=True):
            history.loss.append(loss)
            history.train.append(score)
        return self

    @property
    def network_(self) -> GraphNetwork:
        """The fitted network; of several members the first."""
        return self.networks_[0]

    @property
    def history_(self) -> Progress:
        """The history of the fit; of several members that of the first."""
        return self.histories_[0]

    @property
    def n_iter_(self) -> int:
        """Number of epochs, or of calls of ``partial_fit``."""
        check_is_fitted(self, "network_")
        return self.history_.epochs

    def outputs(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return the outputs of the network, ``[graphs, outputs]``: logits, or scaled values.

        Those of several members are averaged: probabilities, or values.
        """
        return self._average(self._predict(graphs))

    def outputs_and_std(
        self, graphs: Graphs
    ) -> tuple[NDArray[np.float32], NDArray[np.float64] | None]:
        """Return the outputs, and how much the predictions of the members differ.

        The second is the standard deviation of their probabilities or values, in the shape of the
        predictions; ``None`` for a single network.
        """
        found = self._predict(graphs)
        spread = member_spread(self.decoder_, found.numpy()) if len(found) > 1 else None
        return self._average(found), spread

    def transform(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return the vector of every graph that the head of the network sees.

        The vectors of several members are concatenated.
        """
        found = self._predict(graphs, head=False)
        return found.transpose(0, 1).flatten(start_dim=1).numpy()

    def plot_history(self, axes: Any = None) -> Any:
        """Plot losses and scores of every epoch; return the axes of matplotlib.

        Solid lines are the validation graphs, dashed ones the training graphs, and a dot is the
        epoch that was kept. Several members have a line each.

        Args:
            axes: Axes to draw on, one for each panel (loss, and accuracy or R2 if there is one); by
                default those of a new figure.
        """
        check_is_fitted(self, "network_")
        return plot_histories(self.histories_, self.decoder_.kind, axes)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all options by name.

        Args:
            deep: Whether to return also the settings of the network that have no option of their
                own, as ``network__width``, which ``set_params`` and searches take.
        """
        own: dict[str, Any] = super().get_params(deep=False)
        return {**own, **self._network_params()} if deep else own

    def set_params(self, **params: Any) -> Self:
        """Set options by name; ``network__width=32`` sets ``options={"width": 32}``."""
        nested = {name: one for name, one in params.items() if name.startswith(NESTED)}
        super().set_params(**{name: one for name, one in params.items() if name not in nested})
        before = self._network_params()
        for name in nested.keys() - before.keys():
            raise SpecError(f"{name}: no network has this setting; {choose_from(name, before)}")
        changed = {name: one for name, one in nested.items() if one != before[name]}
        if changed:
            settings = {name.removeprefix(NESTED): one for name, one in changed.items()}
            self.options = {**(self.options or {}), **settings}
        return self

    def _network_params(self) -> dict[str, Any]:
        try:
            settings = self._network().model_dump()
        except (SpecError, AttributeError):  # invalid now; `fit` says so
            fields = NetworkSettings.model_fields
            settings = {name: field.default for name, field in fields.items()}
        settings |= dict(getattr(self, "options", None) or {})
        return {f"{NESTED}{name}": settings[name] for name in NESTED_SETTINGS}

    def _average(self, outputs: Tensor) -> NDArray[np.float32]:
        return average_outputs(outputs, self.decoder_.kind).numpy()

    def _std(self, graphs: Graphs) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return what :meth:`outputs_and_std` returns, or raise if there is no second."""
        check_is_fitted(self, "network_")
        if len(self.networks_) == 1:
            raise DataError(
                "needs the spread of several members, and the model has one; fit with members=5",
                source="return_std",
            )
        outputs, spread = self.outputs_and_std(graphs)
        assert spread is not None
        return outputs, spread

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
            other_histories=list(self.histories_[1:]),
            fits=self._fits,
        )
        save_model(path, card, self.networks_, self.encoder_)

    def restore(self, saved: SavedModel) -> Self:
        """Take over a saved model; called by :func:`lfds.load`."""
        self._set(saved.networks, saved.encoder, cast(_Decoder, saved.card.decoder))
        self.histories_ = (saved.card.history, *saved.card.other_histories)
        self.training_data_ = saved.card.training_data
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

    def _training(self, decoder: _Decoder) -> TrainingSettings:
        two = decoder.kind == "classes" and decoder.outputs == 2
        return self._options().training_settings(two_classes=two)

    def _plan(self, graphs: GraphSet, objective: Objective, decoder: _Decoder) -> FitPlan:
        options, network = self._options(), self._network()
        self.check_options()  # before graphs are encoded, which may take an hour
        encoding = encoding_settings(options.encoding, graphs)
        return FitPlan(network, self._training(decoder), encoding, objective, options)

    def _warm_start(self) -> WarmStart:
        if self._network() != self.network_.settings:
            raise DataError(
                "the settings of the network have changed since the last fit; set warm_start=False",
                source="warm_start",
            )
        members = self._options().members
        if members != len(self.networks_):
            raise DataError(
                f"the last fit had {len(self.networks_)} member(s), not {members}; set "
                "warm_start=False",
                source="members",
            )
        return WarmStart(self.networks_, self.encoder_, self._fits)

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

    def _predict(self, graphs: Graphs, *, head: bool = True) -> Tensor:
        """Return the outputs of each member, ``[members, graphs, outputs]``."""
        check_is_fitted(self, "network_")
        data = self._read(graphs, targets=False)
        self._warned |= check_features(data, self.encoder_, stacklevel=4, known=self._warned)
        options = self._options()
        return predict(
            self.networks_,
            self.encoder_,
            data,
            workers=options.workers,
            head=head,
            device=resolve_device(options.device),
            precision=options.precision,
        )

    def _set(self, networks: tuple[GraphNetwork, ...], encoder: Encoder, decoder: _Decoder) -> None:
        self.networks_, self.encoder_, self.decoder_ = networks, encoder, decoder
        self._optimizers = ()
        self._warned = set()


def _score(fitted: FitResult, targets: Tensor, objective: Objective, decoder: Decoder) -> float:
    """Return the score of the averaged members on validation graphs; without any, of training."""
    each = [history.validation[history.best] for history in fitted.histories]
    if len(each) == 1 or len(fitted.validation) == 0:
        return float(np.mean(each))
    y = targets[fitted.validation]
    return objective.total_score(average_outputs(fitted.outputs, decoder.kind), y) / len(y)


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
