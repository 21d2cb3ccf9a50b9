"""Who thinks: one ``Model`` protocol (``bot.loop.wire``), and what implements it."""
