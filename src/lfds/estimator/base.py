"""What classifier and regressor share: their options, reading graphs, fitting, saving."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from lfds.config.comparison import CompareSpec
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.compatibility import UnseenLabelsWarning, check_widths, unseen_labels
from lfds.estimator.input_conversion import Graphs, as_graphs
from lfds.estimator.learning import (
    Learned,
    Plan,
    Start,
    fresh_network,
    learn,
    learn_more,
    with_targets,
)
from lfds.estimator.model_card import DataMark, ModelCard, library_versions
from lfds.estimator.model_folder import SavedModel, digests, files_of, save_model
from lfds.estimator.options import Options
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.estimator.predictor import predict
from lfds.estimator.settings import (
    Encoding,
    encoding_settings,
    network_settings,
    training_settings,
)
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.loop import Progress
from lfds.train.memory_limit import check_memory
from lfds.train.objective import Objective

TRAINING = TrainingSettings()
NETWORK = NetworkSettings(pool="loop")
VALIDATION = CompareSpec().validation
# Half of all epochs: the rate falls towards the end, and the last gains come late.
PATIENCE = TRAINING.epochs // 2


class GraphEstimator(BaseEstimator, ABC):
    """A network with a latent structure, fitted and used in scikit-learn's ways."""

    network_: GraphNetwork
    encoder_: Encoder
    meaning_: ClassMeaning | AmountMeaning
    history_: Progress
    training_data_: DataMark
    _fits: int
    _optimizer: torch.optim.Optimizer | None

    def __init__(
        self,
        structure: str | Sequence[str] = NETWORK.pool,
        *,
        slots: int = NETWORK.slots,
        reduction: str = NETWORK.reduction,
        encoding: Encoding = "auto",
        epochs: int = TRAINING.epochs,
        batch_size: int = TRAINING.batch_size,
        learning_rate: float = TRAINING.learning_rate,
        validation: float = VALIDATION,
        patience: int | None = PATIENCE,
        options: Mapping[str, Any] | None = None,
        node_attributes: Sequence[str] = (),
        node_label: str | None = None,
        seed: int = 0,
        warm_start: bool = False,
        workers: int = 1,
        progress: bool = False,
    ) -> None:
        self.structure = structure
        self.slots = slots
        self.reduction = reduction
        self.encoding = encoding
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.options = options
        self.node_attributes = node_attributes
        self.node_label = node_label
        self.seed = seed
        self.warm_start = warm_start
        self.workers = workers
        self.progress = progress

    def fit(self, graphs: Graphs, y: Any = None) -> Self:
        """Learn from graphs.

        Args:
            graphs: A ``GraphSet``, or a list of PyG's ``Data``, of NetworkX graphs or of arrays
                ``[n, d]``.
            y: One target per graph; left out, those that the graphs carry.
        """
        known = self._read(graphs, targets=y is None)
        start = self._start() if self.warm_start and hasattr(self, "network_") else None
        targets, meaning, objective = self._goal(known, y, None if start is None else self.meaning_)
        plan = self._plan(known, objective)
        if start is not None:
            self._check(known, start.encoder)
        learned = learn(
            with_targets(known, targets), self._kinds(targets), meaning.outputs, plan, start
        )
        self._take(learned.network, learned.encoder, self._calibrated(meaning, learned, targets))
        self.history_ = learned.history
        self.training_data_ = DataMark.of(known)
        self._fits = 1 if start is None else start.times + 1
        return self

    def _more(self, graphs: Graphs, y: Any, meaning: ClassMeaning | AmountMeaning | None) -> Self:
        """Learn from a piece of the data, after all that was learned before."""
        known = self._read(graphs, targets=y is None)
        begun = hasattr(self, "network_")
        targets, meaning, objective = self._goal(known, y, self.meaning_ if begun else meaning)
        plan = self._plan(known, objective)
        if not begun:
            encoder = Encoder(plan.encoding).fit(known)
            self._take(fresh_network(encoder.width, meaning.outputs, plan), encoder, meaning)
            self.history_, self.training_data_, self._fits = Progress(), DataMark.of(known), 0
        self._check(known, self.encoder_)
        if self._optimizer is None:
            rate = plan.training.learning_rate
            self._optimizer = torch.optim.AdamW(
                self.network_.parameters(), lr=rate, weight_decay=plan.training.weight_decay
            )
        loss, score = learn_more(
            with_targets(known, targets),
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
        """Epochs that were run, or pieces that were learned from."""
        check_is_fitted(self, "network_")
        return self.history_.epochs

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a folder, whole or not at all; :func:`lfds.load` reads it.

        A model saved there before is replaced; a folder with anything else in it, and a link, are
        refused.
        """
        check_is_fitted(self, "network_")
        files = files_of(self.network_, self.encoder_)
        card = ModelCard(
            parameters=self._options(),
            network=self.network_.settings,
            features=self.network_.in_channels,
            meaning=self.meaning_,
            training_data=self.training_data_,
            history=self.history_,
            fits=self._fits,
            versions=library_versions(),
            files=digests(files),
        )
        save_model(path, card, files)

    def restored(self, saved: SavedModel) -> Self:
        """Take over what was saved; :func:`lfds.load` does it."""
        self._take(saved.network, saved.encoder, saved.card.meaning)
        self.history_, self.training_data_ = saved.card.history, saved.card.training_data
        self._fits = saved.card.fits
        return self

    def outputs(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return what the network says of each graph, before it is read as a class or amount."""
        check_is_fitted(self, "network_")
        known = self._read(graphs, targets=False)
        self._check(known, self.encoder_)
        found: Tensor = predict(
            self.network_, self.encoder_, known, workers=self._options().workers
        )
        return found.numpy()

    @abstractmethod
    def _goal(
        self, graphs: GraphSet, y: Any, known: ClassMeaning | AmountMeaning | None
    ) -> tuple[Tensor, ClassMeaning | AmountMeaning, Objective]:
        """Return targets for training, what outputs are to mean, and what training is after.

        With ``known``, outputs mean what they meant before.
        """

    @abstractmethod
    def _kinds(self, targets: Tensor) -> NDArray[np.integer]:
        """Return the class of each graph, or the same number for all."""

    def _calibrated(
        self, meaning: ClassMeaning | AmountMeaning, learned: Learned, targets: Tensor
    ) -> ClassMeaning | AmountMeaning:
        """Return what outputs mean once the network has been seen on graphs it does not know."""
        return meaning

    def _read(self, graphs: Graphs, *, targets: bool) -> GraphSet:
        options = self._options()
        return as_graphs(
            graphs,
            node_attributes=options.node_attributes,
            node_label=options.node_label,
            targets=targets,
        )

    def _plan(self, graphs: GraphSet, objective: Objective) -> Plan:
        options, network = self._options(), self._network()
        check_memory(network)  # now, and not after an hour of encoding
        return Plan(
            network=network,
            training=self._training(),
            encoding=encoding_settings(options.encoding, graphs),
            objective=objective,
            validation=options.validation,
            patience=options.patience,
            seed=options.seed,
            workers=options.workers,
            progress=options.progress,
        )

    def _options(self) -> Options:
        """Look at what the constructor was given, which only stores it."""
        return Options.of(self.get_params(deep=False))

    def _training(self) -> TrainingSettings:
        """How it is fitted."""
        return training_settings(self._options())

    def _network(self) -> NetworkSettings:
        return network_settings(self._options())

    def _start(self) -> Start:
        if self._network() != self.network_.settings:
            raise DataError(
                "the network is another than the one fitted before; set warm_start=False",
                source="warm_start",
            )
        return Start(self.network_, self.encoder_, self._fits)

    def _take(
        self, network: GraphNetwork, encoder: Encoder, meaning: ClassMeaning | AmountMeaning
    ) -> None:
        self.network_, self.encoder_, self.meaning_ = network, encoder, meaning
        self._optimizer = None

    def _check(self, graphs: GraphSet, encoder: Encoder) -> None:
        """Raise for graphs of another kind, and warn of node labels that are new."""
        check_widths(graphs, encoder)
        strange = unseen_labels(graphs, encoder)
        if strange:
            warnings.warn(strange, UnseenLabelsWarning, stacklevel=4)
