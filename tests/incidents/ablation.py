"""What each reason of the ranking is worth: rank 1 with its weight at zero, on built case files.

    python tests/incidents/ablation.py CASES.json WORKSPACES [CASES.json WORKSPACES ...]

Run from the top of the repository. A reason whose row is no worse than the first does not help on
these cases.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bot.eval import Case, read_cases
from tools.history import DeployHistory
from tools.incidents import IncidentIndex
from tools.records import Confidence, SuspectsRanked
from tools.suspects import rank_suspects
from tools.weights import WEIGHTS, Weight
from tools.workspace import open_workspace


@dataclass
class Tally:
    """Counts over the cases with one weight left out."""

    name: str
    first: int = 0
    third: int = 0
    caused: int = 0
    none: int = 0
    nones: int = 0
    high: int = 0
    high_right: int = 0

    def add(self, case: Case, ranked: SuspectsRanked) -> None:
        if case.truth.kind == "none":
            self.nones += 1
            self.none += ranked.confidence is Confidence.NONE
            return
        labels = [suspect.deploy.label for suspect in ranked.suspects]
        right = str(case.truth.deploy)
        self.caused += 1
        self.first += labels[:1] == [right]
        self.third += right in labels[:3]
        if ranked.confidence is Confidence.HIGH:
            self.high += 1
            self.high_right += labels[:1] == [right]

    def row(self) -> str:
        return (
            f"{self.name:28} {self.first:>3}/{self.caused:<4} {self.third:>3}/{self.caused:<4}"
            f" {self.none:>3}/{self.nones:<4} {self.high_right:>3}/{self.high}"
        )


async def _ranked(case: Case, root: Path, weights: tuple[Weight, ...]) -> SuspectsRanked | None:
    workspace = open_workspace(root)
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    incidents = IncidentIndex(workspace.incident_sources, workspace.catalog)
    found = (await incidents.search(case.question, case.asked_at)).incidents
    if not found:
        return None
    return await rank_suspects(
        history, workspace.catalog, found[0], case.question, case.asked_at, weights=weights
    )


async def ablate(files: list[tuple[Path, Path]]) -> list[Tally]:
    """One tally with all weights, then one for each weight left out."""
    tallies = []
    for gone in (None, *WEIGHTS):
        tally = Tally("all reasons" if gone is None else f"without {gone.sign.value}")
        weights = tuple(weight for weight in WEIGHTS if weight is not gone)
        for cases, workspaces in files:
            for case in read_cases(cases).cases:
                ranked = await _ranked(case, workspaces / case.id, weights)
                if ranked is not None:
                    tally.add(case, ranked)
        tallies.append(tally)
    return tallies


def main(argv: list[str]) -> int:
    if not argv or len(argv) % 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    paths = [Path(one) for one in argv]
    files = list(zip(paths[::2], paths[1::2], strict=True))
    head = f"{'':28} {'rank 1':8} {'rank 3':8} {'none':8} high and right"
    rows = [tally.row() for tally in asyncio.run(ablate(files))]
    sys.stdout.write("\n".join([head, *rows]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
