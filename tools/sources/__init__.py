"""Where deploys and incidents come from. Each source returns ``tools.records`` and nothing else."""
