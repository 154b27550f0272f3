"""How long a worker prepares before it computes: imports, and jax's tracing and compilation.

jax tells of each stage when it ends, and stages lie inside each other (a function that is traced
traces those that it calls), so that their durations may not be added up: their union is taken.
"""

import importlib
import sys
import time

STAGES = "/jax/core/compile/"


class Preparation:
    """The spans of time in which this process prepared, disjoint and in order."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []
        self._listening = False

    def add(self, seconds: float) -> None:
        """A stage of this length has just ended."""
        end = time.perf_counter()
        begin = end - seconds
        while self._spans and self._spans[-1][1] > begin:
            begin = min(begin, self._spans.pop()[0])
        self._spans.append((begin, end))

    def listen(self) -> None:
        """Hear of compilation from here on, if jax is loaded."""
        if self._listening or "jax" not in sys.modules:
            return
        monitoring = importlib.import_module("jax.monitoring")
        monitoring.register_event_duration_secs_listener(self._heard)
        self._listening = True

    def since(self, begin: float) -> float:
        """Seconds of preparation after a moment of `perf_counter`; earlier ones are dropped."""
        self._spans = [(max(start, begin), end) for start, end in self._spans if end > begin]
        return sum(end - start for start, end in self._spans)

    def _heard(self, event: str, duration: float, **_: object) -> None:
        if event.startswith(STAGES):
            self.add(duration)
