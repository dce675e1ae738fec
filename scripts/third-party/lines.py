#!/usr/bin/env python3
"""A client without a library, for what no library would send: it writes the lines
that conversations.json has, and waits for the lines that it expects.

Usage: lines.py CONVERSATION COMMAND [ARGS...]

A step is `send` (a text: the line as it is; an object: its JSON; `{cwd}` and
`{session}` are filled in), `hex` (the bytes of a line), `until` (waits until the
agent writes a line that contains the text), or `close` (closes the agent's stdin).
`"{asked}"` is the id of the last request that the agent made.
The exit code is 1 if the agent ended before a line that was waited for.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def hold(steps, command):
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    output = agent.stdout
    known = {"{cwd}": os.getcwd()}
    for step in steps:
        if "send" in step or "hex" in step:
            agent.stdin.write(line(step, known))
        elif "until" in step:
            for raw in iter(output.readline, b""):
                text = raw.decode("utf-8")
                learn(json.loads(text), known)
                if step["until"] in text:
                    break
            else:
                sys.exit(f"the agent ended before a line with {step['until']}")
        elif "close" in step:
            agent.stdin.close()
    if not agent.stdin.closed:
        agent.stdin.close()
    output.read()
    agent.wait()


def learn(message, known):
    """Notes what later lines need: the session that was opened, the request that was made."""
    if "sessionId" in message.get("result", {}):
        known["{session}"] = message["result"]["sessionId"]
    if "method" in message and "id" in message:
        known['"{asked}"'] = json.dumps(message["id"])


def line(step, known):
    if "hex" in step:
        return bytes.fromhex(step["hex"]) + b"\n"
    send = step["send"]
    text = send if isinstance(send, str) else json.dumps(send, separators=(",", ":"), ensure_ascii=False)
    for placeholder, value in known.items():
        text = text.replace(placeholder, value)
    return text.encode("utf-8") + b"\n"


if __name__ == "__main__":
    table = json.loads(Path(__file__).with_name("conversations.json").read_text(encoding="utf-8"))
    if len(sys.argv) < 3 or sys.argv[1] not in table:
        sys.exit("usage: lines.py CONVERSATION COMMAND [ARGS...]; the conversations are in conversations.json")
    hold(table[sys.argv[1]]["steps"], sys.argv[2:])
