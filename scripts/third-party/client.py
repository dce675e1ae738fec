#!/usr/bin/env python3
"""A client on the PyPI package `agent-client-protocol` that holds one of the
conversations of conversations.json with an agent.

Usage: client.py CONVERSATION COMMAND [ARGS...]

  TABLE   the table   (conversations.json)

The folder of the session is the current one. The exit code is 1 if the
conversation did not go as the table has it.
"""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path

import acp
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    CreateTerminalResponse,
    DeclineElicitationResponse,
    DeniedOutcome,
    Implementation,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ResourceContentBlock,
    TerminalOutputResponse,
    TextContentBlock,
    WaitForTerminalExitResponse,
)

BLOCKS = {"text": TextContentBlock, "resource_link": ResourceContentBlock}
REPLIES = {
    "accept": AcceptElicitationResponse,
    "decline": DeclineElicitationResponse,
    "cancel": CancelElicitationResponse,
}
# The requests that a step can `call`, by the names that the package has for them.
CALLS = {
    "authenticate": "authenticate",
    "session/close": "close_session",
    "session/list": "list_sessions",
    "session/load": "load_session",
    "session/resume": "resume_session",
    "session/set_config_option": "set_config_option",
    "session/set_mode": "set_session_mode",
}


class Turn:
    """One prompt of the table while it runs: how it answers, and when it cancels."""

    def __init__(self, agent, session, step):
        self.agent = agent
        self.session = session
        self.answers = list(step.get("answers", []))
        self.replies = list(step.get("replies", []))
        self.cancel_when, *count = step.get("cancelWhen", [None])
        self.count = count[0] if count else 1
        self.missed = False

    async def saw(self, moment):
        """Counts what the cancel waits for, and cancels when there was enough of it."""
        if moment != self.cancel_when:
            return
        self.count -= 1
        if self.count == 0:
            self.cancel_when = None
            await self.agent.cancel(session_id=self.session)

    async def permission(self, options):
        await self.saw("asked")
        kind = self.answers.pop(0) if self.answers else None
        for option in options:
            if option.kind == kind:
                return AllowedOutcome(outcome="selected", option_id=option.option_id)
        self.missed = kind != "cancelled"
        return DeniedOutcome(outcome="cancelled")


class Client(acp.Client):
    """Answers the agent as the turn that runs in the session would have it, and notes
    what was seen, a line each, for what the table has under `sees`."""

    def __init__(self):
        self.turns = {}
        self.terminals = {}
        self.seen = []

    async def session_update(self, session_id, update, **_):
        self.note(update)
        turn = self.turns.get(session_id)
        if turn and update.session_update == "agent_message_chunk":
            await turn.saw("text")
        if turn and getattr(update, "status", None) == "in_progress":
            await turn.saw("running")

    def note(self, update):
        kind = update.session_update
        if kind.endswith("_chunk"):
            self.seen.append(f"{kind}: {update.content.text}")
        elif kind == "plan":
            self.seen.append("plan: " + ", ".join(f"{each.content} {each.status}" for each in update.entries))
        elif kind.startswith("tool_call"):
            self.seen.append(f"{kind}: {update.title or ''} {update.status or ''}")
            for part in update.content or []:
                match part.type:
                    case "diff":
                        self.seen.append(f"diff: {part.old_text or ''} => {part.new_text}")
                    case "terminal":
                        self.seen.append(f"terminal: {self.terminals[part.terminal_id].text()}")
                    case "content":
                        self.seen.append(f"content: {part.content.text}")
        else:
            self.seen.append(f"{kind}: {update.model_dump_json(by_alias=True)}")

    async def request_permission(self, session_id, tool_call, options, **_):
        kinds = ", ".join(option.kind for option in options)
        self.seen.append(f"permission: {tool_call.title} ({kinds})")
        outcome = await self.turns[session_id].permission(options)
        return RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id, path, **_):
        self.seen.append("fs/read_text_file")
        try:
            return ReadTextFileResponse(content=Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise acp.RequestError(-32002, f"there is no {Path(path).name}: {error.strerror}") from error

    async def write_text_file(self, session_id, path, content, **_):
        self.seen.append("fs/write_text_file")
        Path(path).write_text(content, encoding="utf-8")

    async def create_terminal(self, session_id, command, args=None, cwd=None, **_):
        self.seen.append("terminal/create")
        name = f"terminal-of-the-client-{len(self.terminals) + 1}"
        self.terminals[name] = await Terminal.start(command, args or [], cwd)
        return CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, session_id, terminal_id, **_):
        return TerminalOutputResponse(output=self.terminals[terminal_id].text(), truncated=False)

    async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
        await self.turns[session_id].saw("waited")
        return await self.terminals[terminal_id].end()

    async def kill_terminal(self, session_id, terminal_id, **_):
        self.seen.append("terminal/kill")
        self.terminals[terminal_id].kill()

    async def release_terminal(self, session_id, terminal_id, **_):
        self.seen.append("terminal/release")
        self.terminals[terminal_id].kill()

    async def create_elicitation(self, message, mode, **_):
        self.seen.append(f"question: {message}")
        turn = self.turns[mode.session_id]
        await turn.saw("asked")
        reply = turn.replies.pop(0) if turn.replies else {"action": "cancel"}
        return REPLIES[reply["action"]](**reply)

    async def complete_elicitation(self, elicitation_id, **_):
        self.seen.append("elicitation/complete")


