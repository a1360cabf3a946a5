"""A structure is its symmetry: the law that each of its layers must keep."""

import torch
from torch.testing import assert_close

from lfds.nn import LFDSPool
from lfds.testing.trial import after, ready


def assert_symmetric(pool: LFDSPool, *, seed: int = 0) -> None:
    """Renaming the slots by a symmetry of the structure must commute with every layer.

    What the symmetries are, each structure says itself (``pool.structure.symmetries()``).
    """
    if not isinstance(pool, LFDSPool):
        raise TypeError(f"only an LFDSPool has a structure, got {type(pool).__name__}")
    trial = ready(pool, pool.in_channels)
    assert isinstance(trial, LFDSPool)
    symmetries = list(trial.structure.symmetries())
    if not symmetries:
        raise AssertionError(f"{trial.structure} is too small to show its symmetry")
    generator = torch.Generator().manual_seed(seed)
    shape = (2, trial.structure.num_slots, trial.hidden_channels)
    for symmetry in symmetries:
        slots = torch.randn(shape, dtype=torch.float64, generator=generator)
        if symmetry.support is not None:
            slots = slots * symmetry.support[:, None]
        for depth, layer in enumerate(trial.layers):
            first = layer(slots[:, symmetry.order], symmetry.image)
            last = layer(slots, trial.structure)[:, symmetry.order]
            words = f"layer {depth} of {trial.structure} notices that it was {symmetry.name}"
            assert_close(first, last, msg=after(words))
