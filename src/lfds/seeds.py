"""Randomness by name: every random stream has a seed made from a root and what it is for."""

import hashlib


def seed_for(root: int, *scope: str | int) -> int:
    """Return the seed of the stream named ``scope``.

    The seed depends on nothing but its arguments, so fold 7 alone draws what fold 7 of ten draws.

    Args:
        root: The one number a user chooses.
        scope: What the stream is for, e.g. ``"ENZYMES", "fold", 7, "shuffle"``.

    Returns:
        A number in ``[0, 2**63)``, good for torch, numpy and ``random`` alike.

    >>> seed_for(0, "fold", 7) == seed_for(0, "fold", 7) != seed_for(0, "fold", 8)
    True
    """
    digest = hashlib.sha256(repr((root, *scope)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % 2**63


def member_seed(seed: int, member: int) -> int:
    """Return the random seed of a member of an ensemble; that of the first is the seed itself.

    >>> member_seed(7, 0), member_seed(7, 1) == member_seed(7, 1) != member_seed(8, 1)
    (7, True)
    """
    return seed if member == 0 else seed_for(seed, "member", member)
