# A correct little agent. An agent sources this file, replaces the functions in which it differs, and calls `serve`.
#
# For each line of stdin: `id` is the request's id as it is written, `session` its session, `line` the line itself.

say() {
    printf '%s\n' "$1"
}

result() {
    say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"
}

refuse() {
    say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":$1,\"message\":\"$2\"}}"
}

update() {
    say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"$session\",\"update\":$1}}"
}

on_initialize() {
    result '{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}'
}

sessions=0
on_new() {
    sessions=$((sessions + 1))
    session="session-$sessions"
    result "{\"sessionId\":\"$session\"}"
}

on_prompt() {
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}'
    result '{"stopReason":"end_turn"}'
}

on_cancel() {
    :
}

on_cancel_request() {
    :
}

on_unknown() {
    refuse -32601 "method not found"
}

# A response to a request of this agent.
on_response() {
    :
}

# What stands behind "$1": in the line, up to the next comma or brace.
member() {
    case $line in
    *"\"$1\":"*)
        rest=${line#*"\"$1\":"}
        rest=${rest%%,*}
        printf '%s' "${rest%%\}*}"
        ;;
    esac
}

serve() {
    while IFS= read -r line || [ -n "$line" ]; do
        id=$(member id)
        session=$(member sessionId)
        session=${session#\"}
        session=${session%\"}
        case $line in
        '') ;;
        *'"method":"initialize"'*) on_initialize ;;
        *'"method":"session/new"'*) on_new ;;
        *'"method":"session/prompt"'*)
            case $session in
            session-*) case $line in
                *'"prompt":['*) on_prompt ;;
                *) refuse -32602 "prompt is a list" ;;
                esac ;;
            *) refuse -32602 "no such session" ;;
            esac ;;
        *'"method":"session/cancel"'*) on_cancel ;;
        *'"method":"$/cancel_request"'*) on_cancel_request ;;
        *'"result":'* | *'"error":'*) on_response ;;
        *'"method":'*) if [ -n "$id" ]; then on_unknown; fi ;;
        esac
    done
}
