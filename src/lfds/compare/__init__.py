"""Comparing poolings: protocols, folds, and the processes that run them."""

from lfds.compare.runner import compare
from lfds.config.comparison import CompareSpec
from lfds.config.messages import SpecError

__all__ = ["CompareSpec", "SpecError", "compare"]
