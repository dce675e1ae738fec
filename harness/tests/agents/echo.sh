#!/bin/sh
. "${0%/*}/conversation.sh"

# The text of the first text block, as it is escaped in the line. The shell's own patterns are slow on long lines.
prompt_text() {
    printf '%s\n' "$line" | sed -n -E -e '/"text":"/!q' -e 's/"text":"/\
/' -e 's/^.*\n//' -e 's/^(([^"\\]|\\.)*)".*$/\1/p'
}

on_prompt() {
    text=$(prompt_text)
    update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$text\"}}"
    result '{"stopReason":"end_turn"}'
}

serve
