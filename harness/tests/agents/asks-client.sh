#!/bin/sh
# Usage: asks-client.sh [FAULT]
#
# In each turn it asks the client for what the client can do: a form, a terminal, else to write a file. It has modes and
# options.
. "${0%/*}/conversation.sh"

fault=$1
forms=no terminals=no switches=no
mode=ask effort=low confirm=true
stage=

on_initialize() {
    case $line in *'"form":{'*) forms=yes ;; esac
    case $line in *'"terminal":true'*) terminals=yes ;; esac
    case $line in *'"boolean":{'*) switches=yes ;; esac
    case $line in *'"writeTextFile":true'*) writes=yes ;; *) writes=no ;; esac
    result '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"asks-client","version":"1.0.0"},"authMethods":[]}'
}

effort() {
    printf '%s' "{\"id\":\"effort\",\"name\":\"Effort\",\"type\":\"select\",\"currentValue\":\"$effort\",\"options\":[{\"value\":\"low\",\"name\":\"Low\"},{\"value\":\"high\",\"name\":\"High\"}]}"
}

options() {
    list="{\"id\":\"mode\",\"name\":\"Mode\",\"category\":\"mode\",\"type\":\"select\",\"currentValue\":\"$mode\",\"options\":[{\"value\":\"ask\",\"name\":\"Ask\"},{\"value\":\"plan\",\"name\":\"Plan\"}]},$(effort)"
    if [ "$switches" = yes ]; then
        list="$list,{\"id\":\"confirm\",\"name\":\"Confirm\",\"type\":\"boolean\",\"currentValue\":$confirm}"
    fi
    printf '%s' "$list"
}

on_new() {
    cwd=$(member cwd)
    cwd=${cwd#\"}
    cwd=${cwd%\"}
    sessions=$((sessions + 1))
    session="session-$sessions"
    result "{\"sessionId\":\"$session\",\"modes\":{\"currentModeId\":\"$mode\",\"availableModes\":[{\"id\":\"ask\",\"name\":\"Ask\"},{\"id\":\"plan\",\"name\":\"Plan\"}]},\"configOptions\":[$(options)]}"
}

text() {
    value=$(member "$1")
    value=${value#\"}
    printf '%s' "${value%\"}"
}

on_unknown() {
    case $line in
    *'"method":"session/set_mode"'*) set_mode "$(text modeId)" ;;
    *'"method":"session/set_config_option"'*) set_option "$(text configId)" "$(text value)" ;;
    *) refuse -32601 "method not found" ;;
    esac
}

set_mode() {
    case $fault in
    refuses-modes)
        refuse -32602 "invalid params"
        return
        ;;
    takes-any-mode)
        result '{}'
        return
        ;;
    esac
    case $1 in
    ask | plan)
        mode=$1
        result '{}'
        [ "$fault" = out-of-step ] && mode=ask
        update "{\"sessionUpdate\":\"config_option_update\",\"configOptions\":[$(options)]}"
        ;;
    *) refuse -32602 "no such mode" ;;
    esac
}

set_option() {
    before=$mode
    case "$1=$2" in
    mode=ask | mode=plan) mode=$2 ;;
    effort=low | effort=high) [ "$fault" = keeps-value ] || effort=$2 ;;
    confirm=true | confirm=false) [ "$fault" = keeps-switch ] || confirm=$2 ;;
    *)
        if [ "$fault" != takes-any-option ]; then
            refuse -32602 "no such option or value"
            return
        fi
        ;;
    esac
    list=$(options)
    [ "$fault" = bare-answer ] && list=$(effort)
    result "{\"configOptions\":[$list]}"
    if [ "$mode" != "$before" ]; then
        update "{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"$mode\"}"
    fi
}

call() { # a method and its parameters
    calls=$((calls + 1))
    say "{\"jsonrpc\":\"2.0\",\"id\":\"call-$calls\",\"method\":\"$1\",\"params\":{\"sessionId\":\"$asked_in\",$2}}"
}

tool=0
on_prompt() {
    open=$id
    asked_in=$session
    tool=$((tool + 1))
    update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"tool-$tool\",\"title\":\"Ask the client\",\"kind\":\"other\",\"status\":\"in_progress\"}"
    if [ "$forms" = yes ]; then
        stage=form
        call elicitation/create "\"toolCallId\":\"tool-$tool\",\"mode\":\"form\",\"message\":\"Red or blue?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"colour\":{\"type\":\"string\"}},\"required\":[\"colour\"]}"
    elif [ "$terminals" = yes ]; then
        stage=create
        call terminal/create "\"command\":\"sh\",\"args\":[\"-c\",\"touch started.txt; sleep 600\"],\"cwd\":\"$cwd\""
    elif [ "$writes" = yes ]; then
        stage=write
        call fs/write_text_file "\"path\":\"$cwd/out.txt\",\"content\":\"one\""
    else
        finish completed
    fi
}

finish() {
    stage=
    id=$open
    session=$asked_in
    update "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"tool-$tool\",\"status\":\"$1\"}"
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}'
    result "{\"stopReason\":\"${2:-end_turn}\"}"
    open=
}

on_response() {
    [ -n "$stage" ] || return
    case $line in
    *'"error":'*)
        case $fault in
        hangs-on-error) return ;;
        dies-on-error) exit 1 ;;
        esac
        finish failed
        return
        ;;
    esac
    case $stage in
    form)
        case $line in
        *'"action":"accept"'*'"colour":"'* | *'"colour":"'*'"action":"accept"'*) finish completed ;;
        *'"content":null'*) [ "$fault" = null-is-another ] && finish completed || finish failed ;;
        *) finish failed ;;
        esac
        ;;
    write) [ "$fault" = write-failed ] && finish failed || finish completed ;;
    create)
        terminal=$(text terminalId)
        stage=wait
        call terminal/wait_for_exit "\"terminalId\":\"$terminal\""
        ;;
    wait)
        case $line in
        *'"exitCode"'* | *'"signal"'*)
            call terminal/release "\"terminalId\":\"$terminal\""
            finish completed
            ;;
        esac
        ;;
    esac
}

on_cancel() {
    [ -n "$open" ] || return
    if [ "$stage" = wait ] && [ "$fault" != leaves-terminal ]; then
        call terminal/kill "\"terminalId\":\"$terminal\""
        call terminal/release "\"terminalId\":\"$terminal\""
    fi
    finish failed cancelled
}

calls=0
serve
