"""Where a comparison starts from, by name; whatever is named beside a preset overrides it."""

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "paper": {
        "network": "paper",
        "protocol": "paper",
        # The paper does not say how large the coordinates of the embedding are. At gensim's scale
        # they dominate all other features; a tenth of it does not.
        "encoding": {"structure": [{"kind": "deepwalk", "scale": 0.1}]},
        # The paper names both ends of the learning rate, and not the way between them. This one was
        # chosen when the head had no batch norm and learned more with a low rate for longer.
        "decay": "exponential",
        "averaging": 0.0,
    },
}
