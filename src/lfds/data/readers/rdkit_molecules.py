"""Molecules by rdkit: from SMILES, with the reason why one is invalid; fragments and scaffolds."""

import logging
import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lfds.config.messages import is_text
from lfds.data.errors import DataError

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Fragments: TypeAlias = Literal["all", "largest"]
"""Which parts of a salt or mixture are kept: all of them, or the largest alone."""

_MISSING = "reading SMILES needs rdkit: pip install 'lfds[chem]'"
_TIME = re.compile(r"^\[[0-9:]+\] ")
_PREFIX = "SMILES Parse Error: "


def molecule_from(text: str, fragments: Fragments = "all") -> "Mol | None":
    """Return the molecule of a SMILES, or ``None`` if it is invalid."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError(_MISSING) from error
    # rdkit would print its own report of an invalid SMILES.
    block = rdBase.BlockLogs()
    molecule = Chem.MolFromSmiles(text) if text and is_text(text) else None
    del block
    if molecule is None or molecule.GetNumAtoms() == 0:
        return None
    return largest_fragment(molecule) if fragments == "largest" else molecule


def largest_fragment(molecule: "Mol") -> "Mol":
    """Return the part of a salt or mixture with most heavy atoms; the heavier of two equal ones."""
    from rdkit.Chem import GetMolFrags
    from rdkit.Chem.rdMolDescriptors import CalcExactMolWt

    parts = GetMolFrags(molecule, asMols=True)
    if len(parts) == 1:
        return molecule
    best: Mol = max(parts, key=lambda part: (part.GetNumHeavyAtoms(), CalcExactMolWt(part)))
    return best


def invalid_reason(text: str) -> str:
    """Return in one line why rdkit cannot read a SMILES."""
    if not text:
        return "it is empty"
    if not is_text(text):
        return "it is not valid Unicode"
    problems = [_TIME.sub("", line).strip() for line in _log_of_reading(text)]
    first = next((line for line in problems if line), "it has no atoms")
    reason = first.removeprefix(_PREFIX).rstrip(":")
    # rdkit repeats the SMILES, which the message has already.
    reason = re.sub(r" (while parsing|for input): .*$", "", reason)
    where = next((line for line in problems if "around position" in line), None)
    position = None if where is None else re.search(r"position (\d+)", where)
    return reason if position is None else f"{reason} at position {position[1]}"


def canonical_smiles(molecule: "Mol") -> str:
    """Return the SMILES that all spellings of a molecule share."""
    from rdkit.Chem import MolToSmiles

    text: str = MolToSmiles(molecule)
    return text


def scaffold_of(molecule: "Mol") -> str:
    """Return the Bemis-Murcko scaffold, rings and what links them; empty without rings."""
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    make: Any = MurckoScaffoldSmiles  # has no types
    text: str = make(mol=molecule, includeChirality=False)
    return text


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += record.getMessage().splitlines()


def _log_of_reading(text: str) -> list[str]:
    """Return what rdkit logs when it reads a SMILES; nothing is printed."""
    from rdkit import Chem, rdBase

    log, kept = logging.getLogger("rdkit"), _Lines()
    before: Any = (log.handlers, log.propagate)
    log.handlers, log.propagate = [kept], False
    rdBase.LogToPythonLogger()
    try:
        Chem.MolFromSmiles(text)
    finally:
        rdBase.LogToCppStreams()
        log.handlers, log.propagate = before
    return kept.lines
