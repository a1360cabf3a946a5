"""A network of the user's own on the latent structure, in place of the latent layers.

It is called with what the structure makes of the slots (:meth:`Structure.signal`), and returns
either one vector per graph, or slots in the same layout, fewer and wider ones if it likes, of which
maximum and mean are read:

======================  =======================================  ============================
structure               called with                              may return, beside [graphs, d]
======================  =======================================  ============================
``Image``               image [graphs, channels, height, width]  [graphs, d, height', width']
``Array``               signal [graphs, channels, slots]         [graphs, d, slots']
graphs                  slots [graphs, slots, channels],         [graphs, slots', d]
                        adjacency [slots, slots]
``LearnedSpectrum``     slots [graphs, slots, channels],         [graphs, slots', d]
                        basis [slots, slots]
======================  =======================================  ============================
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.structures.base import Structure


def run_latent(
    latent: nn.Module, structure: Structure, slots: Float[Tensor, "graphs slots channels"]
) -> Float[Tensor, "graphs out_channels"]:
    """Run the network on the slots, and read one vector per graph."""
    out = latent(*structure.signal(slots))
    if not isinstance(out, Tensor) or out.dim() not in (2, *structure.signal_dims):
        found = f"a tensor {list(out.shape)}" if isinstance(out, Tensor) else type(out).__name__
        raise ValueError(
            f"latent must return one vector per graph [graphs, d], or slots in the layout it was "
            f"called with, got {found}"
        )
    if out.shape[0] != slots.shape[0]:
        raise ValueError(
            f"latent must return a row for each of the {slots.shape[0]} graphs, got {out.shape[0]}"
        )
    if out.dim() == 2:
        return out
    rows = out.flatten(2) if structure.channels_first else out.mT
    return torch.cat([rows.amax(dim=2), rows.mean(dim=2)], dim=1)


def width_of(latent: nn.Module, structure: Structure, channels: int) -> int:
    """Find the length of the vectors by a trial on two graphs without nodes."""
    parameter = next(latent.parameters(), torch.empty(0))
    slots = parameter.new_zeros(2, structure.num_slots, channels)
    training = latent.training
    try:
        with torch.no_grad():
            width = run_latent(latent.eval(), structure, slots).shape[1]
    except (RuntimeError, TypeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"latent does not run on {structure} with {channels} channels: {reason}"
        ) from error
    finally:
        latent.train(training)
    return width
