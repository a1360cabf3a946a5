"""A small manifest, and records of its cells with accuracies that are known in advance."""

from benchmarks.tables.manifest import read_manifest

from lfds.config.encoding import EncodingSettings
from lfds.results.record import Curve, Fold, Outcome, Record, key_of

FOLDS = 3
MANIFEST = """
[budgets.short]
A = { epochs = 3, folds = 3 }
B = { epochs = 4, folds = 3, splits = ["splits"] }

[tables.main]
budget = "short"
baseline = "max"
seeds = 2
planned = [
    { row = "loop", baselines = ["max", "sort"] },
    { row = "loop", baselines = ["max"], without = ["A"] },
    { row = "loop", baselines = ["max", "sort"], each = ["B", "A"] },
]

[tables.main.rows]
"max" = {}
"loop" = {}
"sort" = {}
"max (last epoch)" = { pool = "max", keep = "last", seeds = 1, baseline = "" }

[tables.shorter]
budget = "long"
baseline = "max"

[tables.shorter.rows]
"max" = {}
"loop" = {}

[budgets.long]
A = { epochs = 6, folds = 3 }

[tables.reproduction]
budget = "papers"
preset = "paper"
encoding = "auto"

[tables.reproduction.rows]
"max" = {}
"topk" = {}
"loop (default network)" = { pool = "loop", preset = "default", protocol = "paper" }

[budgets.papers]
ENZYMES = { epochs = 3, folds = 3 }
clouds = { epochs = 3, folds = 3, data = "clouds" }

[tables.ablations]
budget = "short"
baseline = "default"
measure = "validation"
pool = "loop"

[tables.ablations.rows]
"default" = {}
"counts=false" = { options = { counts = false } }
"depth=1" = { options = { depth = 1 } }

[tables.selection]
budget = "long"
baseline = "default"
measure = "validation"
pool = "loop"

[tables.selection.rows]
"default" = {}
"depth=1" = { options = { depth = 1 } }
"""
# The best epoch is not the same in all folds, so that each rule has a mean of its own.
CURVES = ((0.2, 0.6, 0.1), (0.5, 0.4, 0.1), (0.2, 0.6, 0.1))
PAGE = "".join(
    f"<!-- {name}: begin -->\n<!-- {name}: end -->\n"
    for name in ("main", "planned", "shorter", "reproduction", "ablations", "selection", "cost")
)


def tables(folder, edges=False):
    path = folder / "manifest.toml"
    text = MANIFEST.replace("A = { ", "A = { edge_data = true, ", 1) if edges else MANIFEST
    path.write_text(text)
    return read_manifest(path)


def row_of(table, name):
    return next(row for row in table.rows if row.name == name)


def one(table, name, dataset, fold=0, accuracy=0.5, *, seed=0, by=0.0, content="", **cost):
    """Return the record of one fold of a cell; ``by`` lifts the curve of the paper's protocol."""
    row = row_of(table, name)
    spec = row.spec(dataset)
    training = spec.training.model_dump(mode="json")
    if training["keep"] == "best":
        del training["keep"]
    settings = {
        "content": content or dataset,
        "encoding": EncodingSettings().model_dump(mode="json"),
        "candidates": [
            {
                "training": training,
                "network": spec.network_for(row.pool)
                .for_data(edge_data=row.edge_data[dataset])
                .as_recorded(),
            }
        ],
    } | ({"splits": "b"} if spec.splits else {"validation": 0.1})
    which = Fold(
        dataset=dataset, pool=row.pool, protocol=spec.protocol, folds=FOLDS, fold=fold, seed=seed
    )
    told = {"parameters": 9, "tested": 20, **cost}
    if spec.protocol == "paper":
        end = Outcome(curve=Curve(test=[round(v + by, 6) for v in CURVES[fold]]), **told)
    else:
        curve = Curve(validation=(0.0, *[accuracy] * 5))
        end = Outcome(curve=curve, epoch=0, accuracy=accuracy, **told)
    return Record(key=key_of(which, settings), fold=which, settings=settings, outcome=end)


def cell(table, name, dataset, accuracies=(0.5, 0.5, 0.5), **more):
    """Return the records of all folds of a cell."""
    return [one(table, name, dataset, fold, a, **more) for fold, a in enumerate(accuracies)]
