from types import SimpleNamespace

import pytest

from lfds.estimator.progress_bar import epochs_shown
from lfds.train.loop import Progress


@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_is_on_standard_error_and_only_when_asked_for(shown, capsys):
    seen = Progress(loss=[0.5], train=[0.5], validation=[0.75], validation_loss=[0.6])
    with epochs_shown(3, shown=shown) as after_epoch:
        after_epoch(SimpleNamespace(progress=seen))
    out, err = capsys.readouterr()
    assert out == ""
    assert ("validation 0.750" in err and "1/3" in err) is shown


def test_a_bar_does_not_call_training_validation(capsys):
    seen = Progress(loss=[0.5], train=[0.75], validation=[0.75], validation_loss=[0.5])
    with epochs_shown(3, shown=True) as after_epoch:
        after_epoch(SimpleNamespace(progress=seen))
    err = capsys.readouterr().err
    assert "training 0.750" in err
    assert "validation" not in err
