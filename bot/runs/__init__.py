"""A run's life: accept, dispatch, resume, abort, reply once. Start with ``service.py``."""
