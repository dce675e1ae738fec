#!/bin/sh
. "${0%/*}/conversation.sh"

logged_in=no
reads=no

on_initialize() {
    case $line in
    *'"readTextFile":true'*) reads=yes ;;
    esac
    result '{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"sessionCapabilities":{"additionalDirectories":{}}},"agentInfo":{"name":"well-equipped","version":"1.0.0"},"authMethods":[{"id":"token","name":"Token"}]}'
}

on_unknown() {
    case $line in
    *'"method":"authenticate"'*'"methodId":"token"'*)
        logged_in=yes
        result '{}'
        ;;
    *'"method":"authenticate"'*) refuse -32602 "no such method of authentication" ;;
    *) refuse -32601 "method not found" ;;
    esac
}

on_new() {
    if [ "$logged_in" = no ]; then
        refuse -32000 "authentication required"
        return
    fi
    case $line in
    *'"cwd":"/'*) ;;
    *)
        refuse -32602 "cwd must be an absolute path"
        return
        ;;
    esac
    case $line in
    *'"additionalDirectories":[]'* | *'"additionalDirectories":["/'*) ;;
    *'"additionalDirectories":'*)
        refuse -32602 "additionalDirectories must be absolute paths"
        return
        ;;
    esac
    cwd=$(member cwd)
    cwd=${cwd#\"}
    cwd=${cwd%\"}
    sessions=$((sessions + 1))
    session="session-$sessions"
    result "{\"sessionId\":\"$session\"}"
}

plan() {
    update "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"Look around\",\"priority\":\"high\",\"status\":\"$1\"},{\"content\":\"Sum up\",\"priority\":\"low\",\"status\":\"$2\"}]}"
}

asked=0
on_prompt() {
    plan in_progress pending
    if [ "$reads" = yes ]; then
        asked=$((asked + 1))
        say "{\"jsonrpc\":\"2.0\",\"id\":\"read-$asked\",\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"$session\",\"path\":\"$cwd/notes.txt\"}}"
    fi
    update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm."}}'
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}'
    update '{"sessionUpdate":"usage_update","used":12,"size":1000,"cost":{"amount":0.5,"currency":"EUR"}}'
    plan completed completed
    result '{"stopReason":"end_turn"}'
}

serve
