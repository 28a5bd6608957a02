import sys
from pathlib import Path

# The examples are scripts: they are imported from their folder.
PLACE = str(Path(__file__).resolve().parents[2] / "examples")
if PLACE not in sys.path:
    sys.path.insert(0, PLACE)
