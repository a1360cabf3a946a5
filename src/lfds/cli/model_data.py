"""The graphs that a model reads: from the columns it was fitted on, unless others are named."""

from pathlib import Path
from typing import TYPE_CHECKING

from lfds.cli.data import flags_named
from lfds.data.errors import DataError, TaskError, quoted

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.metrics import Metrics
    from lfds.estimator.regressor import LFDSRegressor

    Estimator = LFDSClassifier | LFDSRegressor


def open_for_model(
    estimator: "Estimator",
    data: str,
    root: Path,
    *,
    target: list[str] | None,
    smiles: str | None,
    skip_bad: bool,
) -> "GraphSet":
    """Return graphs with their targets, read as those that a model was fitted on.

    Of several targets cells may be empty; without ``target`` some may have no column.

    Args:
        estimator: The model.
        data: Name or path.
        root: Folder of the datasets.
        target: The value of ``--target``.
        smiles: The value of ``--smiles-column``.
        skip_bad: Whether invalid rows are skipped.
    """
    from lfds.data.sources import ReadOptions, open_source, table_of
    from lfds.data.tasks import as_task
    from lfds.estimator.metrics import predicts_several

    task = estimator.decoder_.task
    options: ReadOptions = {"bad": "skip" if skip_bad else "stop"}
    with flags_named():
        table = table_of(data, root)
        if table is not None:
            molecules = estimator.molecules_
            options |= {"task": task, "fragments": molecules.fragments}
            options["atom_features"] = molecules.atom_features
            names = target or remembered_targets(estimator, table)
            if names:
                options["target"] = names[0] if len(names) == 1 else names
            if predicts_several(estimator):
                options["missing"] = "keep"
                _check_named(estimator, table, target or [])
        elif target:
            options["target"] = target  # which the reader refuses
        column = column_of_smiles(estimator, data, root, smiles)
        if column is not None:
            options["smiles"] = column
        try:
            return as_task(open_source(data, root, **options), task)
        except TaskError as error:
            raise _other_task(estimator, error, data, named=table is not None) from error


def column_of_smiles(
    estimator: "Estimator", data: str, root: Path, given: str | None = None
) -> str | None:
    """Return the column with SMILES: one that is named, or that of the model if the file has it.

    ``None`` leaves it to the reader.
    """
    from lfds.data.readers.atom_features import SMILES_COLUMN
    from lfds.data.sources import table_of

    remembered = estimator.molecules_.smiles_column
    if given is not None or remembered == SMILES_COLUMN:
        return given
    table = table_of(data, root)
    return remembered if table is not None and _columns_in(table, [remembered]) else None


def remembered_targets(estimator: "Estimator", table: Path) -> list[str]:
    """Return the columns that a model was fitted on; of several those that a file has, if any."""
    from lfds.estimator.metrics import predicts_several

    names = estimator.training_data_.target_names or estimator.decoder_.target_names
    there = _columns_in(table, names) if predicts_several(estimator) else ()
    return list(there or names)


def has_targets(estimator: "Estimator", table: Path) -> bool:
    """Whether a file has a column that a model was fitted on, as far as it knows their names."""
    names = remembered_targets(estimator, table)
    return not names or bool(_columns_in(table, names))


def notes_on_targets(
    estimator: "Estimator",
    graphs: "GraphSet",
    metrics: "Metrics",
    data: str,
    *,
    chosen: bool,
) -> list[str]:
    """Return a line each on targets that were matched by position, and that were left out.

    Args:
        estimator: The model.
        graphs: What it was evaluated on.
        metrics: The result.
        data: Name or path of the graphs.
        chosen: Whether the user named the targets, and so left out the others.
    """
    from lfds.estimator.metrics import SeveralMetrics, given_places, model_targets

    wanted, places = model_targets(estimator), given_places(estimator, graphs, data)
    found = dict(enumerate(graphs.target_names))
    pairs = [
        f"{quoted(found[place])} for {quoted(name)}"
        for name, place in zip(wanted, places, strict=True)
        if place in found and name and found[place].lower() != name.lower()
    ]
    lines = [f"{data}: columns are matched by position: {', '.join(pairs)}"] if pairs else []
    if isinstance(metrics, SeveralMetrics):
        left = [
            f"{name} ({'not there' if place is None else 'no values'})"
            for name, place in zip(wanted, places, strict=True)
            if name and name not in metrics.targets and not (chosen and place is None)
        ]
        lines += [f"{data}: evaluated without {', '.join(left)}"] if left else []
    return lines


def _check_named(estimator: "Estimator", table: Path, target: list[str]) -> None:
    """Raise unless the columns of ``--target`` are there, and may be targets of the model."""
    from lfds.data.readers.csv_table import open_table
    from lfds.estimator.metrics import places_of

    with open_table(table) as opened:
        found = [opened.header[opened.column(name)] for name in target]
    if found:
        places_of(estimator, found, str(table))


def _columns_in(table: Path, names: "list[str] | tuple[str, ...]") -> list[str]:
    """Return the names that columns of a file have, in any case."""
    from lfds.data.readers.csv_table import open_table

    with open_table(table) as opened:
        there = {name.lower() for name in opened.header}
    return [name for name in names if name.lower() in there]


def _other_task(estimator: "Estimator", error: TaskError, data: str, *, named: bool) -> DataError:
    """Return the error for classes that a regressor is given, or the reverse."""
    regression = estimator.decoder_.task == "regression"
    kinds = ("values", "classes") if regression else ("classes", "numbers")
    example = f" such as {error.found}" if error.found else ""
    fix = "name another column with --target" if named else "give graphs with such targets"
    return DataError(
        f"the model predicts {kinds[0]}, and the targets are {kinds[1]}{example}; {fix}",
        source=data if error.source == "task" else error.source,
        line=error.line,
    )
