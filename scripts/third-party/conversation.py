"""What `golden` and `clients` share: the clients of others that `install` put there, and
the folder and the environment in which a conversation is held.

  AGENTS   where the clients are installed   (target/third-party)
  HARNESS  the harness, with bob in it       (target/release/harness)
"""

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
AGENTS = Path(os.environ.get("AGENTS", ROOT / "target/third-party")).resolve()
HARNESS = Path(os.environ.get("HARNESS", ROOT / "target/release/harness")).resolve()
# How long a conversation may take, in seconds.
LIMIT = 60


def client(kind, name, agent):
    """The command of a client that holds the conversation of this name with an agent."""
    programs = {
        "ts": ["node", HERE / "client.mjs"],
        "python": [AGENTS / "python/bin/python", HERE / "client.py"],
        "lines": [sys.executable, HERE / "lines.py"],
    }
    return [*programs[kind], name, *agent]


@contextmanager
def place(files):
    """A home of its own with a folder `project` in it that holds the files, so that nothing
    of this machine gets into the conversation."""
    with tempfile.TemporaryDirectory(prefix="conversation-") as folder:
        home = Path(folder).resolve() / "home"
        project = home / "project"
        project.mkdir(parents=True)
        for path, text in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text, encoding="utf-8")
        yield home, project


def environment(home, kind):
    """No variable that could steer the client or the agent."""
    first = [str(HARNESS.parent)]
    if kind == "acpx":  # with the Node.js that it needs
        first.insert(0, str(AGENTS / "acpx/node_modules/.bin"))
    return {
        "PATH": os.pathsep.join([*first, os.environ["PATH"]]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SDK": str(AGENTS / "sdk-ts-example"),
    }
