#!/bin/sh
. "${0%/*}/conversation.sh"

asks=0
on_prompt() {
    open=$id
    asks=$((asks + 1))
    update '{"sessionUpdate":"tool_call","toolCallId":"call-1","title":"touch out.txt","kind":"execute","status":"pending"}'
    say "{\"jsonrpc\":\"2.0\",\"id\":\"ask-$asks\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"$session\",\"toolCall\":{\"toolCallId\":\"call-1\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"Allow\",\"kind\":\"allow_once\"},{\"optionId\":\"no\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}"
    asked_in=$session
}

# Whatever the answer is, the tool runs.
on_response() {
    id=$open
    session=$asked_in
    update '{"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"in_progress"}'
    touch out.txt
    update '{"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]}'
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}'
    result '{"stopReason":"end_turn"}'
}

serve
