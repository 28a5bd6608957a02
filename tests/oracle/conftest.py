import sys
from pathlib import Path

# The reference and the forced paths live with the numerics, what is printed beside this file.
for place in ("numerics", "oracle"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / place))
