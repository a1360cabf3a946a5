"""A small TU dataset, and functions that write one as a folder or an archive."""

import io
import tarfile
import zipfile

FILES = {
    "S_A.txt": b"1, 2\n2, 1\n2, 3\n3, 2\n2, 1\n5, 6\n6, 5\n6, 6\n",
    "S_graph_indicator.txt": b"1\n1\n1\n1\n3\n3\n",
    "S_graph_labels.txt": b"1\n-1\n1\n",
    "S_node_labels.txt": b"7\n5\n7\n5\n9\n9\n",
    "S_node_attributes.txt": b"0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n5.5, 6\n",
    "S_edge_labels.txt": b"1\n1\n2\n2\n3\n1\n1\n4\n",
    "S_edge_attributes.txt": b"0.1\n0.1\n0.2\n0.2\n0.3\n0.4\n0.4\n0.5\n",
}


SMALL = {"S_A.txt": b"1, 2\n", "S_graph_indicator.txt": b"1\n1\n", "S_graph_labels.txt": b"5\n"}


def write_folder(path, files):
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_tar(path, files):
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path
