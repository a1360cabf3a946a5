"""The options of the estimators: type, default and meaning of each, in one place.

The constructors, ``lfds fit`` and saved models take them from here.  Needs no torch, so that help
texts do not wait for it.
"""

import inspect
import reprlib
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    PositiveFloat,
    PositiveInt,
    Strict,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from lfds.config.comparison import CompareSpec
from lfds.config.descriptions import descriptions
from lfds.config.encoding import NAMES, EncodingSettings
from lfds.config.errors import SpecError
from lfds.config.messages import choose_from, one_line
from lfds.config.network import NetworkSettings
from lfds.config.registry import STRUCTURES
from lfds.config.training import TrainingSettings

Label = bool | int | float | str
Spelling = Callable[[str], str]
"""How a message names an option: Python by its argument, the command line by its flag."""

_Class = TypeVar("_Class", bound=type)
_Settings = TypeVar("_Settings", bound=BaseModel)
_NETWORK, _TRAINING = NetworkSettings(pool="loop"), TrainingSettings()
# Settings of the network that are options of the estimators themselves.
_OWN = {"pool": "structure", "slots": "slots", "reduction": "reduction"}


@dataclass(frozen=True)
class Flag:
    """Offers an option on the command line.

    Attributes:
        type: What it takes; ``bool`` is a switch, ``list[str]`` takes several values.
        choices: Names to list in the help text.
        name: The name of the flag, where it is not that of the option.
        help: The help text, where it is not the description of the option.
    """

    type: Any
    choices: tuple[str, ...] = ()
    name: str | None = None
    help: str | None = None


def _needs(what: str) -> Any:
    return Field(description=what)


_Integer = Annotated[StrictInt, _needs("an integer")]
_Number = Annotated[FiniteFloat, Strict(), _needs("a number")]
_Switch = Annotated[StrictBool, _needs("True or False")]
_Names = Annotated[list[StrictStr], Strict(), _needs("a list of names, as ['weight']")]
_Count = Annotated[PositiveInt, Strict(), _needs("an integer of at least 1")]
_Weight = Annotated[PositiveFloat, Strict(), Field(allow_inf_nan=False)]
_Value = StrictBool | StrictInt | _Number | StrictStr


