"""A graph of slots given by its Fourier basis, which is learned."""

import copy
from collections.abc import Iterator
from typing import Any, Literal, SupportsIndex, final, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal
from torch.nn.utils.parametrize import remove_parametrizations

from lfds.config.network import NetworkSettings
from lfds.nn.input_checks import check_number
from lfds.nn.spatial import Activation
from lfds.nn.structures.base import Sketch, Structure, Symmetry

Orthonormality = Literal["penalty", "exact"]


@final
class LearnedSpectrum(Structure):
    r"""Slots whose Fourier basis :math:`\mathbf{U}'` is learned along with everything else.

    Symmetry: permuting the slots, in the rows of :math:`\mathbf{U}'` and in the signal, permutes
    the output.

    Args:
        num_slots: Number of slots.
        orthonormal: How the basis is kept orthonormal.
            ``"penalty"`` (the paper, and the default): the basis is free, and :meth:`penalty` is
            added to the loss. It costs nothing, exports everywhere, and the basis is only nearly
            orthonormal.
            ``"exact"``: the matrix exponential of a skew matrix, through
            :func:`torch.nn.utils.parametrizations.orthogonal`; no penalty is needed. It costs an
            exponential of a [slots, slots] matrix per layer and step. ONNX has none: call
            :meth:`freeze` before such an export.
        weight: The factor :math:`\lambda` of the penalty.
    """

    def __init__(
        self, num_slots: int = 64, *, orthonormal: Orthonormality = "penalty", weight: float = 1.0
    ) -> None:
        super().__init__(num_slots)
        if orthonormal not in get_args(Orthonormality):
            raise ValueError(f"orthonormal must be 'penalty' or 'exact', got {orthonormal!r}")
        if not 0 <= check_number("weight of the penalty", weight) < float("inf"):
            raise ValueError(f"weight of the penalty must be finite and not negative, got {weight}")
        self.orthonormal, self.weight = orthonormal, weight
        self.frame = _Frame(num_slots)
        if orthonormal == "exact":
            orthogonal(self.frame, "basis", orthogonal_map="matrix_exp")
        self.reset_parameters()

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "LearnedSpectrum":
        return cls(settings.slots, weight=settings.orthonormality)

    def reset_parameters(self) -> None:
        # From a start that is not orthogonal, the penalty stalls far from zero.
        # Drawn in float32: torch has no QR decomposition in lower precisions.
        start = nn.init.orthogonal_(torch.empty(self.num_slots, self.num_slots))
        self._set_basis(start.to(self.basis))

    @torch.no_grad()
    def _set_basis(self, basis: Tensor) -> None:
        if self.orthonormal == "exact":
            self.frame.basis = basis  # the parametrization finds the skew matrix that gives it
        else:
            self.frame.basis.copy_(basis)

    @property
    def basis(self) -> Float[Tensor, "slots frequencies"]:
        r"""The Fourier basis :math:`\mathbf{U}'`, one frequency a column."""
        return self.frame.basis

    def freeze(self) -> None:
        """Turn the basis into a constant matrix, for export.

        A ``state_dict`` saved before does not fit a pooling frozen afterwards, nor the reverse.
        """
        if self.orthonormal == "exact":
            remove_parametrizations(self.frame, "basis", leave_parametrized=True)
            self.orthonormal = "penalty"
        self.frame.basis.requires_grad_(False)
        self.weight = 0.0

    def penalty(self) -> Float[Tensor, ""]:
        r""":math:`\lambda \lVert \mathbf{U}'^\top \mathbf{U}' - \mathbf{I} \rVert_F^2`."""
        if self.orthonormal == "exact":
            return super().penalty()
        identity = torch.eye(self.num_slots, dtype=self.basis.dtype, device=self.basis.device)
        return self.weight * (self.basis.T @ self.basis - identity).square().sum()

    def layer(self, channels: int) -> "SpectralLayer":
        return SpectralLayer(channels, self.num_slots)

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """The slots as they are, and the basis."""
        return slots, self.basis.to(slots)

    def sketch(self) -> Sketch:
        return Sketch("Spectrum", "basis", matrix=self.basis)

    def symmetries(self) -> Iterator[Symmetry]:
        order = torch.arange(self.num_slots).flip(0).roll(1)
        permuted = copy.deepcopy(self)
        permuted.freeze()
        permuted._set_basis(self.basis[order])
        yield Symmetry("permuted", order, permuted)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # torch cannot pickle a parametrized module: rebuild it from its arguments and its state.
        if self.orthonormal == "exact":
            learns = [parameter.requires_grad for parameter in self.parameters()]
            return _rebuild, (self.num_slots, self.weight, self.training, learns, self.state_dict())
        return super().__reduce_ex__(protocol)


class _Frame(nn.Module):
    """The holder of the basis: torch changes the class of whatever it parametrizes."""

    def __init__(self, num_slots: int) -> None:
        super().__init__()
        self.basis: Tensor = nn.Parameter(torch.empty(num_slots, num_slots))


def _rebuild(
    num_slots: int, weight: float, training: bool, learns: list[bool], state: dict[str, Tensor]
) -> LearnedSpectrum:
    structure = LearnedSpectrum(num_slots, orthonormal="exact", weight=weight)
    structure.load_state_dict(state, assign=True)
    for parameter, flag in zip(structure.parameters(), learns, strict=True):
        parameter.requires_grad_(flag)
    return structure.train(training)


@final
class SpectralLayer(nn.Module):
    r"""A spectral convolution over the slots, with a filter for each frequency.

    .. math::
        \mathbf{Y} \leftarrow f(\mathbf{U}' \boldsymbol{\Theta} \mathbf{U}'^\top
                                \mathbf{Y} \boldsymbol{\Phi}_2) + f(\mathbf{Y} \boldsymbol{\Phi}_1)
    """

    def __init__(self, channels: int, num_slots: int) -> None:
        super().__init__()
        self.response = nn.Parameter(torch.empty(num_slots))
        self.transforms = nn.Linear(channels, 2 * channels, bias=False)
        self.activation = Activation(2 * channels)
        self.reset_parameters()

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"], structure: LearnedSpectrum
    ) -> Float[Tensor, "graphs slots channels"]:
        basis = structure.basis
        mixing = (basis * self.response) @ basis.T
        own, sent = self.transforms(slots).chunk(2, dim=-1)
        mixed = mixing.to(sent.dtype) @ sent
        # Both terms pass through f at once, which works on each channel by itself.
        activated: Tensor = self.activation(torch.cat([own, mixed], dim=-1))
        own, mixed = activated.chunk(2, dim=-1)
        return own + mixed

    def reset_parameters(self) -> None:
        # Not all one: with a flat response the basis cancels out and would not learn.
        nn.init.normal_(self.response)
        self.transforms.reset_parameters()
        self.activation.reset_parameters()
