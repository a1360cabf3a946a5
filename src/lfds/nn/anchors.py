"""The anchors: one vector for each slot, which attracts the nodes similar to it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.input_checks import check_choice, check_count, check_number

LEARNED: Final = "learned"
Smoothness = float | str


class Anchors(nn.Module, ABC):
    """Where the anchors come from.

    Attributes:
        channels: Length of an anchor.
        num_slots: Number of anchors.
        depends_on_graph: Whether every graph gets anchors of its own.
    """

    depends_on_graph: bool

    def __init__(self, channels: int, num_slots: int) -> None:
        super().__init__()
        self.channels = check_count("channels", channels)
        self.num_slots = check_count("num_slots", num_slots)

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw the anchors anew."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_slots} slots, {self.channels} channels)"


@final
class FixedAnchors(Anchors):
    r"""One learned matrix :math:`\mathbf{W}` for all graphs, as in the paper.

    Args:
        channels: Length of an anchor.
        num_slots: Number of anchors.
        initial: The anchors to start from, [num_slots, channels]; drawn at random by default.
    """

    depends_on_graph = False

    def __init__(self, channels: int, num_slots: int, initial: Tensor | None = None) -> None:
        super().__init__(channels, num_slots)
        if initial is not None and initial.shape != (num_slots, channels):
            raise ValueError(
                f"anchors must be [{num_slots}, {channels}], a row for each slot, got "
                f"{list(initial.shape)}; pass as many anchors as slots, or another structure"
            )
        self._initial = None if initial is None else initial.detach().clone()
        self.matrix = nn.Parameter(torch.empty(num_slots, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self._initial is None:
            draw_anchors_(self.matrix)
        else:
            with torch.no_grad():
                self.matrix.copy_(self._initial)

    def forward(self, x_max: Tensor | None = None) -> Float[Tensor, "slots channels"]:
        return self.matrix


@final
class SmoothAnchors(Anchors):
    r"""Anchors that vary slowly along the structure, so that neighbouring slots attract like nodes.

    .. math::
        \mathbf{W} = s \, \mathbf{U} \, \mathrm{diag}\Big(\frac{1}{1 + \tau \lambda_f}\Big)
            \mathbf{U}^\top \mathbf{C} = s \, (\mathbf{I} + \tau \mathbf{L})^{-1} \mathbf{C}, \qquad
        \mathbf{L} = \mathbf{U} \, \mathrm{diag}(\boldsymbol{\lambda}) \mathbf{U}^\top

    with the Laplacian :math:`\mathbf{L}` of the structure: free anchors :math:`\mathbf{C}`, which
    are learned, diffuse along it. The scale :math:`s` keeps them as long as they were.

    Args:
        channels: Length of an anchor.
        laplacian: The Laplacian :math:`\mathbf{L}`, [slots, slots].
        smoothness: The factor :math:`\tau`; 0 leaves the anchors free. ``"learned"`` starts at 1
            and is trained, as the exponential of a parameter.
    """

    depends_on_graph = False
    modes: Tensor
    frequencies: Tensor

    def __init__(
        self,
        channels: int,
        laplacian: Float[Tensor, "slots slots"],
        smoothness: Smoothness = 1.0,
    ) -> None:
        super().__init__(channels, laplacian.shape[0])
        fixed = check_smoothness(smoothness)
        self.smoothness = smoothness
        # Not part of the state: they follow from the structure.
        frequencies, modes = torch.linalg.eigh(laplacian.detach().double())
        dtype = torch.get_default_dtype()
        self.register_buffer("modes", modes.to(dtype), persistent=False)
        self.register_buffer("frequencies", frequencies.clamp(min=0).to(dtype), persistent=False)
        self.free = nn.Parameter(torch.empty(self.num_slots, channels))
        self.log_smoothness = nn.Parameter(torch.empty(())) if fixed is None else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        draw_anchors_(self.free)
        if self.log_smoothness is not None:
            nn.init.zeros_(self.log_smoothness)

    def forward(self, x_max: Tensor | None = None) -> Float[Tensor, "slots channels"]:
        return diffusion(self.modes, self.frequencies, self.factor()) @ self.free

    def factor(self) -> float | Tensor:
        r"""The factor :math:`\tau`."""
        if self.log_smoothness is not None:
            return self.log_smoothness.exp()
        return float(self.smoothness)


def diffusion(
    modes: Float[Tensor, "slots slots"],
    frequencies: Float[Tensor, "slots"],
    smoothness: float | Tensor,
) -> Float[Tensor, "slots slots"]:
    r"""The matrix :math:`s (\mathbf{I} + \tau \mathbf{L})^{-1}`; rows of mean squared length one.

    It is the same whichever eigenvectors are chosen where several have the same eigenvalue, as two
    of a loop have, so that a stored model means the same on every machine.
    """
    damping = 1 / (1 + smoothness * frequencies)
    # The modes are orthonormal, so that all squares sum to the squares of the damping.
    return (modes * (damping * damping.square().mean().rsqrt())) @ modes.T


def check_smoothness(smoothness: Smoothness) -> float | None:
    """Return a number that is finite and not negative, or None for ``"learned"``."""
    if isinstance(smoothness, str):
        check_choice("smoothness", smoothness, (LEARNED,))
        return None
    number = check_number("smoothness", smoothness)
    if not 0 <= number < float("inf"):
        raise ValueError(f"smoothness must be finite and not negative, got {smoothness}")
    return number


@final
class GeneratedAnchors(Anchors):
    r"""Anchors made for each graph from its largest values.

    .. math::
        \mathbf{W} = h(\mathbf{x}_{\max})

    The function :math:`h` is a perceptron with one hidden layer. It starts close to a constant,
    with a small part that depends on the graph.

    Args:
        channels: Length of an anchor.
        num_slots: Number of anchors.
        hidden: Width of the hidden layer; by default ``channels``.
    """

    depends_on_graph = True

    def __init__(self, channels: int, num_slots: int, hidden: int | None = None) -> None:
        super().__init__(channels, num_slots)
        width = channels if hidden is None else check_count("hidden", hidden)
        self.hidden = nn.Linear(channels, width)
        self.output = nn.Linear(self.hidden.out_features, num_slots * channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.hidden.reset_parameters()
        self.output.reset_parameters()
        with torch.no_grad():
            self.output.weight.mul_(1 / math.sqrt(self.channels))
            draw_anchors_(self.output.bias.view(self.num_slots, self.channels))

    def forward(
        self, x_max: Float[Tensor, "graphs channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        flat: Tensor = self.output(self.hidden(x_max).relu())
        return flat.view(-1, self.num_slots, self.channels)


@final
class MixtureAnchors(Anchors):
    r"""A mixture of candidate matrices, weighted for each graph by its largest values.

    .. math::
        \mathbf{W} = \sum_k \alpha_k \mathbf{W}_k, \qquad
        \boldsymbol{\alpha} = \mathrm{softmax}(\mathrm{MLP}(\mathbf{x}_{\max}))

    Paper: leaves open how the weights are made; with a softmax the anchors stay as long as the
    candidates are, and the weights can be read as a soft classification of the graph.

    Args:
        channels: Length of an anchor.
        num_slots: Number of anchors.
        candidates: Number of matrices to mix.
    """

    depends_on_graph = True

    def __init__(self, channels: int, num_slots: int, candidates: int = 4) -> None:
        super().__init__(channels, num_slots)
        check_count("candidates", candidates)
        self.matrices = nn.Parameter(torch.empty(candidates, num_slots, channels))
        self.hidden = nn.Linear(channels, channels)
        self.output = nn.Linear(channels, candidates)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        draw_anchors_(self.matrices)
        self.hidden.reset_parameters()
        self.output.reset_parameters()

    def weights(self, x_max: Float[Tensor, "graphs channels"]) -> Tensor:
        r"""The weights :math:`\boldsymbol{\alpha}` of the candidates, [graphs, candidates]."""
        logits: Tensor = self.output(self.hidden(x_max).relu())
        return logits.softmax(dim=-1)

    def forward(
        self, x_max: Float[Tensor, "graphs channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return torch.einsum("gk,ksc->gsc", self.weights(x_max), self.matrices)


ANCHORS: Mapping[str, type[Anchors]] = MappingProxyType(
    {
        "fixed": FixedAnchors,
        "smooth": SmoothAnchors,
        "generated": GeneratedAnchors,
        "mixture": MixtureAnchors,
    }
)


def draw_anchors_(matrix: Tensor) -> None:
    """Fill ``matrix`` [..., slots, channels] with random directions of length one.

    On features of unit variance the logits then have about unit variance: at first a node is spread
    over about a third of the slots.
    """
    with torch.no_grad():
        matrix.copy_(nn.functional.normalize(torch.randn_like(matrix), dim=-1))
