from lfds.config.messages import SpecError


def test_a_message_is_one_line():
    assert str(SpecError("no\nsuch  thing")) == "no such thing"