class Options(BaseModel):
    """The options of an estimator.

    Attributes:
        structure: Latent structure by name, or several; their vectors are concatenated.
        slots: Number of slots of each structure.
        reduction: How a slot combines the nodes that are assigned to it.
        encoding: Structural encodings to add to the labels and attributes of the nodes; by default
            ``"auto"``, random-walk return probabilities where the graphs have neither. A name,
            several names, or :class:`lfds.data.EncodingSettings`.
        epochs: Number of epochs, at most.
        batch_size: Number of graphs in a batch.
        learning_rate: Learning rate of the first epoch; it decays from there.
        validation: Fraction of the graphs held out to choose the best epoch; probabilities are
            calibrated on them as well. With 0 the last epoch is kept.
        patience: Number of epochs without improvement in validation after which training stops;
            ``None`` for never.
        options: Other settings of the network by name, as ``{"width": 32}``; see
            :class:`lfds.nn.NetworkSettings`.
        node_attributes: Names of numeric node data of NetworkX graphs.
        node_label: Name of categorical node data of NetworkX graphs, which are integers.
        seed: Random seed; the same seed, graphs and number of threads give the same model.
        warm_start: Whether ``fit`` continues from the weights of the last fit.
        workers: Number of processes that compute structural encodings.
        progress: Whether to show a progress bar on standard error.
        class_weight: ``None``, ``"balanced"`` to give all classes the same total weight, or a
            weight for each label.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    structure: Annotated[
        StrictStr | _Names,
        _needs("the name of a structure, as 'loop', or a list of names"),
        Flag(list[str], choices=tuple(STRUCTURES)),
    ] = _NETWORK.pool
    slots: Annotated[_Integer, Flag(int)] = _NETWORK.slots
    reduction: Annotated[
        StrictStr,
        _needs("the name of a reduction, as 'mean'"),
        Flag(str, choices=get_args(NetworkSettings.model_fields["reduction"].annotation)),
    ] = _NETWORK.reduction
    encoding: Annotated[
        StrictStr | _Names | EncodingSettings,
        _needs("'auto', the name of an encoding, a list of names, or EncodingSettings"),
        Flag(list[str], choices=("auto", *NAMES)),
    ] = "auto"
    epochs: Annotated[_Integer, Flag(int)] = _TRAINING.epochs
    batch_size: Annotated[_Integer, Flag(int)] = _TRAINING.batch_size
    learning_rate: Annotated[_Number, Flag(float)] = _TRAINING.learning_rate
    validation: Annotated[
        float, Strict(), Field(ge=0, lt=1), _needs("a number from 0 to below 1"), Flag(float)
    ] = CompareSpec.model_fields["validation"].default
    # Half of all epochs: the learning rate decays to the end, and the last gains come late.
    patience: Annotated[_Count | None, _needs("None or an integer of at least 1"), Flag(int)] = (
        _TRAINING.epochs // 2
    )
    options: Annotated[
        dict[StrictStr, _Value] | None,
        _needs("None or settings of the network by name, as {'width': 32}"),
        Flag(
            list[str],
            choices=tuple(sorted(set(NetworkSettings.model_fields) - set(_OWN))),
            name="--option",
            help="Other settings of the network, as width=32 depth=3",
        ),
    ] = None
    node_attributes: _Names = []
    node_label: Annotated[StrictStr | None, _needs("None or one name")] = None
    seed: Annotated[_Integer, Flag(int)] = 0
    warm_start: _Switch = False
    workers: Annotated[_Count, Flag(int)] = 1
    progress: _Switch = False
    class_weight: Annotated[
        Literal["balanced"] | list[tuple[Label, _Weight]] | None,
        _needs("None, 'balanced', or a weight above 0 for each label, as {'rare': 3.0}"),
        Flag(bool, name="--balanced", help="Give all classes the same total weight"),
    ] = None

    @classmethod
    def of(cls, params: Mapping[str, Any], spell: Spelling = str) -> Self:
        """Validate the arguments of a constructor, or what flags stand for.

        Args:
            params: Options by name; what is not named has its default.
            spell: How the message of a SpecError names an option.
        """
        given = {name: _plain(value) for name, value in params.items()}
        if isinstance(given.get("class_weight"), dict):
            given["class_weight"] = list(given["class_weight"].items())
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            name = str(error.errors(include_url=False)[0]["loc"][0])
            need, found = cls.model_fields[name].description, reprlib.repr(params[name])
            raise SpecError(f"{spell(name)}: needs {need}, not {found}") from error

    def for_estimator(self) -> dict[str, Any]:
        """Return the options in the form of the constructor."""
        options = {name: getattr(self, name) for name in type(self).model_fields}
        return {**options, "class_weight": self.weights}

    @property
    def weights(self) -> Literal["balanced"] | dict[Label, float] | None:
        """The class weights, by label."""
        return dict(self.class_weight) if isinstance(self.class_weight, list) else self.class_weight

    def network_settings(
        self, defaults: Mapping[str, Any] | None = None, spell: Spelling = str
    ) -> NetworkSettings:
        """Return the settings of the network.

        Args:
            defaults: Defaults other than those of :class:`NetworkSettings`.
            spell: How messages name an option.
        """
        names = [self.structure] if isinstance(self.structure, str) else self.structure
        if not names:
            known = ", ".join(STRUCTURES)
            raise SpecError(f"{spell('structure')}: needs at least one name; choose from {known}")
        for name in names:
            if name not in STRUCTURES:
                known = choose_from(name, STRUCTURES)
                raise SpecError(f"{spell('structure')}: no structure is called {name!r}; {known}")
            if names.count(name) > 1:
                raise SpecError(f"{spell('structure')}: names {name!r} twice; once is enough")
        others = {**(defaults or {}), **(self.options or {})}
        for name in others.keys() & _OWN:
            own = spell(_OWN[name])
            raise SpecError(f"{spell('options')}: {name!r} has an option of its own; use {own}")
        own_settings = {name: getattr(self, option) for name, option in _OWN.items()}
        return _validated(
            NetworkSettings, {**others, **own_settings, "pool": "+".join(names)}, spell
        )

    def training_settings(self, spell: Spelling = str) -> TrainingSettings:
        """Return the settings of the training.

        A learning rate below the usual final one stays constant.
        """
        same = {name: getattr(self, name) for name in ("epochs", "batch_size", "learning_rate")}
        final = min(TrainingSettings().final_learning_rate, self.learning_rate)
        return _validated(TrainingSettings, {**same, "final_learning_rate": final}, spell)


def flag_of(option: str) -> Flag | None:
    """Return how the command line offers an option; ``None`` where it does not."""
    marks = Options.model_fields[option].metadata
    return next((mark for mark in marks if isinstance(mark, Flag)), None)


def document_options(estimator: _Class) -> _Class:
    """Add the descriptions of its options to the docstring of an estimator."""
    text = inspect.cleandoc(estimator.__doc__ or "")
    described = descriptions(Options)
    lines = ["Args:"]
    for name in inspect.signature(estimator).parameters:
        flag = flag_of(name)
        names = f" Names: {', '.join(flag.choices)}." if flag and flag.choices else ""
        entry = f"{name}: {described[name]}{names}"
        lines += textwrap.wrap(entry, 96, initial_indent=" " * 4, subsequent_indent=" " * 8)
    head, mark, rest = text.partition("Attributes:\n")
    estimator.__doc__ = "\n".join([head.rstrip(), "", *lines, "", mark + rest])
    return estimator


def _plain(value: Any) -> Any:
    """Return NumPy's numbers and arrays, which searches over options use, as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _validated(settings: type[_Settings], values: Mapping[str, Any], spell: Spelling) -> _Settings:
    try:
        return settings.model_validate(values, strict=True)
    except ValidationError as error:
        line = one_line(error, settings.model_fields)
        name, _, rest = line.partition(": ")
        raise SpecError(
            f"{spell(name)}: {rest}" if name in settings.model_fields else line
        ) from error
