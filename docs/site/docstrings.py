"""Docstrings for the site: equations and references of Sphinx, as the code has them, in Markdown.

Docstrings are read in editors and by ``help()`` too, and follow PyG there: ``.. math::`` and
``:class:`Name```.
"""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from hooks import mathml

_BLOCK = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::\n(?P<body>(?:(?P=indent)[ ]+\S.*\n?|[ ]*\n)+)", re.MULTILINE
)
_INLINE = re.compile(r":math:`([^`]+)`")
_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?(?P<name>[^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")
_EXAMPLE = re.compile(r"^(?P<indent>[ ]*)>>> (?:.*\S.*(?:\n|$))+", re.MULTILINE)


_SAME_DOCUMENTATION = {"nn.aggregation.LFDSPool": "nn.pool.LatentPool"}
"""Classes that share a docstring, which is set when they are imported; griffe imports nothing."""

_IMPORTED = ("estimator.classifier.LFDSClassifier", "estimator.regressor.LFDSRegressor")
"""Classes whose docstring and defaults are completed from settings when they are imported."""


class SphinxToMarkdown(griffe.Extension):
    """Rewrites the docstring of every object that is documented."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Give classes the docstring that they share with another."""
        for name, other in _SAME_DOCUMENTATION.items():
            pkg[name].docstring = pkg[other].docstring
        for path in _IMPORTED:
            module, _, name = path.rpartition(".")
            found = getattr(import_module(f"{pkg.name}.{module}"), name)
            pkg[path].docstring.value = to_markdown(inspect.getdoc(found) or "")
            known = inspect.signature(found).parameters
            for parameter in pkg[path]["__init__"].parameters:
                if parameter.name in known and parameter.default is not None:
                    parameter.default = repr(known[parameter.name].default)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite a docstring, if there is one."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)


def to_markdown(docstring: str) -> str:
    r"""Return a docstring with its equations as MathML, its references and examples as code.

    >>> to_markdown("A :class:`~lfds.LFDSPool` of ``x``")
    'A `LFDSPool` of `x`'
    >>> to_markdown("Sums.\n\n    >>> 1 + 1\n    2\n").splitlines()
    ['Sums.', '', '    ```pycon', '    >>> 1 + 1', '    2', '    ```']
    """
    text = _BLOCK.sub(_display, docstring)
    text = _INLINE.sub(lambda found: mathml(found[1], "inline"), text)
    text = _ROLE.sub(lambda found: f"`{_short(found['name'])}`", text)
    return _EXAMPLE.sub(_fenced, _LITERAL.sub(r"`\1`", text))


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _fenced(found: re.Match[str]) -> str:
    # Without a fence Markdown takes the prompt for quotes in quotes.
    indent = found["indent"]
    return f"{indent}```pycon\n{found[0].rstrip()}\n{indent}```\n"


def _display(found: re.Match[str]) -> str:
    # One equation for each line: browsers differ in how they align MathML.
    lines = dedent(found["body"]).replace("&", "").split(r"\\")
    drawn = (mathml(" ".join(line.split()), "block") for line in lines)
    return "".join(f"\n{found['indent']}{line}\n" for line in drawn) + "\n"
