"""Why something is not timed."""


class Missing(Exception):
    """The library or its GPU is not there."""


class Unsupported(Exception):
    """The library is there and does not serve the case."""