class Terminal:
    """A program that runs for the agent, in a process group of its own."""

    @classmethod
    async def start(cls, command, args, cwd):
        terminal = cls()
        terminal.output = bytearray()
        terminal.program = await asyncio.create_subprocess_exec(
            command,
            *args,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        terminal.reading = asyncio.create_task(terminal.read())
        return terminal

    async def read(self):
        while data := await self.program.stdout.read(4096):
            self.output += data

    def text(self):
        return self.output.decode("utf-8", "replace")

    async def end(self):
        await self.reading
        code = await self.program.wait()
        if code < 0:
            return WaitForTerminalExitResponse(signal=signal.Signals(-code).name)
        return WaitForTerminalExitResponse(exit_code=code)

    def kill(self):
        if self.program.returncode is None:
            os.killpg(self.program.pid, signal.SIGKILL)


class Conversation:
    """The steps of the table, with the sessions that they opened by name."""

    def __init__(self, agent, client):
        self.agent = agent
        self.client = client
        self.sessions = {}

    async def take(self, step):
        self.client.seen.clear()
        await self.act(step)
        missing = step.get("sees", [])
        for _ in range(200):  # two seconds: what follows an answer is handed over a little later
            missing = [each for each in missing if not any(each in line for line in self.client.seen)]
            if not missing:
                return
            await asyncio.sleep(0.01)
        sys.exit(f"not seen: {missing}\n  " + "\n  ".join(self.client.seen))

    async def act(self, step):
        if "together" in step:
            await asyncio.gather(*(self.prompt(each) for each in step["together"]))
        elif "new" in step:
            await self.open(step["new"], step.get("cwd", ""))
        elif "call" in step:
            await self.call(step["call"], step["params"])
        else:
            await self.prompt(step)

    async def call(self, method, params):
        known = {"{cwd}": str(Path.cwd()), "{session}": self.sessions.get("main")}
        words = {snake(name): known.get(value, value) if isinstance(value, str) else value for name, value in params.items()}
        answer = await self.tolerate(getattr(self.agent, CALLS[method])(**words))
        if answer:
            self.client.seen.append(f"answer: {answer.model_dump_json(by_alias=True)}")

    async def tolerate(self, request):
        """An error of the agent is part of the conversation; whatever else fails is not."""
        try:
            return await request
        except acp.RequestError as error:
            self.client.seen.append(f"error: {error.code} {json.dumps(error.data)}")
            print(f"answered with error {error.code}: {error}", file=sys.stderr)

    async def open(self, name, folder=""):
        opened = await self.agent.new_session(cwd=str(Path.cwd() / folder), mcp_servers=[])
        self.sessions[name] = opened.session_id

    async def prompt(self, step):
        name = step.get("session", "main")
        if name not in self.sessions:
            await self.open(name)
        session = self.sessions[name]
        turn = self.client.turns[session] = Turn(self.agent, session, step)
        started = asyncio.create_task(self.agent.prompt(session_id=session, prompt=blocks(step["prompt"])))
        # The request is on the wire once the task that sends it had its turn.
        await asyncio.sleep(0)
        await turn.saw("sent")
        answer = await self.tolerate(started)
        if answer:
            self.client.seen.append(f"stopReason: {answer.stop_reason}")
        if turn.missed:
            sys.exit(f"a permission request that the table has no answer for: {step}")


def snake(name):
    """A name of the protocol as the package spells it."""
    return re.sub("[A-Z]", lambda big: "_" + big[0].lower(), name)


def blocks(prompt):
    if isinstance(prompt, str):
        return [acp.text_block(prompt)]
    prompt = json.loads(json.dumps(prompt).replace("{cwd}", str(Path.cwd())))
    return [BLOCKS[block["type"]](**block) for block in prompt]


async def hold(table, command):
    client = Client()
    process = acp.spawn_agent_process(
        client,
        *command,
        env=os.environ,
        transport_kwargs={"stderr": None},
        use_unstable_protocol=True,  # what the package calls elicitation
    )
    async with process as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(**table.get("capabilities", {})),
            client_info=Implementation(name="sdk-python", version="1.0.0"),
        )
        conversation = Conversation(agent, client)
        for step in table["steps"]:
            await conversation.take(step)


if __name__ == "__main__":
    file = Path(os.environ.get("TABLE", Path(__file__).with_name("conversations.json")))
    conversations = json.loads(file.read_text(encoding="utf-8"))
    if len(sys.argv) < 3 or sys.argv[1] not in conversations:
        sys.exit(f"usage: client.py CONVERSATION COMMAND [ARGS...]; the conversations are in {file}")
    asyncio.run(hold(conversations[sys.argv[1]], sys.argv[2:]))
