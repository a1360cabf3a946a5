"""Records for tests."""

from lfds.results.record import Curve, Failure, Fold, Outcome, Record, key_of


def fold(number=0, *, folds=2, seed=0, pool="max", dataset="SET", protocol="fair"):
    return Fold(dataset=dataset, pool=pool, protocol=protocol, folds=folds, fold=number, seed=seed)


def fair_record(accuracy, number=0, **which):
    curve = Curve(loss=(1.0,), train=(0.5,), validation=(0.5,), validation_loss=(1.0,))
    outcome = Outcome(curve=curve, epoch=0, accuracy=accuracy, parameters=3, tested=5)
    return _record(fold(number, **which), outcome=outcome)


def paper_record(curve, number=0, **which):
    losses = tuple(1.0 for _ in curve)
    outcome = Outcome(curve=Curve(loss=losses, test=tuple(curve)), parameters=3, tested=5)
    return _record(fold(number, protocol="paper", **which), outcome=outcome)


def failed_record(number=0, reason="the loss became nan", **which):
    return _record(fold(number, **which), failure=Failure(reason=reason, traceback="Trace"))


def _record(which, **end):
    return Record(key=key_of(which, {"epochs": 1}), fold=which, settings={"epochs": 1}, **end)
