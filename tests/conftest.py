"""Settings for all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does; no test is about that.
settings.register_profile("lfds", deadline=None)
settings.load_profile("lfds")
