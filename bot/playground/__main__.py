"""`python -m bot.playground`."""

import sys

from bot.playground.main import main

sys.exit(main())
