"""Functions that run in a group of processes, as ranks do."""

import traceback
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

from lfds.processes import run_in_processes


@dataclass(frozen=True)
class Member:
    """One process of a group."""

    function: object
    rank: int
    ranks: int
    meeting: str


def in_ranks(function, ranks, folder):
    """Return what a function of a module returns in each of so many ranks."""
    members = [Member(function, rank, ranks, str(folder / "meeting")) for rank in range(ranks)]
    found = {}
    run_in_processes(members, work, ranks, None, lambda one, end: found.update({one.rank: end}))
    for end in found.values():
        assert not isinstance(end, str), end
    return [found[rank] for rank in range(ranks)]


def work(member, _):
    torch.set_num_threads(1)
    store = dist.FileStore(member.meeting, member.ranks)
    how = {"store": store, "rank": member.rank, "world_size": member.ranks}
    dist.init_process_group("gloo", timeout=timedelta(seconds=300), **how)
    try:
        return member.function()
    except Exception:
        return traceback.format_exc()
    finally:
        dist.destroy_process_group()
