import pytest
import torch

from lfds.config.comparison import TrainingSettings
from lfds.data.encodings.encoder import Encoder, EncodingSettings
from lfds.estimator.learning import Plan, Start, fresh_network, learn, learn_more, with_targets
from lfds.nn import NetworkSettings
from lfds.train.epoch import evaluate
from lfds.train.objective import Classify
from tests.estimator.small import graphs

NETWORK = NetworkSettings(pool="loop", slots=4, width=8, head_width=8)


def plan(**how):
    told = {
        "network": NETWORK,
        "training": TrainingSettings(epochs=4, batch_size=8),
        "encoding": EncodingSettings(),
        "objective": Classify(),
        "validation": 0.25,
        "patience": None,
        "seed": 0,
        "workers": 1,
        "progress": False,
    }
    return Plan(**{**told, **how})


def learned(start=None, **how):
    return learn(graphs(), graphs().y.numpy(), 2, plan(**how), start)


def weights(network):
    return torch.cat([value.double().flatten() for value in network.state_dict().values()])


def test_the_same_seed_gives_the_same_bits_whatever_else_is_drawn():
    first = learned()
    torch.rand(7)
    assert torch.equal(weights(first.network), weights(learned().network))
    assert not torch.equal(weights(first.network), weights(learned(seed=1).network))


def test_the_global_generator_is_left_as_it_was_found():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    learned()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_weights_are_those_of_the_best_epoch():
    found = learned()
    encoded = found.encoder.transform(graphs())[found.watched]
    accuracy, loss = evaluate(found.network, encoded, 8)
    seen = found.history
    assert accuracy == seen.validation[seen.best]
    assert loss == pytest.approx(seen.validation_loss[seen.best], rel=1e-4)
    assert len(found.outputs) == len(found.watched) == 6


def test_the_encoder_has_not_seen_the_watched_part():
    found = learned(validation=0.5)
    train = [k for k in range(24) if k not in set(found.watched.tolist())]
    assert found.encoder.to_json() == Encoder().fit(graphs()[train]).to_json()


def test_without_a_watched_part_the_last_epoch_counts():
    found = learned(validation=0.0)
    assert found.history.best == 3
    assert found.outputs.shape == (0, 2)


def test_a_start_is_gone_on_from_and_left_as_it_was():
    first = learned()
    before = weights(first.network)
    again = learned(Start(first.network, first.encoder, 1))
    assert torch.equal(weights(first.network), before)
    assert again.encoder is first.encoder
    # Streams of its own: the second time other nodes are dropped than the first time.
    assert again.history.loss != first.history.loss
    assert not torch.equal(weights(again.network), before)


@pytest.mark.parametrize(("layers", "pieces"), [("last", 8), ("all", 24)])
def test_pieces_are_learned_one_after_the_other(layers, pieces):
    told = plan(network=NETWORK.model_copy(update={"pooled_layers": layers}))
    encoder = Encoder().fit(graphs())
    network = fresh_network(encoder.width, 2, told)
    assert torch.equal(weights(network), weights(fresh_network(encoder.width, 2, told)))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01)
    losses = [
        learn_more(graphs(), network, encoder, told, piece, optimizer)[0] for piece in range(pieces)
    ]
    assert losses[-1] < losses[0]


def test_targets_are_put_in_and_nothing_else_changes():
    other = with_targets(graphs(), torch.zeros(24, 3))
    assert other.y.shape == (24, 3)
    assert other.edge_dst is graphs().edge_dst
