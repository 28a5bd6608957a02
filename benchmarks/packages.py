"""Fetch one package by name with its ordinary client, and open it.

pip, npm and apt-get use whatever source they are set up with; no address stands here.
Nothing that is fetched is installed or run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


class FetchError(RuntimeError):
    """A package could not be fetched or read."""


@dataclass(frozen=True)
class Package:
    """A package and the client that knows it.

    Parameters
    ----------
    client : {"pip", "sdist", "npm", "apt"}
        "sdist" is pip, for what has no wheel: it asks the package for its name.
    name : str
    version : str
        Exact version; empty for apt, where the distribution decides.
    """

    client: str
    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.client}:{self.name} {self.version}".rstrip()

    def fetch(self, folder: Path) -> Path:
        """Download the archive into an empty folder and return its path."""
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command = {
            "pip": [*pip, "--only-binary=:all:", f"{self.name}=={self.version}"],
            "sdist": [*pip, "--no-binary=:all:", f"{self.name}=={self.version}"],
            "npm": ["npm", "pack", "--silent", f"{self.name}@{self.version}"],
            "apt": ["apt-get", "download", self.name],
        }[self.client]
        if shutil.which(command[0]) is None:
            raise FetchError(f"{self}: {command[0]} is not installed")
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        found = sorted(path for path in folder.iterdir() if path.is_file())
        if done.returncode or len(found) != 1:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise FetchError(f"{self}: {lines[-1] if lines else 'nothing came'}")
        return found[0]

    def unpack(self, archive: Path, folder: Path) -> Path:
        """Open a wheel, an npm tarball or a Debian archive into a folder."""
        if self.client == "pip":
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(folder)
        elif self.client in ("npm", "sdist"):
            with tarfile.open(archive) as opened:
                opened.extractall(folder, filter="data")
        else:
            try:
                subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise FetchError(f"{self}: dpkg-deb could not open it: {error}") from error
        return folder
