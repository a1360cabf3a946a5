"""What computes: torch, its device and its instructions; another one gives other bits."""

import torch


def backend_of(device: torch.device | str = "cpu") -> str:
    """Return what trainings on a device are computed by, as records and checkpoints name it.

    The same backend gives the same bits; with another one sums are rounded in another order, which
    training amplifies from epoch to epoch.
    """
    where = torch.device(device)
    if where.type == "cuda":
        unit = torch.cuda.get_device_name(where)
    elif where.type == "cpu":
        unit = torch.backends.cpu.get_cpu_capability()
    else:
        unit = ""
    return " ".join(part for part in ("torch", torch.__version__, where.type, unit) if part)
