"""Run every benchmark, each in a process of its own: `make bench`, or `make bench ARGS=weights`."""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run the scripts whose name holds one of the words given (all without a word)."""
    words = sys.argv[1:]
    failed = 0
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        if words and not any(word in script.stem for word in words):
            continue
        print(f"== {script.stem}", flush=True)
        failed += subprocess.run([sys.executable, script], check=False).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
