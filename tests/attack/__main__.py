"""``python -m tests.attack fuzz``, ``replay`` and ``kills``: what ``make attack`` runs."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.attack.campaign import Campaign, names_of, run
from tests.attack.targets import all_targets


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    commands = parser.add_subparsers(required=True)
    fuzz = commands.add_parser("fuzz", help="mutated inputs for all readers")
    fuzz.add_argument("--inputs", type=int, default=10_000)
    fuzz.add_argument("--seed", type=int, default=1)
    fuzz.add_argument("--only", nargs="+", metavar="TARGET")
    fuzz.set_defaults(run=_fuzz)
    replay = commands.add_parser("replay", help="one input again, with its files and traceback")
    replay.add_argument("name", help="TARGET/SEED/NUMBER, as a failure names it")
    replay.set_defaults(run=_replay)
    kills = commands.add_parser("kills", help="process groups killed at random moments")
    kills.add_argument("--count", type=int, default=100)
    kills.add_argument("--seed", type=int, default=1)
    kills.add_argument("--trial", help="only this one: COMMAND/SEED/NUMBER")
    kills.add_argument("--commands", default="tests.attack.commands", help=argparse.SUPPRESS)
    kills.set_defaults(run=_kills)
    chosen = parser.parse_args()
    return int(chosen.run(chosen))


def _fuzz(chosen: argparse.Namespace) -> int:
    names = names_of(chosen.only or sorted(all_targets()), chosen.inputs, chosen.seed)
    campaign = run(names, observe=_progress)
    print(campaign.table())
    if campaign.failures:
        print(campaign.report())
    return 1 if campaign.failures else 0


def _progress(campaign: Campaign) -> None:
    if campaign.inputs % 500 == 0:
        print(f"{campaign.inputs} inputs, {len(campaign.failures)} failures", file=sys.stderr)


def _replay(chosen: argparse.Namespace) -> int:
    from tests.attack.worker import run_input

    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    outcome = run_input(chosen.name, all_targets(), folder)
    print(f"{outcome.kind}\n{outcome.detail}\nits files are in {folder}")
    return 1 if outcome.is_failure else 0


def _kills(chosen: argparse.Namespace) -> int:
    from tests.attack.kills import run_kills

    found = run_kills(chosen.count, chosen.seed, chosen.commands, chosen.trial)
    print(found.table())
    if found.broken:
        print(found.report())
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
