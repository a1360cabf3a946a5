import json

from typer.testing import CliRunner

from lfds.cli.app import app

SMALL = ["bench", "--graphs", "3", "--nodes", "4", "--slots", "4", "--channels", "8"]


def test_a_report_of_all_poolings(tmp_path):
    out = tmp_path / "bench.json"
    command = [*SMALL, "--device", "cpu", "--seconds", "0", "--out", str(out)]
    ran = CliRunner().invoke(app, command, catch_exceptions=False)
    assert ran.exit_code == 0
    report = json.loads(out.read_text())
    rows = {row["pooling"]: row for row in report["rows"]}
    assert {"distribute (cpu)", "distribute (batched)", "padded bmm", "GMT (PyG)"} <= set(rows)
    assert all(row["seconds"] > 0 for row in rows.values())
    assert rows["distribute (batched)"]["error"] < 1e-5
    assert report["versions"]["torch"]
    assert "ms a step" in ran.output


def test_a_device_that_is_not_there_is_one_line():
    ran = CliRunner().invoke(app, [*SMALL, "--device", "gpu"])
    assert ran.exit_code != 0
    assert str(ran.exception).startswith("--device: no device is called 'gpu'")


def test_a_precision_that_there_is_not():
    ran = CliRunner().invoke(app, [*SMALL, "--precision", "16"])
    assert str(ran.exception) == "--precision: needs 32 or bf16, not '16'"
