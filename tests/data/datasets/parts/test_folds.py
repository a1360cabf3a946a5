from lfds.data.datasets.parts.folds import train_small_test_large
from lfds.data.datasets.parts.objects import parts
from lfds.data.datasets.parts.settings import PartsSettings
from lfds.data.splits import stratified_folds


def test_small_ones_train_and_their_larger_namesakes_test():
    graphs = parts(PartsSettings(task="share", form="set", objects=20, larger=True))
    splits = train_small_test_large(graphs, folds=4, seed=2, validation=0.2)
    dealt = stratified_folds(graphs.y[:20].numpy(), folds=4, seed=2, validation=0.2)
    assert [(one.train, one.validation) for one in splits] == [
        (one.train, one.validation) for one in dealt
    ]
    assert sorted(graph for one in splits for graph in one.test) == list(range(20, 40))
    sizes = graphs.ptr.diff()
    for one in splits:
        seen = sizes[list(one.train + one.validation)].max()
        assert sizes[list(one.test)].min() > seen
        # What is tested in a fold is no enlarged copy of what it trained on.
        assert not {graph - 20 for graph in one.test} & {*one.train, *one.validation}
