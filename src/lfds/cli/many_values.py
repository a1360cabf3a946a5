"""Options that take several values after one flag: ``--target a b``."""

from collections.abc import Container, Iterable
from typing import Any

from typer.core import TyperCommand

from lfds.cli.usage import UsageError


class ManyValues(TyperCommand):
    """A command whose list options take all values that follow: ``--pool max loop image``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat list options before each of their values, as the parser needs it.

        Where that leaves none for an argument, as in ``info --target y FILE``, a flag takes one.
        """
        lists = [option for option in self.params if getattr(option, "multiple", False)]
        repeated = spread(args, {flag for one in lists for flag in one.opts})
        alone = not self._fits(ctx, repeated) and self._fits(ctx, args)
        return super().parse_args(ctx, args if alone else repeated)

    def _fits(self, ctx: Any, args: list[str]) -> bool:
        """Whether there is a word for every argument that is needed, and none is left over."""
        needed = [one for one in self.params if one.param_type_name == "argument" and one.required]
        try:
            given, left, _ = self.make_parser(ctx).parse_args(args=list(args))
        except UsageError:
            return True  # of an unknown flag, for example, which is said when it is parsed again
        return not left and all(isinstance(given.get(one.name), str) for one in needed)


def spread(args: Iterable[str], many: Container[str]) -> list[str]:
    """Repeat the options in ``many`` before each of their values.

    >>> spread(["--pool", "max", "loop", "--folds", "5"], {"--pool"})
    ['--pool', 'max', '--pool', 'loop', '--folds', '5']
    """
    repeated: list[str] = []
    option = ""
    for arg in args:
        if arg.startswith("-"):
            option = arg if arg in many else ""
            if not option:
                repeated.append(arg)
        else:
            repeated += [option, arg] if option else [arg]
    return repeated
