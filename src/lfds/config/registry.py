"""The registry: every structure, pooling, encoding and file format, and where it is implemented.

The command line, the settings, the estimators, reports, tests and benchmarks read names from here
and from nowhere else.  Nothing is imported until :meth:`Entry.load` is called, so that a list of
names needs no torch.
"""

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Something that can be chosen by name.

    Attributes:
        target: Where it is implemented, as ``module:name``.
        summary: What it is, for tables and help texts.
    """

    target: str
    summary: str

    @property
    def module(self) -> str:
        """The module where it is implemented."""
        return self.target.split(":")[0]

    @property
    def class_name(self) -> str:
        """The name of what is implemented there."""
        return self.target.split(":")[1]

    def load(self) -> Any:
        """Import what is implemented there."""
        return load(self.target)


def load(target: str) -> Any:
    """Import what is called ``module:name``."""
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class StructureEntry(Entry):
    """A latent structure.

    Attributes:
        square: Whether its number of slots has to be a square number.
        learned: Whether the arrangement of its slots is learned, as a matrix [slots, slots].
    """

    square: bool = False
    learned: bool = False


STRUCTURES: Mapping[str, StructureEntry] = MappingProxyType(
    {
        "image": StructureEntry(
            "lfds.nn.structures.image:Image", "a grid, 2-D convolution", square=True
        ),
        "torus": StructureEntry(
            "lfds.nn.structures.torus:Torus", "a grid that wraps around", square=True
        ),
        "array": StructureEntry("lfds.nn.structures.array:Array", "a row, 1-D convolution"),
        "sequence": StructureEntry("lfds.nn.structures.graph:Sequence", "a path graph"),
        "loop": StructureEntry("lfds.nn.structures.graph:Loop", "a cycle graph"),
        "learned-spatial": StructureEntry(
            "lfds.nn.structures.learned:LearnedGraph",
            "a graph with a learned adjacency",
            learned=True,
        ),
        "learned-spectral": StructureEntry(
            "lfds.nn.structures.spectrum:LearnedSpectrum",
            "a graph with a learned Fourier basis",
            learned=True,
        ),
    }
)
"""The latent structures."""


CONTROLS: Mapping[str, StructureEntry] = MappingProxyType(
    {
        "isolated": StructureEntry(
            "lfds.nn.structures.controls:Isolated", "slots that do not exchange anything"
        ),
        "one-slot": StructureEntry("lfds.nn.structures.controls:OneSlot", "a single slot"),
        "complete": StructureEntry(
            "lfds.nn.structures.controls:Complete", "slots that all exchange with all"
        ),
        "random": StructureEntry(
            "lfds.nn.structures.controls:RandomGraph", "a random graph with as many edges as a loop"
        ),
        "attention-slots": StructureEntry(
            "lfds.nn.structures.controls:Attention", "self-attention among the slots"
        ),
    }
)
"""Structures for ablations: the method without its structure."""


@dataclass(frozen=True)
class BaselineEntry(Entry):
    """A pooling that latent structures are compared with.

    Attributes:
        uses_all_layers: Whether it reads all layers of the base side by side; otherwise it reads
            one, the last of them or a map of all.
    """

    uses_all_layers: bool = False


BASELINES: Mapping[str, BaselineEntry] = MappingProxyType(
    {
        "max": BaselineEntry("lfds.nn.baselines.flat:MaxPool", "maximum over the nodes", True),
        "mean": BaselineEntry("lfds.nn.baselines.flat:MeanPool", "mean over the nodes", True),
        "sum": BaselineEntry("lfds.nn.baselines.flat:SumPool", "sum over the nodes", True),
        "max+mean": BaselineEntry(
            "lfds.nn.baselines.flat:MaxMeanPool", "maximum and mean side by side", True
        ),
        "stats": BaselineEntry(
            "lfds.nn.baselines.flat:StatsPool",
            "maximum, mean, standard deviation and logarithm of the size",
            True,
        ),
        "max-mlp": BaselineEntry(
            "lfds.nn.baselines.flat:MaxPerceptronPool", "maximum, and a perceptron after it", True
        ),
        "attention": BaselineEntry("lfds.nn.baselines.flat:AttentionPool", "gated attention", True),
        "sort": BaselineEntry("lfds.nn.baselines.sort:SortPool", "SortPool (DGCNN)", True),
        "diff": BaselineEntry("lfds.nn.baselines.diff:DiffPool", "DiffPool"),
        "topk": BaselineEntry("lfds.nn.baselines.rank:RankPool", "Top-K pooling"),
        "sag": BaselineEntry("lfds.nn.baselines.rank:RankPool", "self-attention graph pooling"),
        "set-transformer": BaselineEntry(
            "lfds.nn.baselines.transformers:TransformerPool", "Set Transformer"
        ),
        "gmt": BaselineEntry(
            "lfds.nn.baselines.transformers:TransformerPool", "Graph Multiset Transformer"
        ),
    }
)
"""The poolings that latent structures are compared with."""


@dataclass(frozen=True)
class BaseEntry(Entry):
    """A kind of layers that the base of a network is made of.

    ``target`` is a function ``(in_channels, settings, edge_channels) -> layer``.

    Attributes:
        uses_edges: Whether it uses labels and attributes of edges.
        exports: Whether it can be written to an ONNX file.
    """

    uses_edges: bool = False
    exports: bool = False


BASES: Mapping[str, BaseEntry] = MappingProxyType(
    {
        "spatial": BaseEntry(
            "lfds.nn.models.backbone:spatial",
            "the layer of the paper",
            uses_edges=True,
            exports=True,
        ),
        "gin": BaseEntry("lfds.nn.models.pyg_layers:gin", "GINConv of PyG"),
        "gine": BaseEntry("lfds.nn.models.pyg_layers:gine", "GINEConv of PyG", uses_edges=True),
        "gcn": BaseEntry("lfds.nn.models.pyg_layers:gcn", "GCNConv of PyG"),
        "sage": BaseEntry("lfds.nn.models.pyg_layers:sage", "SAGEConv of PyG"),
        "gat": BaseEntry("lfds.nn.models.pyg_layers:gat", "GATv2Conv of PyG", uses_edges=True),
        "pna": BaseEntry("lfds.nn.models.pyg_layers:pna", "PNAConv of PyG", uses_edges=True),
        "gps": BaseEntry(
            "lfds.nn.models.pyg_layers:gps",
            "GPSConv of PyG, with GINE and attention",
            uses_edges=True,
        ),
    }
)
"""The layers of the base, before the pooling."""

TGP_PREFIX = "tgp:"
"""A pooling called ``tgp:NAME`` is the pooler ``NAME`` of torch-geometric-pool."""

TGP = Entry("lfds.nn.baselines.tgp:CoarsePool", "poolers of torch-geometric-pool")

LFDS = Entry("lfds.nn.models.lfds_pooling:LFDSPooling", "one latent structure or several")

POOLINGS: Mapping[str, Entry] = MappingProxyType({**BASELINES, **STRUCTURES, **CONTROLS})
"""All poolings of a comparison."""

REFERENCES: Mapping[str, Entry] = MappingProxyType(
    {
        "random-forest": Entry(
            "lfds.train.forest:Forest", "random forest on histograms, without a network"
        ),
    }
)
"""Rows of a comparison without a network, which tell whether one is worth it."""

ENCODINGS: Mapping[str, Entry] = MappingProxyType(
    {
        "deepwalk": Entry("lfds.data.encodings.deepwalk:DeepWalk", "DeepWalk embedding"),
        "netmf": Entry("lfds.data.encodings.netmf:NetMF", "DeepWalk in closed form"),
        "rwse": Entry("lfds.data.encodings.rwse:RWSE", "random-walk return probabilities"),
        "laplacian": Entry("lfds.data.encodings.laplacian:Laplacian", "Laplacian eigenvectors"),
        "degree": Entry("lfds.data.encodings.degree:Degree", "degrees"),
        "distances": Entry(
            "lfds.data.encodings.distances:Distances", "distances inside an embedding"
        ),
    }
)
"""The structural encodings of nodes."""


@dataclass(frozen=True)
class ReaderEntry(Entry):
    """A file format: ``target`` is a function ``(path, *, seed, **options) -> GraphSet``.

    Attributes:
        suffixes: Endings of its files.
        detect: A function ``path -> bool``, as ``module:name``, for paths without such an ending.
        stream: A function ``(path, *, size, **options)``, as ``module:name``, that yields a
            :class:`lfds.data.chunk.Chunk` of at most ``size`` graphs at a time; without it all is
            read at once.
        convert: A function ``(path, *, size, after, **options)``, as ``module:name``, that yields
            chunks of graphs with their targets, after a position, to be stored; nodes keep their
            order. Without it all is read at once.
        rows: A function like ``target``, as ``module:name``, that returns a chunk of all graphs,
            with their positions and the rows that were skipped; without it none are skipped.
        options: Arguments of the reader that a user may set.
    """

    suffixes: tuple[str, ...] = ()
    detect: str | None = None
    stream: str | None = None
    convert: str | None = None
    rows: str | None = None
    options: tuple[str, ...] = ()


_READING = ("smiles", "target", "task", "bad", "atom_features", "fragments")

READERS: Mapping[str, ReaderEntry] = MappingProxyType(
    {
        "saved": ReaderEntry(
            "lfds.data.storage:read_saved",
            "a folder written by GraphSet.save or `lfds data convert`",
            detect="lfds.data.storage:is_saved_set",
        ),
        "tu": ReaderEntry(
            "lfds.data.readers.tu:read_tu",
            "a TU folder or archive (NAME_A.txt ...)",
            suffixes=(".zip", ".tar", ".tar.gz", ".tgz"),
            detect="lfds.data.readers.tu_files:is_tu",
            convert="lfds.data.readers.tu_stream:stream_tu",
        ),
        "jsonl": ReaderEntry(
            "lfds.data.readers.jsonl:read_jsonl",
            "a .jsonl file with one graph per line",
            suffixes=(".jsonl", ".ndjson"),
            stream="lfds.data.readers.jsonl:stream_jsonl",
            convert="lfds.data.readers.jsonl:convert_jsonl",
        ),
        "smiles": ReaderEntry(
            "lfds.data.readers.smiles:read_smiles",
            "a .csv or .tsv file with SMILES",
            suffixes=(".csv", ".tsv"),
            stream="lfds.data.readers.smiles:stream_smiles",
            convert="lfds.data.readers.smiles:convert_smiles",
            rows="lfds.data.readers.smiles:read_smiles_rows",
            options=(*_READING, "group", "keep", "missing"),
        ),
        "clouds": ReaderEntry(
            "lfds.data.readers.clouds:read_cloud_graphs",
            "a folder of point clouds or meshes (CLASS/NAME.xyz ...)",
            detect="lfds.data.readers.clouds:is_cloud_folder",
        ),
    }
)
"""The file formats, in the order in which folders are examined."""


def readable_formats() -> str:
    """Return what can be read, for messages and help texts."""
    *others, last = (entry.summary for entry in READERS.values())
    return f"{', '.join(others)}, or {last}"


def suffixes_with(option: str) -> str:
    """Return the endings of the files whose reader has an option."""
    having = (entry for entry in READERS.values() if option in entry.options)
    return " or ".join(suffix for entry in having for suffix in entry.suffixes)


def structures_in(pool: str) -> tuple[str, ...]:
    """Return the latent structures that a pooling is made of; none for a baseline.

    >>> structures_in("loop+image"), structures_in("max+mean")
    (('loop', 'image'), ())
    """
    parts = tuple(pool.split("+"))
    return parts if all(part in STRUCTURES or part in CONTROLS for part in parts) else ()


def is_latent(pool: str) -> bool:
    """Whether a pooling uses a latent structure, or several side by side."""
    return bool(structures_in(pool))


def uses_all_layers(pool: str) -> bool:
    """Whether a pooling reads all layers of the base side by side, and needs no map of them."""
    return pool in BASELINES and BASELINES[pool].uses_all_layers


def entry_of(pool: str) -> Entry:
    """Return where a pooling is implemented."""
    if is_latent(pool):
        return LFDS
    return TGP if pool.startswith(TGP_PREFIX) else BASELINES[pool]


def expand_encodings(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of encodings without ``none``, which stands for no encoding."""
    return tuple(name for name in names if name != "none")
