"""What all tests share: one seed, hypothesis without a stopwatch, one thread."""

import pytest
import torch
from hypothesis import settings

from tests.browser import browser, chromium  # noqa: F401

# A busy machine must not fail a test, and what hypothesis draws is the same in every run.
settings.register_profile("lfds", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("lfds")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    layer = [config.rootpath / "tests" / name for name in ("nn", "testing")]
    for item in items:
        if not item.get_closest_marker("plain") and any(map(item.path.is_relative_to, layer)):
            item.add_marker("shapes")
    if not config.getoption("jaxtyping_packages", None):
        return
    reason = "must see the plain code; run without --jaxtyping-packages"
    for item in items:
        if item.get_closest_marker("plain"):
            item.add_marker(pytest.mark.skip(reason=reason))
