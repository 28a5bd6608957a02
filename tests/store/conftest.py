import sys
from pathlib import Path

# The forged files are shared by the test files beside this one.
HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
