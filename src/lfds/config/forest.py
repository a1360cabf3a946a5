"""What the random forest is made of that networks are compared with."""

from pydantic import BaseModel, ConfigDict, PositiveInt


class ForestSettings(BaseModel):
    """The settings of the forest, and of the histograms that it sees.

    Attributes:
        trees: Number of trees.
        steps: Longest walk whose return probabilities are used.
        bins: Number of bins of a histogram of numbers, each with as many training nodes.
        most_values: Most values of a label, or degrees, that have a bin each.
        most_columns: Most columns of attributes that have histograms; of more there are mean and
            standard deviation alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trees: PositiveInt = 500
    steps: PositiveInt = 16
    bins: PositiveInt = 10
    most_values: PositiveInt = 64
    most_columns: PositiveInt = 32
