"""Atoms as nodes and bonds as edges, with the features that chemists describe them by."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from lfds.data.edges import both_directions
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import Array, graphs_from_arrays
from lfds.data.readers.rdkit_molecules import Fragments

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol

AtomFeatures: TypeAlias = Literal["full", "basic"]
"""Which features atoms and bonds get; ``basic`` is what earlier versions read."""

LEGACY_ATOM_FEATURES: AtomFeatures = "basic"

RDKIT_AROMATIC = 12
"""The label of an aromatic bond."""

SMILES_COLUMN = "smiles"
"""Header of the column with SMILES, unless another is named."""

# How the groups at a stereocentre or a double bond are arranged, by the labels of chemists, which
# do not depend on the order of the atoms; 0 where it makes no difference or is not known.
_STEREO = {"R": 1, "S": 2, "E": 3, "Z": 4, "r": 5, "s": 6, "M": 7, "P": 8}
_CIP = "_CIPCode"
_HYBRIDIZATIONS = {1: "S", 2: "SP", 3: "SP2", 4: "SP3", 5: "SP2D", 6: "SP3D", 7: "SP3D2"}
_ELEMENTS = re.findall(
    "[*A-Z][a-z]?",
    "*HHeLiBeBCNOFNeNaMgAlSiPSClArKCaScTiVCrMnFeCoNiCuZnGaGeAsSeBrKrRbSrYZrNbMoTcRuRhPdAgCdInSnSb"
    "TeIXeCsBaLaCePrNdPmSmEuGdTbDyHoErTmYbLuHfTaWReOsIrPtAuHgTlPbBiPoAtRnFrRaAcThPaUNpPuAmCmBkCfEs"
    "FmMdNoLrRfDbSgBhHsMtDsRgCnNhFlMcLvTsOg",
)
# Labels of large cages may take hours; these many steps are under a second.
_CIP_STEPS = 100_000


class MoleculeOptions(BaseModel):
    """How molecules are read: a model needs all of its molecules read in the same way.

    Attributes:
        atom_features: Which features atoms and bonds get.
        fragments: Whether all parts of a salt or mixture are kept, or the largest alone.
        smiles_column: Header of the column with SMILES.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    atom_features: AtomFeatures = "full"
    fragments: Fragments = "all"
    smiles_column: str = SMILES_COLUMN

    @classmethod
    def of(cls, graphs: GraphSet) -> Self:
        """Return how some graphs were read; the defaults if they are no molecules."""
        known = graphs.provenance
        given = {name: known[name] for name in cls.model_fields if name in known}
        if not given and "bad_smiles_skipped" in known:  # a set that an earlier version saved
            given = {"atom_features": LEGACY_ATOM_FEATURES}
        return cls.model_validate(given)


@dataclass(frozen=True)
class FeatureTable:
    """The columns of one kind of features.

    Attributes:
        atom_labels: Categories of atoms.
        atom_attributes: Numbers of atoms.
        bond_labels: Categories of bonds.
        bond_attributes: Numbers of bonds.
    """

    atom_labels: "Mapping[str, Callable[[Atom], int]]"
    atom_attributes: "Mapping[str, Callable[[Atom], float]]"
    bond_labels: "Mapping[str, Callable[[Bond], int]]"
    bond_attributes: "Mapping[str, Callable[[Bond], float]]"


def _atom_stereo(atom: "Atom") -> int:
    """R or S of a stereocentre; E or Z at the ends of a double bond."""
    if atom.HasProp(_CIP):
        return _STEREO.get(atom.GetProp(_CIP), 0)
    return next((code for bond in atom.GetBonds() if (code := _bond_stereo(bond))), 0)


def _bond_stereo(bond: "Bond") -> int:
    return _STEREO.get(bond.GetProp(_CIP), 0) if bond.HasProp(_CIP) else 0


_BASIC = FeatureTable(
    atom_labels={
        "atomic number": lambda atom: atom.GetAtomicNum(),
        "hybridisation": lambda atom: int(atom.GetHybridization()),
    },
    atom_attributes={
        "formal charge": lambda atom: atom.GetFormalCharge(),
        "hydrogens": lambda atom: atom.GetTotalNumHs(),
        "radical electrons": lambda atom: atom.GetNumRadicalElectrons(),
        "aromatic": lambda atom: atom.GetIsAromatic(),
        "in a ring": lambda atom: atom.IsInRing(),
    },
    bond_labels={"bond type": lambda bond: int(bond.GetBondType())},
    bond_attributes={
        "conjugated": lambda bond: bond.GetIsConjugated(),
        "in a ring": lambda bond: bond.IsInRing(),
    },
)
_FULL = FeatureTable(
    atom_labels={
        "element": lambda atom: atom.GetAtomicNum(),
        "degree": lambda atom: atom.GetTotalDegree(),
        "formal charge": lambda atom: atom.GetFormalCharge(),
        "hydrogens": lambda atom: atom.GetTotalNumHs(),
        "hybridization": lambda atom: int(atom.GetHybridization()),
        "stereo": _atom_stereo,
    },
    atom_attributes={
        "aromatic": lambda atom: atom.GetIsAromatic(),
        "in a ring": lambda atom: atom.IsInRing(),
        "radical electrons": lambda atom: atom.GetNumRadicalElectrons(),
        "mass": lambda atom: atom.GetMass(),
    },
    bond_labels={
        "bond order": lambda bond: int(bond.GetBondType()),
        "stereo": _bond_stereo,
    },
    bond_attributes=_BASIC.bond_attributes,
)
FEATURES: Mapping[AtomFeatures, FeatureTable] = MappingProxyType({"full": _FULL, "basic": _BASIC})
"""The features by name."""


