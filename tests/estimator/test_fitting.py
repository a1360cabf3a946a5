import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.config.encoding import EncodingSettings
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.estimator.fitting import (
    FitPlan,
    new_network,
    partial_fit_networks,
    progress_bar,
    split_validation,
)
from lfds.estimator.members import WarmStart, fit_networks
from lfds.estimator.options import Options
from lfds.nn import NetworkSettings
from lfds.train.epoch import evaluate
from lfds.train.loop import Progress
from lfds.train.objective import Classify
from tests.estimator.small import graphs

NETWORK = NetworkSettings(pool="loop", slots=4, width=8, head_width=8)


def plan(**changed):
    settings = {
        "network": NETWORK,
        "training": TrainingSettings(epochs=4, batch_size=8),
        "encoding": EncodingSettings(),
        "objective": Classify(),
    }
    own = {name: changed.pop(name) for name in settings.keys() & changed}
    options = Options.of({"validation": 0.25, "patience": None, **changed})
    return FitPlan(**{**settings, **own}, options=options)


def fitted(start=None, data=None, **changed):
    data = graphs() if data is None else data
    return fit_networks(data, data.y.numpy(), 2, plan(**changed), start)


def weights(network):
    return torch.cat([value.double().flatten() for value in network.state_dict().values()])


def test_the_same_seed_gives_the_same_weights():
    first = fitted()
    torch.rand(7)
    assert torch.equal(weights(first.networks[0]), weights(fitted().networks[0]))
    assert not torch.equal(weights(first.networks[0]), weights(fitted(seed=1).networks[0]))


def test_the_global_generator_is_restored():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    fitted()
    assert torch.equal(torch.get_rng_state(), before)


# With 32 training graphs the weights are averaged, and another model than this is evaluated.
@pytest.mark.parametrize("count", [24, 60])
def test_the_weights_are_those_of_the_best_epoch(count):
    found = fitted(data=graphs(count))
    encoded = found.encoder.transform(graphs(count))[found.validation]
    accuracy, loss = evaluate(found.networks[0], encoded, 8)
    history = found.histories[0]
    assert accuracy == history.validation[history.best]
    assert loss == pytest.approx(history.validation_loss[history.best], rel=1e-4)
    assert len(found.outputs[0]) == len(found.validation) == count // 4


def test_outputs_are_those_of_evaluation_mode():
    found = fitted(data=graphs(60))
    encoded = found.encoder.transform(graphs(60))[found.validation]
    again = fit_networks(graphs(60), graphs(60).y.numpy(), 2, plan(), None)
    assert torch.equal(found.outputs, again.outputs)
    right = (found.outputs[0].argmax(dim=1) == encoded.y).float().mean()
    assert right == pytest.approx(found.histories[0].validation[found.histories[0].best])
    assert not found.networks[0].training


def test_the_encoder_is_fitted_on_training_graphs_alone():
    found = fitted(validation=0.5)
    train = [k for k in range(24) if k not in set(found.validation.tolist())]
    assert found.encoder.to_json() == Encoder().fit(graphs()[train]).to_json()


def test_without_validation_the_last_epoch_is_kept():
    found = fitted(validation=0.0)
    assert found.histories[0].best == 3
    assert found.outputs.shape == (1, 0, 2)


def test_a_warm_start_copies_the_network():
    first = fitted()
    before = weights(first.networks[0])
    again = fitted(WarmStart(first.networks, first.encoder, 1))
    assert torch.equal(weights(first.networks[0]), before)
    assert again.encoder is first.encoder
    # Random streams of its own: other nodes are dropped than in the first fit.
    assert again.histories[0].loss != first.histories[0].loss
    assert not torch.equal(weights(again.networks[0]), before)


@pytest.mark.parametrize(("layers", "calls"), [("last", 8), ("all", 24)])
def test_partial_fits_lower_the_loss(layers, calls):
    settings = plan(network=NETWORK.model_copy(update={"pooled_layers": layers}))
    encoder = Encoder().fit(graphs())
    network = new_network(encoder, 2, settings, graphs())
    assert torch.equal(weights(network), weights(new_network(encoder, 2, settings, graphs())))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01)
    losses = [
        partial_fit_networks(graphs(), [network], encoder, settings, call, [optimizer])[0][0]
        for call in range(calls)
    ]
    assert losses[-1] < losses[0]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=60),
    st.floats(0, 0.99),
    st.integers(0, 2**40),
)
def test_a_validation_split_is_a_partition_and_trains_on_every_class(strata, fraction, seed):
    strata = np.array(strata)
    train, validation = split_validation(strata, fraction, seed)
    assert sorted([*train, *validation]) == list(range(len(strata)))
    assert set(strata[train]) == set(strata)
    assert len(validation) <= round(fraction * len(strata))


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5])
def test_a_validation_split_is_stratified(fraction):
    strata = np.repeat([0, 1, 2], [200, 100, 50])
    _, validation = split_validation(strata, fraction, 0)
    counts = np.bincount(strata[validation], minlength=3)
    assert np.abs(counts - fraction * np.array([200, 100, 50])).max() <= 1
    assert counts.sum() == round(fraction * 350)


def test_another_seed_gives_another_validation_split():
    strata = np.zeros(50, dtype=int)
    found = [split_validation(strata, 0.2, seed)[1].tolist() for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("shown", [True, False])
def test_a_progress_bar_on_standard_error(shown, capsys):
    history = Progress(loss=[0.5], train=[0.5], validation=[0.75], validation_loss=[0.6])
    with progress_bar(3, shown=shown) as bar:
        bar.after_epoch(history)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("validation 0.750" in err and "1/3" in err) is shown


def test_a_progress_bar_without_validation_shows_training(capsys):
    history = Progress(loss=[0.5], train=[0.75], validation=[0.75], validation_loss=[0.5])
    with progress_bar(3, shown=True) as bar:
        bar.after_epoch(history)
    err = capsys.readouterr().err
    assert "training 0.750" in err
    assert "validation" not in err
