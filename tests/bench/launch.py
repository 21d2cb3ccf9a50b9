"""Start one process, wait for its end, and print what it cost as JSON.

Run as a script, in a small process of its own: what a child's memory is counted from is what its
parent had when it was made.
"""

from __future__ import annotations

import json
import os
import sys
import time

if __name__ == "__main__":
    began = time.perf_counter()
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
    _, status, usage = os.wait4(pid, 0)
    cost = {
        "wall": time.perf_counter() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
    }
    print(json.dumps(cost))
    sys.exit(os.waitstatus_to_exitcode(status))
