import sys
from pathlib import Path

# The reference lives with the numerics, what is tried beside this file.
for _place in ("numerics", "fuzz"):
    _folder = str(Path(__file__).resolve().parents[1] / _place)
    if _folder not in sys.path:
        sys.path.insert(0, _folder)
