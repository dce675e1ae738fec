#!/bin/sh
. "${0%/*}/conversation.sh"

on_prompt() {
    update '{"sessionUpdate":"tool_call_update","toolCallId":"never-reported","status":"completed"}'
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}'
    result '{"stopReason":"end_turn"}'
}

serve
