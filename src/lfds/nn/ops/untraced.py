"""What compiled code leaves its graph for."""

from collections.abc import Callable

import torch
from torch import Tensor

from lfds.nn.ops.ragged import largest_and_one

_REASON = "the number of graphs is read from index; with fullgraph=True pass dim_size or ptr"

# As the code of PyG's aggregations does.
read_count: Callable[[Tensor], int] = torch.compiler.disable(largest_and_one, reason=_REASON)
