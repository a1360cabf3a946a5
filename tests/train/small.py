"""Small trainings on small graphs."""

from functools import cache

import torch

from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.loop import Training
from tests.compare.small import graphs

SETTINGS = TrainingSettings(epochs=3, batch_size=4, learning_rate=0.01)


def make(seed=0, scope=("test",), settings=SETTINGS, validation=None, per_class=20, pool="loop"):
    encoded = Encoder().fit(graphs()).transform(graphs(per_class=per_class))
    torch.manual_seed(0)
    network = NetworkSettings(pool=pool, width=8, head_width=8, slots=4)
    model = GraphNetwork(encoded.x.shape[1], 2, network)
    part = encoded if validation is None else validation
    return Training(model, encoded, part, settings, seed, scope)


def trained(**how):
    training = make(**how)
    training.run(lambda _: None)
    return training


@cache
def finished(pool="loop"):
    """Return a training with the settings of :func:`make`, trained once; do not change it."""
    return trained(pool=pool)


def flat(state):
    """Return all values of a state dict in one vector."""
    return torch.cat([value.double().flatten() for value in state.values()])


def weights(training):
    """Return the weights of anything that has a model."""
    return flat(training.model.state_dict())
