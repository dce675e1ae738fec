#!/bin/sh
. "${0%/*}/conversation.sh"

on_new() {
    sessions=$((sessions + 1))
    session="session-$sessions"
    update '{"sessionUpdate":"available_commands_update","availableCommands":[]}'
    result "{\"sessionId\":\"$session\"}"
}

serve
