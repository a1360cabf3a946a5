"""Mutations of bytes: what a truncated, edited or hostile file may look like."""

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    b"0", b"-0", b"1", b"-1", b"+1", b"2", b"00007", b"255", b"65536", b"2147483647",
    b"2147483648", b"-2147483649", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775809", b"18446744073709551616", b"1e5", b"1E400", b"-1e400", b"1e-400",
    b"3.4e38", b"3.5e38", b"0.1", b".5", b"5.", b"nan", b"NaN", b"inf", b"-Infinity", b"0x10",
    b"1_000", b"1,5", b"1 2", "\uff11".encode(), b"9" * 400, b"1e", b"-", b"+", b"",
)  # fmt: skip
TOKENS = (
    *NUMBERS, b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\x0c",
    b"\x1b[31m", b"\x85", "\u2028".encode(), "\u202e".encode(), b"\xed\xa0\x80", b"\\ud800",
    b'"', b"'", b",", b";", b"{", b"}", b"[", b"]", b"[" * 3000, b'{"a":' * 3000, b"null", b"true",
    b"#", b"=1+1", b"@x", b"../../etc/passwd", b"%s%n", b"__proto__", b"C" * 3000, b"x" * 70000,
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

Mutation = Callable[[bytes, Random], bytes]


def mutate(content: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return ``content`` after one to four mutations; ``others`` are files to splice parts of."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        if others and random.random() < 0.1:
            content = _spliced(content, random.choice(others), random)
        else:
            content = random.choice(MUTATIONS)(content, random)
    return content


def _place(content: bytes, random: Random) -> int:
    # Headers are where formats are decided: favour the beginning.
    return random.randint(0, min(len(content), random.choice((16, 128, len(content)))))


def _part(content: bytes, random: Random) -> tuple[int, int]:
    first = _place(content, random)
    return first, min(len(content), first + random.choice((1, 2, 8, 64, len(content))))


def _spliced(content: bytes, other: bytes, random: Random) -> bytes:
    first, last = _part(other, random)
    place = _place(content, random)
    return content[:place] + other[first:last] + content[place:]


def flip_a_bit(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    place = min(_place(content, random), len(content) - 1)
    return (
        content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :]
    )


def random_bytes(content: bytes, random: Random) -> bytes:
    first, last = _part(content, random)
    return content[:first] + random.randbytes(min(last - first, 512)) + content[last:]


def truncate(content: bytes, random: Random) -> bytes:
    return content[: random.randint(0, len(content))]


def delete(content: bytes, random: Random) -> bytes:
    first, last = _part(content, random)
    return content[:first] + content[last:]


def repeat(content: bytes, random: Random) -> bytes:
    first, last = _part(content, random)
    count = random.choice((2, 3, 50))
    return content[:last] + content[first:last] * count + content[last:]


def zeros(content: bytes, random: Random) -> bytes:
    first, last = _part(content, random)
    return content[:first] + b"\0" * (last - first) + content[last:]


def insert_a_token(content: bytes, random: Random) -> bytes:
    place = _place(content, random)
    return content[:place] + random.choice(TOKENS) + content[place:]


def another_number(content: bytes, random: Random) -> bytes:
    found = list(_NUMBER.finditer(content[:20000]))
    if not found:
        return insert_a_token(content, random)
    chosen = random.choice(found)
    return content[: chosen.start()] + random.choice(NUMBERS) + content[chosen.end() :]


def another_line(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.choice(("delete", "repeat", "swap", "token", "join"))
    if how == "delete":
        del lines[first]
    elif how == "repeat":
        lines.insert(second, lines[first])
    elif how == "swap":
        lines[first], lines[second] = lines[second], lines[first]
    elif how == "token":
        lines[first] = random.choice(TOKENS)
    else:
        lines[first : first + 2] = [b"".join(lines[first : first + 2])]
    return b"\n".join(lines)


def shuffle_lines(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines)


def another_encoding(content: bytes, random: Random) -> bytes:
    how = random.choice(("utf-16", "utf-8-sig", "utf-32", "crlf", "cr", "blank lines"))
    if how in ("crlf", "cr", "blank lines"):
        return content.replace(b"\n", {"crlf": b"\r\n", "cr": b"\r", "blank lines": b"\n\n"}[how])
    return content.decode("latin-1").encode(how)


def nothing_or_junk(content: bytes, random: Random) -> bytes:
    return random.choice((b"", b"\n", b"\0" * 600, random.randbytes(300), content * 2))


MUTATIONS: tuple[Mutation, ...] = (
    flip_a_bit, flip_a_bit, random_bytes, truncate, truncate, delete, repeat, zeros,
    insert_a_token, insert_a_token, another_number, another_number, another_number,
    another_line, another_line, shuffle_lines, another_encoding, nothing_or_junk,
)  # fmt: skip
