"""The options of the estimators: type, default and meaning of each, in one place.

The constructors, ``lfds fit`` and saved models take them from here.  Needs no torch, so that help
texts do not wait for it.
"""

import inspect
import reprlib
import textwrap
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Strict,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from lfds.config.comparison import CompareSpec
from lfds.config.encoding import EncodingSettings
from lfds.config.messages import SpecError, choose_from, one_line
from lfds.config.network import NetworkSettings
from lfds.config.registry import STRUCTURES
from lfds.config.training import Keep, Precision, TrainingSettings

Label = bool | int | float | str

_Class = TypeVar("_Class", bound=type)
_Settings = TypeVar("_Settings", bound=BaseModel)
_NETWORK, _TRAINING = NetworkSettings(pool="loop"), TrainingSettings()
OWN_SETTINGS = {
    "pool": "structure", "base": "base", "slots": "slots", "reduction": "reduction",
}  # fmt: skip
"""Settings of the network that are options of the estimators themselves, under these names."""
VARIANCE_FLOOR = 0.01
"""The floor of estimators, which meet graphs unlike those they were fitted on; comparisons have
none by default."""
REGRESSION_BATCH_SIZE = 64
"""Batches of regressors: on molecules fewer steps lose nothing and take two thirds of the time."""
NESTED = "network__"
"""How searches over options call the other settings: ``network__width``."""
NESTED_SETTINGS = tuple(name for name in NetworkSettings.model_fields if name not in OWN_SETTINGS)
"""The settings that are called so."""


def _needs(what: str) -> Any:
    return Field(title=what)


_Integer = Annotated[StrictInt, _needs("an integer")]
_Number = Annotated[FiniteFloat, Strict(), _needs("a number")]
_Switch = Annotated[StrictBool, _needs("True or False")]
_Names = Annotated[list[StrictStr], Strict(), _needs("a list of names, as ['weight']")]
_Count = Annotated[PositiveInt, Strict(), _needs("an integer of at least 1")]
_Weight = Annotated[PositiveFloat, Strict(), Field(allow_inf_nan=False)]
_Value = StrictBool | StrictInt | _Number | StrictStr


