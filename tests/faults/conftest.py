import sys
from pathlib import Path

# The reference and the forced paths live with the numerics.
NUMERICS = str(Path(__file__).resolve().parents[1] / "numerics")
if NUMERICS not in sys.path:
    sys.path.insert(0, NUMERICS)

# The program that is killed lies beside this file.
HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