def features_of(graphs: GraphSet) -> FeatureTable | None:
    """Return the features that molecules were read with; None if graphs are no molecules."""
    name = str(graphs.provenance.get("atom_features", ""))
    return next((table for known, table in FEATURES.items() if known == name), None)


def feature_words(graphs: GraphSet, owners: str) -> list[tuple[str, dict[int, str]]]:
    """Return what chemists call the labels of atoms or bonds; nothing if there are no molecules.

    Args:
        graphs: Molecules or other graphs.
        owners: ``nodes`` or ``edges``.

    Returns:
        For each column its name, and words for its values where numbers say little.
    """
    features = features_of(graphs)
    if features is None:
        return []
    words = {
        "element": dict(enumerate(_ELEMENTS)),
        "atomic number": dict(enumerate(_ELEMENTS)),
        "hybridization": _HYBRIDIZATIONS,
        "hybridisation": _HYBRIDIZATIONS,
        "bond order": {RDKIT_AROMATIC: "aromatic"},
        "bond type": {RDKIT_AROMATIC: "aromatic"},
        "stereo": {number: word for word, number in _STEREO.items()},
    }
    named = features.atom_labels if owners == "nodes" else features.bond_labels
    return [(name, words.get(name, {})) for name in named]


def element_symbol(number: int) -> str:
    """Return the symbol of an element, as Na; the number itself if there is none."""
    return _ELEMENTS[number] if 0 <= number < len(_ELEMENTS) else str(number)


def graphs_of_molecules(
    molecules: "Sequence[Mol]", y: Array | None, name: str, features: AtomFeatures = "full"
) -> GraphSet:
    """Return a set of molecules; a bond is an edge in both directions.

    Args:
        molecules: Each becomes a graph, without its hydrogens.
        y: Their targets.
        name: Name of the set.
        features: A key of :data:`FEATURES`, kept in ``provenance``.
    """
    table = FEATURES[features]
    if features == "full":
        for molecule in molecules:
            _assign_stereo(molecule)
    first = np.cumsum([0, *(molecule.GetNumAtoms() for molecule in molecules)])
    atoms = [atom for molecule in molecules for atom in molecule.GetAtoms()]
    bonds = [bond for molecule in molecules for bond in molecule.GetBonds()]
    pairs = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds])
    # Salts and single atoms have no bonds at all.
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    pairs += np.repeat(first[:-1], [molecule.GetNumBonds() for molecule in molecules])[:, None]
    bond_labels = _columns(table.bond_labels, bonds).astype(np.int64)
    bond_attributes = _columns(table.bond_attributes, bonds)
    graphs = graphs_from_arrays(
        np.diff(first),
        both_directions(pairs),
        y,
        attributes=_columns(table.atom_attributes, atoms),
        labels=_columns(table.atom_labels, atoms).astype(np.int64),
        edge_attributes=np.concatenate([bond_attributes, bond_attributes]),
        edge_labels=np.concatenate([bond_labels, bond_labels]),
        name=name,
    )
    return replace(graphs, provenance={**graphs.provenance, "atom_features": features})


def _columns(
    functions: "Mapping[str, Callable[[Atom], float]] | Mapping[str, Callable[[Bond], float]]",
    items: "Sequence[Atom] | Sequence[Bond]",
) -> NDArray[np.float64]:
    rows = [[function(item) for function in functions.values()] for item in items]
    return np.array(rows, dtype=np.float64).reshape(-1, len(functions))


def _assign_stereo(molecule: "Mol") -> None:
    """Label stereocentres R or S, and double bonds E or Z, where the SMILES says which."""
    from rdkit.Chem import rdCIPLabeler

    stereo = any(int(atom.GetChiralTag()) for atom in molecule.GetAtoms()) or any(
        int(bond.GetStereo()) for bond in molecule.GetBonds()
    )
    if not stereo:
        return
    try:
        rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=_CIP_STEPS)
    except RuntimeError:  # too many steps: the labels so far stay
        return
