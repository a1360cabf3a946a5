"""What a row cost on a column: time, numbers learned, and memory where it was measured."""

from dataclasses import dataclass
from statistics import fmean

from lfds.report.series import Series


@dataclass(frozen=True)
class Cost:
    """Means over the folds that ended well.

    Attributes:
        seconds: Of training one fold.
        parameters: Numbers learned.
        memory: Most bytes held at once in any fold; None where no record says.
    """

    seconds: float
    parameters: float
    memory: float | None = None

    def __str__(self) -> str:
        memory = "" if self.memory is None else f", {self.memory / 1e6:.0f} MB"
        return f"{self.seconds:.3g} s, {self.parameters:,.0f} numbers{memory}"


def cost_of(series: Series) -> Cost:
    """Return what a series with at least one good fold cost."""
    outcomes = [record.outcome for record in series.done if record.outcome is not None]
    # Older records do not know the field.
    peaks = [peak for o in outcomes if (peak := getattr(o, "peak_memory", None)) is not None]
    return Cost(
        fmean(outcome.seconds for outcome in outcomes),
        fmean(outcome.parameters for outcome in outcomes),
        float(max(peaks)) if peaks else None,
    )
