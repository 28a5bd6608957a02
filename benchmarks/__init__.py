"""Named cases, rivals and results: how fast, how much memory, and how right.

``python -m benchmarks --help`` lists the commands.
"""
