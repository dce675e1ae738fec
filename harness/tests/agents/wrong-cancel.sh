#!/bin/sh
. "${0%/*}/conversation.sh"

# A turn stays open until it is cancelled.
on_prompt() {
    open=$id
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Thinking."}}'
}

on_cancel() {
    id=$open
    if [ -n "$id" ]; then
        result '{"stopReason":"end_turn"}'
    fi
    open=
}

serve
