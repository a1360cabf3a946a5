"""Folds that train on objects of one size and test on larger ones."""

from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, stratified_folds


def train_small_test_large(
    graphs: GraphSet, *, folds: int, seed: int, validation: float
) -> tuple[Split, ...]:
    """Deal the first half of a set; where one of these would be tested, test its larger namesake.

    Training and validation parts are those of the same set without larger objects; graphs of the
    first half that are not trained on have no place in the fold.
    """
    half = len(graphs) // 2
    dealt = stratified_folds(graphs.y[:half].numpy(), folds=folds, seed=seed, validation=validation)
    return tuple(
        Split(one.train, one.validation, tuple(half + tested for tested in one.test))
        for one in dealt
    )
