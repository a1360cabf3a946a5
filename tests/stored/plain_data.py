"""What stored files hold and stored models predict, as plain data.

As a script it prints what models predict without numba, which takes a process of its own.
"""

import json
import sys
from pathlib import Path


def predictions(folder, file):
    import lfds

    model, graphs = lfds.load(folder), lfds.data.read_any(file)
    found = {"epochs": model.n_iter_, "predict": model.predict(graphs).tolist()}
    if isinstance(model, lfds.LFDSClassifier):
        found["classes"] = model.classes_.tolist()
        found["predict_proba"] = model.predict_proba(graphs).tolist()
    return found


def after_more_training(folder, file):
    """Return the predictions after ``fit`` has continued from the stored weights."""
    import lfds

    model, graphs = lfds.load(folder), lfds.data.read_any(file)
    model.set_params(warm_start=True).fit(graphs)
    classifies = isinstance(model, lfds.LFDSClassifier)
    return (model.predict_proba if classifies else model.predict)(graphs).tolist()


def set_contents(graphs):
    """Return all of a set, its parts under the names that PyG has for them."""
    return {
        "name": graphs.name,
        "classes": list(graphs.classes),
        "sizes": graphs.sizes.tolist(),
        "attributes": graphs.attributes.tolist(),
        "graphs": [
            {name: value.tolist() for name, value in one if name != "num_nodes"}
            for one in graphs.to_pyg()
        ],
    }


def main():
    """Print the predictions of each FOLDER FILE as JSON, computed without numba."""
    # None in place of a module is how Python says that it cannot be imported.
    sys.modules["numba"] = None
    import torch

    torch.set_num_threads(1)
    pairs = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps([predictions(Path(folder), Path(file)) for folder, file in pairs]))


if __name__ == "__main__":
    main()
