"""Folders of files in which some are mutated, as bytes, as JSON or as safetensors."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.attack.mutations import mutate
from tests.attack.values import mutate_value

Files = Mapping[str, bytes]


def mutate_files(files: Files, random: Random | None) -> dict[str, bytes]:
    """Return the files with one of them changed, sometimes two, sometimes missing or exchanged."""
    changed = dict(files)
    if random is None:
        return changed
    for _ in range(random.choice((1, 1, 1, 2))):
        name = random.choice(sorted(changed))
        how = random.random()
        if how < 0.03 and len(changed) > 1:
            del changed[name]
        elif how < 0.06:
            other = random.choice(sorted(changed))
            changed[name], changed[other] = changed[other], changed[name]
        else:
            changed[name] = mutate_content(name, changed[name], random, files)
    return changed


def mutate_content(name: str, content: bytes, random: Random, files: Files) -> bytes:
    """Return changed content; half of the changes keep the syntax of the format."""
    if random.random() < 0.5:
        try:
            if name.endswith((".json", ".jsonl")):
                return mutate_json_lines(content, random)
            if name.endswith(".safetensors"):
                return mutate_safetensors(content, random)
        except (ValueError, RecursionError):  # mutated before
            pass
    return mutate(content, random, [files[other] for other in sorted(files)])


def mutate_json_lines(content: bytes, random: Random) -> bytes:
    """Change a value of a line; a file of one value over several lines is one line."""
    try:
        lines = [json.loads(content)]
    except ValueError:
        lines = [json.loads(line) for line in content.splitlines()]
    chosen = random.randrange(len(lines))
    lines[chosen] = mutate_value(lines[chosen], random)
    text = "\n".join(map(json.dumps, lines))
    if random.random() < 0.1 and '": ' in text:  # the same key twice
        key, _, rest = text.partition(": ")
        text = f"{key}: null, {key.rpartition('{')[2]}: {rest}"
    return text.encode() + b"\n"


def mutate_safetensors(content: bytes, random: Random) -> bytes:
    """Change the header, or some numbers."""
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), bytearray(content[8 + length :])
    if random.random() < 0.5:
        written = json.dumps(mutate_value(header, random)).encode()
        written += b" " * (-len(written) % 8)
        return len(written).to_bytes(8, "little") + written + data
    for _ in range(random.choice((1, 1, 3, 20))):
        place = random.randrange(max(1, len(data) // 8)) * 8
        # As int64, float32 and float64: negative, large, infinite, not a number.
        data[place : place + 8] = random.choice(
            (b"\xff" * 8, b"\0" * 7 + b"\x7f", b"\0\0\x80\x7f" * 2, b"\0\0\xc0\x7f" * 2, b"\1" * 8)
        )[: len(data) - place]
    return content[: 8 + length] + bytes(data)


def write_files(files: Files, folder: Path) -> None:
    """Write files, and the folders they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def spoil_folder(folder: Path, random: Random | None) -> None:
    """Sometimes replace a file by what is not a regular file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if random is None or random.random() > 0.04 or not files:
        return
    chosen = random.choice(files)
    chosen.unlink()
    links = {"itself": chosen.name, "nowhere": "gone", "a folder": ".", "a device": "/dev/zero"}
    how = random.choice(("folder", "pipe", *links))
    if how == "folder":
        chosen.mkdir()
    elif how == "pipe":
        os.mkfifo(chosen)
    else:
        chosen.symlink_to(links[how])
