"""The project's folder, and the files in it that the set-up reads or makes."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "convgrad.stamp"
LOCK = ROOT / "requirements.lock"
INSTALLER = ROOT / "installer.lock"
