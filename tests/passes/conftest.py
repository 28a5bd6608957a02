import sys
from pathlib import Path

# The forced paths live with the numerics, the measurement beside this file.
TESTS = Path(__file__).resolve().parents[1]
for place in (str(TESTS / "numerics"), str(TESTS / "passes")):
    if place not in sys.path:
        sys.path.insert(0, place)
