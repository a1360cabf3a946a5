"""The encoding that is chosen where none is requested."""

from lfds.config.encoding import EncodingSettings
from lfds.data.encodings.rwse import RWSE
from lfds.data.graphset import GraphSet


def automatic_encoding(graphs: GraphSet) -> EncodingSettings:
    """Return labels and attributes, and random walks where the graphs have neither."""
    known = graphs.labels.shape[1] + graphs.attributes.shape[1] > 0
    return EncodingSettings(structure=() if known else (RWSE(),))
