#!/usr/bin/env python3
"""A small agent on the PyPI package `agent-client-protocol`, to try the harness on.

It asks no model. Each turn repeats what the user wrote, then writes it into
`echo.txt` in the session's folder, if the client permits it.
"""

import asyncio
import contextlib
import uuid
from pathlib import Path

import acp
from acp.schema import AgentCapabilities, Implementation, PermissionOption, ToolCallUpdate

OPTIONS = [
    PermissionOption(option_id="yes", name="Write the file", kind="allow_once"),
    PermissionOption(option_id="no", name="Leave it", kind="reject_once"),
]


class EchoAgent(acp.Agent):
    def __init__(self):
        self.folders = {}
        self.turns = {}

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(),
            agent_info=Implementation(name="echo-python", version="1.0.0"),
        )

    async def new_session(self, cwd, additional_directories=None, mcp_servers=None, **_):
        session = uuid.uuid4().hex
        self.folders[session] = Path(cwd)
        return acp.NewSessionResponse(session_id=session)

    async def prompt(self, session_id, prompt, **_):
        if session_id not in self.folders:
            raise acp.RequestError.invalid_params({"sessionId": "there is no such session"})
        if session_id in self.turns:
            raise acp.RequestError.invalid_request({"sessionId": "a turn is under way"})
        turn = self.turns[session_id] = asyncio.create_task(self.turn(session_id, prompt))
        # Only a cancel of the client ends the turn as cancelled. Where the package cancels this
        # coroutine, because stdin was closed, nobody waits for an answer and none may be made.
        try:
            await asyncio.wait([turn])
        finally:
            turn.cancel()
            del self.turns[session_id]
        if turn.cancelled():
            return acp.PromptResponse(stop_reason="cancelled")
        turn.result()
        return acp.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id, **_):
        if session_id in self.turns:
            self.turns[session_id].cancel()

    async def turn(self, session, prompt):
        text = "\n".join(block.text if block.type == "text" else f"[{block.type}]" for block in prompt)
        for word in text[:200].split():
            await self.client.session_update(session, acp.update_agent_message_text(word + " "))
            await asyncio.sleep(0.01)
        await self.write(session, self.folders[session] / "echo.txt", text)

    async def write(self, session, path, text):
        call = uuid.uuid4().hex
        start = acp.start_edit_tool_call(call, f"Write {path.name}", str(path), text)
        await self.client.session_update(session, start)
        ask = ToolCallUpdate(tool_call_id=call, title=start.title)
        status = "failed"
        # Whatever ends this call early, a cancel too, the client hears of its end.
        try:
            answer = await self.client.request_permission(session, ask, OPTIONS)
            if answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes":
                running = acp.update_tool_call(call, status="in_progress")
                await self.client.session_update(session, running)
                path.write_text(text, encoding="utf-8")
                status = "completed"
        finally:
            with contextlib.suppress(ConnectionError):
                await self.client.session_update(session, acp.update_tool_call(call, status=status))


if __name__ == "__main__":
    asyncio.run(acp.run_agent(EchoAgent()))
