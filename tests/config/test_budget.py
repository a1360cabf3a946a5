import pytest

from lfds.config.budget import VARIABLE, memory_budget, over_budget
from lfds.config.messages import SpecError


@pytest.mark.parametrize(
    ("given", "size"), [("5", 5), ("2kb", 2000), ("1.5 GB", 1.5e9), ("2T", 2e12), ("3MiB", 3e6)]
)
def test_the_variable_sets_the_budget(monkeypatch, given, size):
    monkeypatch.setenv(VARIABLE, given)
    assert memory_budget() == size
    assert over_budget(int(size)) is None
    assert VARIABLE in over_budget(int(size) + 1)


@pytest.mark.parametrize("given", ["much", "-1GB", "1PB"])
def test_anything_else_is_refused(monkeypatch, given):
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(SpecError, match=f"{VARIABLE}: needs an amount of memory, as 16GB, not"):
        memory_budget()
