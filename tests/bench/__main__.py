"""The benchmarks, as one table: ``python -m tests.bench [engine] [growth] [abort] [start] [slack]``.

Everything that is compared is measured side by side in this one run. Medians; CPU is of the whole
process, threads included; the model is a local HTTP server in a process of its own.
"""

from __future__ import annotations

import asyncio
import sys

from .parts import PARTS
from .table import lines


async def main(names: list[str]) -> int:
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
        return 2
    rows = [row for name in names or PARTS for row in await PARTS[name].usual()]
    print("\n".join(lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
