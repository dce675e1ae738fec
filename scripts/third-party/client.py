#!/usr/bin/env python3
"""A client on the PyPI package `agent-client-protocol` that holds one of the
conversations of conversations.json with an agent.

Usage: client.py CONVERSATION COMMAND [ARGS...]

The folder of the session is the current one. The exit code is 1 if the
conversation did not go as the table has it.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    Implementation,
    RequestPermissionResponse,
    ResourceContentBlock,
    TextContentBlock,
)

BLOCKS = {"text": TextContentBlock, "resource_link": ResourceContentBlock}


class Turn:
    """One prompt of the table while it runs: how it answers, and when it cancels."""

    def __init__(self, agent, session, step):
        self.agent = agent
        self.session = session
        self.answers = list(step.get("answers", []))
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
    """Answers the agent as the turn that runs in the session would have it."""

    def __init__(self):
        self.turns = {}

    async def session_update(self, session_id, update, **_):
        turn = self.turns.get(session_id)
        if turn and update.session_update == "agent_message_chunk":
            await turn.saw("text")
        if turn and getattr(update, "status", None) == "in_progress":
            await turn.saw("running")

    async def request_permission(self, session_id, tool_call, options, **_):
        outcome = await self.turns[session_id].permission(options)
        return RequestPermissionResponse(outcome=outcome)


class Conversation:
    """The steps of the table, with the sessions that they opened by name."""

    def __init__(self, agent, client):
        self.agent = agent
        self.client = client
        self.sessions = {}

    async def take(self, step):
        if "together" in step:
            await asyncio.gather(*(self.prompt(each) for each in step["together"]))
        elif "new" in step:
            await self.open(step["new"], step.get("cwd", ""))
        else:
            await self.prompt(step)

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
        try:
            await started
        except acp.RequestError as error:
            # An error of the agent is part of the conversation; whatever else fails is not.
            print(f"answered with error {error.code}: {error}", file=sys.stderr)
        if turn.missed:
            sys.exit(f"a permission request that the table has no answer for: {step}")


def blocks(prompt):
    if isinstance(prompt, str):
        return [acp.text_block(prompt)]
    prompt = json.loads(json.dumps(prompt).replace("{cwd}", str(Path.cwd())))
    return [BLOCKS[block["type"]](**block) for block in prompt]


async def hold(steps, command):
    client = Client()
    process = acp.spawn_agent_process(client, *command, env=os.environ, transport_kwargs={"stderr": None})
    async with process as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="sdk-python", version="1.0.0"),
        )
        conversation = Conversation(agent, client)
        for step in steps:
            await conversation.take(step)


if __name__ == "__main__":
    table = json.loads(Path(__file__).with_name("conversations.json").read_text(encoding="utf-8"))
    if len(sys.argv) < 3 or sys.argv[1] not in table:
        sys.exit("usage: client.py CONVERSATION COMMAND [ARGS...]; the conversations are in conversations.json")
    asyncio.run(hold(table[sys.argv[1]]["steps"], sys.argv[2:]))
