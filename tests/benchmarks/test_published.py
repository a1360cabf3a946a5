"""The published tables are those of the packed records, and the records those of the manifest."""

import json
import re
import shutil
from pathlib import Path

import pytest
from benchmarks.tables.__main__ import PAGE, README, RESULTS, packed_records
from benchmarks.tables.cells import fill
from benchmarks.tables.manifest import read_manifest
from benchmarks.tables.page import write_summary, write_tables

from lfds.config.comparison import make_spec
from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.results.store import read_records

TABLES = read_manifest()


def test_the_page_and_the_csv_files_are_of_the_packed_records(tmp_path):
    page = shutil.copy(PAGE, tmp_path)
    write_tables(TABLES, packed_records(TABLES), tmp_path, tmp_path / "results.md")
    assert (tmp_path / "results.md").read_text() == PAGE.read_text(), page
    names = sorted(path.name for path in RESULTS.glob("*.csv"))
    assert names == sorted(path.name for path in tmp_path.glob("*.csv"))
    for name in names:
        assert (tmp_path / name).read_text() == (RESULTS / name).read_text()


def test_the_table_of_readme_is_of_the_packed_records(tmp_path):
    readme = Path(shutil.copy(README, tmp_path))
    write_summary(TABLES["main"], packed_records(TABLES), readme)
    assert readme.read_text() == README.read_text()


def test_the_page_is_mostly_tables():
    tables = re.compile(r"(?<=: begin -->\n).*?(?=<!-- \w+: end -->)", re.DOTALL)
    written = tables.sub("", PAGE.read_text())
    assert "| --- |" not in written
    assert len(written.splitlines()) <= 85


@pytest.mark.parametrize("name", TABLES)
def test_every_packed_record_belongs_to_one_cell(name):
    records = read_records(RESULTS / name).records
    found = [r.key for cell in fill(TABLES[name], records).values() for r in cell.records]
    assert sorted(found) == sorted(record.key for record in records)


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_specs_are_those_of_the_rows_that_were_run(name):
    table = TABLES[name]
    cells = fill(table, read_records(RESULTS / name).records)
    begun = {row for (row, _), cell in cells.items() if cell.records}
    stored = json.loads((RESULTS / name / "specs.json").read_text())
    assert max(spec.pop(VERSION_KEY) for spec in stored) <= SCHEMA_VERSION
    # An option that was added since has its default: a new option rewrites no stored file.
    assert [make_spec(spec) for spec in stored] == list(table.specs(begun, table.datasets))


def test_the_main_table_is_of_the_default_configuration():
    for row in TABLES["main"].rows:
        for dataset in TABLES["main"].datasets:
            spec = row.spec(dataset)
            assert spec.network_for(row.pool) == NetworkSettings(pool=row.pool)
            changed = {name: getattr(spec, name) for name in ("epochs", "keep", "members")}
            assert spec.training == TrainingSettings(**changed)


def test_the_reproduction_is_of_the_preset_of_the_paper():
    table = TABLES["reproduction"]
    for row in table.rows:
        preset = make_spec({"preset": "paper", "pools": [row.pool]})
        spec = row.spec("DD")
        same = spec.network_for(row.pool) == preset.network_for(row.pool)
        assert same == (row.name == row.pool)
        assert spec.protocol == "paper"
        if same:
            assert spec.encoding == preset.encoding
            assert spec.averaging == 0.0