class Options(BaseModel):
    """The options of an estimator; the title of a field is what messages say that it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    structure: Annotated[
        StrictStr | _Names, _needs("the name of a structure, as 'loop', or a list of names")
    ] = _NETWORK.pool
    """Latent structure by name, a key of ``lfds.STRUCTURES``, or several; their vectors are
    concatenated."""
    base: Annotated[StrictStr, _needs("the name of a base, as 'spatial'")] = _NETWORK.base
    """Layers before the pooling, by name: ``"spatial"``, or ``"gin"``, ``"gine"``, ``"gcn"``,
    ``"sage"``, ``"gat"``, ``"pna"``, ``"gps"`` of PyG."""
    slots: _Integer = _NETWORK.slots
    """Number of slots of each structure."""
    reduction: Annotated[StrictStr, _needs("the name of a reduction, as 'mean'")] = (
        _NETWORK.reduction
    )
    """How a slot combines the nodes that are assigned to it."""
    encoding: Annotated[
        StrictStr | _Names | EncodingSettings,
        _needs("'auto', the name of an encoding, a list of names, or EncodingSettings"),
    ] = "auto"
    """Structural encodings to add to the labels and attributes of the nodes: names, or
    :class:`lfds.data.EncodingSettings`. ``"auto"`` adds random-walk return probabilities where the
    graphs have neither labels nor attributes."""
    epochs: _Integer = _TRAINING.epochs
    """Number of epochs, at most."""
    batch_size: _Integer = _TRAINING.batch_size
    """Number of graphs in a batch; by default 32 for classes and 64 for values."""
    learning_rate: _Number = _TRAINING.learning_rate
    """Learning rate of the first epoch; it decays from there."""
    validation: Annotated[
        float, Strict(), Field(ge=0, lt=1), _needs("a number from 0 to below 1")
    ] = CompareSpec.model_fields["validation"].default
    """Fraction of the graphs held out to choose the best epoch and to calibrate probabilities; with
    0 the last epoch is kept."""
    # Half of all epochs: the learning rate decays to the end, and the last gains come late.
    patience: Annotated[_Count | None, _needs("None or an integer of at least 1")] = (
        _TRAINING.epochs // 2
    )
    """Number of epochs without improvement in validation after which training stops."""
    keep: Annotated[
        Literal["auto", Keep], _needs("'auto', 'best', 'loss', 'mean-loss' or 'last'")
    ] = "auto"
    """Which epoch's weights are kept: ``"best"`` accuracy on validation graphs (of numbers and of
    several targets the error), lowest ``"loss"`` there, lowest ``"mean-loss"`` of an epoch and the
    four before it, or ``"last"``. ``"auto"`` is ``"mean-loss"`` for one target with two classes,
    and ``"best"`` otherwise."""
    options: Annotated[
        dict[StrictStr, _Value] | None,
        _needs("None or settings of the network by name, as {'width': 32}"),
    ] = None
    """Other settings of the network by name; see :class:`lfds.nn.NetworkSettings`."""
    node_attributes: _Names = []
    """Names of numeric node data of NetworkX graphs."""
    node_label: Annotated[StrictStr | None, _needs("None or one name")] = None
    """Name of categorical node data of NetworkX graphs, which are integers."""
    edge_attributes: _Names = []
    """Names of numeric edge data of NetworkX graphs."""
    edge_label: Annotated[StrictStr | None, _needs("None or one name")] = None
    """Name of categorical edge data of NetworkX graphs, which are integers."""
    members: Annotated[int, Strict(), Field(ge=1, le=1000), _needs("an integer from 1 to 1000")] = (
        _TRAINING.members
    )
    """Number of networks that are fitted from different random streams; their probabilities, or
    values, are averaged, and their spread says how sure a prediction is."""
    seed: _Integer = 0
    """Random seed; the same seed, graphs and number of workers and threads give the same model."""
    device: Annotated[StrictStr, _needs("the name of a device, as 'cpu', 'cuda' or 'auto'")] = (
        _TRAINING.device
    )
    """Where to train and predict: ``"cpu"``, ``"cuda"``, ``"mps"``, ...; ``"auto"`` is the
    accelerator of the machine if it has one."""
    precision: Annotated[Precision, _needs("'32' or 'bf16'")] = _TRAINING.precision
    """Precision of the products in the network: ``"32"``, or ``"bf16"`` under autocast."""
    warm_start: _Switch = False
    """Whether ``fit`` continues from the weights of the last fit."""
    workers: _Count = 1
    """Number of processes that train the network together, each on its part of every batch, or that
    train the members of an ensemble, and that compute structural encodings."""
    ray: Annotated[StrictStr | None, _needs("None or the address of a cluster, as 'host:6379'")] = (
        None
    )
    """Address of a Ray cluster, as ``host:port`` or ``auto``, whose nodes train the network instead
    of this machine."""
    sync_batch_norm: Annotated[
        Literal["auto", "always", "never"], _needs("'auto', 'always' or 'never'")
    ] = "auto"
    """Whether batch norms see the rows of all workers, which exchange statistics many times in a
    step; ``"auto"`` does so where a worker has fewer than 16 graphs of a batch."""
    progress: _Switch = False
    """Whether to show a progress bar on standard error."""
    verbose: Annotated[
        StrictBool | Annotated[NonNegativeInt, Strict()],
        _needs("True, False or an integer of at least 0"),
    ] = False
    """Print a line on standard error after every epoch, or after every so many."""
    class_weight: Annotated[
        Literal["balanced"] | list[tuple[Label, _Weight]] | None,
        _needs("None, 'balanced', or a weight above 0 for each label, as {'rare': 3.0}"),
    ] = None
    """Weights of the classes; ``"balanced"`` gives all classes the same total weight, for each
    target by itself if there are several."""
    loss: Annotated[Literal["squared", "huber"], _needs("'squared' or 'huber'")] = "squared"
    """Error of regression that is minimized: squared, or Huber's, in which outliers weigh less."""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Validate options by name; raise a SpecError of one line."""
        given = {name: _plain(value) for name, value in params.items()}
        if isinstance(given.get("class_weight"), dict):
            given["class_weight"] = list(given["class_weight"].items())
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            name = str(error.errors(include_url=False)[0]["loc"][0])
            need, found = cls.model_fields[name].title, reprlib.repr(params[name])
            raise SpecError(f"{name}: needs {need}, not {found}") from error

    def for_estimator(self, estimator: type) -> dict[str, Any]:
        """Return the options that an estimator has, in the form of its constructor."""
        options = {name: getattr(self, name) for name in type(self).model_fields}
        options["class_weight"] = self.weights
        return {name: options[name] for name in inspect.signature(estimator).parameters}

    @property
    def weights(self) -> Literal["balanced"] | dict[Label, float] | None:
        """The class weights, by label."""
        return dict(self.class_weight) if isinstance(self.class_weight, list) else self.class_weight

    def network_settings(self, defaults: Mapping[str, Any] | None = None) -> NetworkSettings:
        """Return the settings of the network.

        Args:
            defaults: Defaults other than those of :class:`NetworkSettings`.
        """
        names = [self.structure] if isinstance(self.structure, str) else self.structure
        if not names:
            raise SpecError(f"structure: needs a name; choose from {', '.join(STRUCTURES)}")
        for name in names:
            if name not in STRUCTURES:
                fix = choose_from(name, STRUCTURES)
                raise SpecError(f"structure: no structure is called {name!r}; {fix}")
            if names.count(name) > 1:
                raise SpecError(f"structure: names {name!r} twice; once is enough")
        others = {**(defaults or {}), **(self.options or {})}
        for name in others.keys() & OWN_SETTINGS:
            use = f"{OWN_SETTINGS[name]}=..."
            raise SpecError(f"options: {name!r} has an option of its own; use {use}")
        own = {name: getattr(self, option) for name, option in OWN_SETTINGS.items()}
        return _validated(NetworkSettings, {**others, **own, "pool": "+".join(names)})

    def training_settings(self, *, two_classes: bool = False) -> TrainingSettings:
        """Return the settings of the training.

        A learning rate below the usual final one stays constant.

        Args:
            two_classes: Whether there is one target with two classes.
        """
        names = ("epochs", "batch_size", "learning_rate", "device", "precision")
        same = {name: getattr(self, name) for name in names}
        final = min(TrainingSettings().final_learning_rate, self.learning_rate)
        keep = self.keep
        if keep == "auto":
            keep = "mean-loss" if two_classes else "best"
        own = {"final_learning_rate": final, "variance_floor": VARIANCE_FLOOR, "keep": keep}
        return _validated(TrainingSettings, {**same, **own})


def document_options(estimator: _Class) -> _Class:
    """Add the descriptions of its options to the docstring of an estimator."""
    lines = ["Args:"]
    for name in inspect.signature(estimator).parameters:
        entry = f"{name}: {Options.model_fields[name].description}"
        lines += textwrap.wrap(entry, 96, initial_indent=" " * 4, subsequent_indent=" " * 8)
    head, mark, rest = inspect.cleandoc(estimator.__doc__ or "").partition("Attributes:\n")
    estimator.__doc__ = "\n".join([head.rstrip(), "", *lines, "", mark + rest])
    return estimator


def _plain(value: Any) -> Any:
    """Return NumPy's numbers and arrays, which searches over options use, as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _validated(settings: type[_Settings], values: Mapping[str, Any]) -> _Settings:
    try:
        return settings.model_validate(values, strict=True)
    except ValidationError as error:
        raise SpecError(one_line(error, settings.model_fields)) from error
