"""Optional faster backends of :mod:`lfds.nn.ops`, and how the code finds out what it may use.

Every operation has a way in plain torch.  A backend stays only if it makes a whole training epoch
or prediction at least 1.3 times as fast (``benchmarks/README.md`` has the table); none does on the
CPU today.
"""
