"""A network of the user's own on the latent structure, in place of the latent layers.

It is called with what the structure makes of the slots (:meth:`Structure.signal`), and returns
either one vector per graph, or slots in the same layout, fewer and wider ones if it likes, of which
maximum and mean are read:

======================  =======================================  ============================
structure               called with                              may return, beside [graphs, d]
======================  =======================================  ============================
``Image``, ``Torus``    image [graphs, channels, height, width]  [graphs, d, height', width']
``Array``               signal [graphs, channels, slots]         [graphs, d, slots']
graphs                  slots [graphs, slots, channels],         [graphs, slots', d]
                        adjacency [slots, slots]
``LearnedSpectrum``     slots [graphs, slots, channels],         [graphs, slots', d]
                        basis [slots, slots]
======================  =======================================  ============================
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from lfds.nn.structures.base import Structure


def run_latent(
    latent: nn.Module, structure: Structure, slots: Float[Tensor, "graphs slots channels"]
) -> Float[Tensor, "graphs out_channels"]:
    """Run the network on the slots, and read one vector per graph."""
    return read_vectors(latent(*signal_of(structure, slots)), structure, slots.shape[0])


def signal_of(
    structure: Structure, slots: Float[Tensor, "graphs slots channels"]
) -> tuple[Tensor, ...]:
    """Return what the network is called with, in the memory layout that networks are written for.

    A view with channels last in memory cannot be flattened by ``view``, and crashes strided 1x1
    convolutions of few channels in training (oneDNN issue 6035, torch 2.13).
    """
    return tuple(part.contiguous() for part in structure.signal(slots))


def read_vectors(
    out: Any, structure: Structure, num_graphs: int
) -> Float[Tensor, "graphs out_channels"]:
    """Take the vectors that a network returned, or maximum and mean over the slots."""
    if not isinstance(out, Tensor) or out.dim() not in (2, *structure.signal_dims):
        found = f"a tensor {list(out.shape)}" if isinstance(out, Tensor) else type(out).__name__
        raise ValueError(
            f"latent must return one vector per graph [graphs, d], or slots in the layout it was "
            f"called with, got {found}"
        )
    if out.shape[0] != num_graphs:
        raise ValueError(
            f"latent must return a row for each of the {num_graphs} graphs, got {out.shape[0]}"
        )
    if out.dim() == 2:
        return out
    rows: Tensor = out.flatten(2) if structure.channels_first else out.mT
    return torch.cat([rows.amax(dim=2), rows.mean(dim=2)], dim=1)


def width_of(latent: nn.Module, structure: Structure, channels: int) -> int:
    """Find the length of the vectors by a trial on two graphs without nodes."""
    if not isinstance(latent, nn.Module):
        found = (
            f"the class {latent.__name__}" if isinstance(latent, type) else type(latent).__name__
        )
        raise TypeError(f"latent must be a torch.nn.Module, got {found}")
    made = (parameter for parameter in latent.parameters() if not is_lazy(parameter))
    slots = next(made, torch.empty(0)).new_zeros(2, structure.num_slots, channels)
    try:
        with torch.no_grad(), evaluation_mode(latent):
            out = latent(*signal_of(structure, slots))
    except Exception as error:  # a network of the user's may fail in any way
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"latent does not run on {structure} with {channels} channels: {reason}"
        ) from error
    return read_vectors(out, structure, 2).shape[1]


@contextmanager
def evaluation_mode(module: nn.Module) -> Iterator[None]:
    """Switch a module and its parts to evaluation mode, and each of them back afterwards."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training
