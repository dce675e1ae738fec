#!/bin/sh
. "${0%/*}/conversation.sh"

on_prompt() {
    text=${line#*\"text\":}
    text=${text%%\}*}
    update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":$text}}"
    result '{"stopReason":"end_turn"}'
}

serve
