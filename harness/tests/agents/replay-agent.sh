#!/bin/sh
# An agent for the tests of replay: what it does in a turn is its first argument. It writes every line that it is sent into
# the file $LOG, mints its ids anew each time, and asks for permission where the turn says so.
. "${0%/*}/conversation.sh"

turn=${1:-plain}
asked=0
cancelled=no
mark=$$

# The next line of the client.
hear() {
    IFS= read -r line || return 1
    printf '%s\n' "$line" >>"${LOG:-/dev/null}"
    case $line in
    *'"method":"session/cancel"'*) cancelled=yes ;;
    esac
}

on_new() {
    case $turn in
    no-session)
        refuse -32603 "no session today"
        return
        ;;
    esac
    sessions=$((sessions + 1))
    session="live-$mark-$sessions"
    result "{\"sessionId\":\"$session\"}"
}

text() {
    update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"
}

# A tool call: id, kind, title, path.
call() {
    update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"$1\",\"kind\":\"$2\",\"title\":\"$3\",\"status\":\"pending\",\"rawInput\":{\"path\":\"$4\"}}"
}

progress() {
    update "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"$1\",\"status\":\"$2\"}"
}

# Sends a request, method and params, and waits for its answer: `answer` is that line.
ask() {
    asked=$((asked + 1))
    case $turn in
    number-ids) number=$((1000 + asked)) ;;
    *) number="\"ask-$mark-$asked\"" ;;
    esac
    say "{\"jsonrpc\":\"2.0\",\"id\":$number,\"method\":\"$1\",\"params\":$2}"
    answer=
    while hear; do
        case $line in
        *"\"id\":$number"*)
            answer=$line
            return 0
            ;;
        esac
    done
    exit 0
}

# Asks for permission: tool call id, kind, title, path. `outcome` is the option.
permission() {
    allow=${allow:-allow}
    ask session/request_permission "{\"sessionId\":\"$session\",\"toolCall\":{\"toolCallId\":\"$1\",\"kind\":\"$2\",\"title\":\"$3\",\"rawInput\":{\"path\":\"$4\"}},\"options\":[{\"optionId\":\"$allow\",\"name\":\"Allow\",\"kind\":\"allow_once\"},{\"optionId\":\"reject\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}"
    case $answer in
    *"\"optionId\":\"$allow\""*) outcome=allow ;;
    *'"optionId":"reject"'*) outcome=reject ;;
    *) outcome=cancelled ;;
    esac
}

# One edit with permission: tool call id and path.
edit() {
    call "$1" edit "Edit $2" "$2"
    permission "$1" edit "Edit $2" "$2"
    case $outcome in
    allow) progress "$1" completed ;;
    *) progress "$1" failed ;;
    esac
}

a="tool-$mark-a"
b="tool-$mark-b"

on_prompt() {
    prompt=$id
    in_session=$session
    cancelled=no
    case $turn in
    plain | number-ids | other-answer)
        text "Working."
        edit "$a" a.txt
        edit "$b" b.txt
        text " Done."
        ;;
    other-order)
        text "Working."
        edit "$b" b.txt
        edit "$a" a.txt
        text " Done."
        ;;
    once-more)
        text "Working."
        edit "$a" a.txt
        edit "tool-$mark-c" secret.txt
        edit "$b" b.txt
        text " Done."
        ;;
    once-less)
        text "Working."
        edit "$a" a.txt
        text " Done."
        ;;
    other-option)
        allow=yes-please
        text "Working."
        edit "$a" a.txt
        edit "$b" b.txt
        text " Done."
        ;;
    unknown-updates)
        update '{"sessionUpdate":"_weather","sky":"blue"}'
        text "Working."
        edit "$a" a.txt
        update '{"sessionUpdate":"subagent_update","name":"x"}'
        edit "$b" b.txt
        text " Done."
        say '{"jsonrpc":"2.0","method":"_more/things","params":{}}'
        ;;
    chunks)
        for piece in W ork ing .; do text "$piece"; done
        edit "$a" a.txt
        edit "$b" b.txt
        for piece in ' D' on e.; do text "$piece"; done
        ;;
    slow)
        text "Working."
        edit "$a" a.txt
        sleep 1
        edit "$b" b.txt
        text " Done."
        ;;
    dies)
        text "Working."
        edit "$a" a.txt
        exit 7
        ;;
    closes)
        text "Working."
        exec >&-
        while hear; do :; done
        exit 0
        ;;
    mute)
        text "Working."
        return
        ;;
    stream)
        # Counts until it is cancelled.
        count=0
        while [ "$cancelled" = no ] && [ "$count" -lt 40 ]; do
            count=$((count + 1))
            text "0123456789"
            ask _test/tick '{}'
        done
        id=$prompt
        session=$in_session
        if [ "$cancelled" = yes ]; then
            result '{"stopReason":"cancelled"}'
        else
            result '{"stopReason":"end_turn"}'
        fi
        return
        ;;
    early)
        text "01234"
        ;;
    reads)
        ask fs/read_text_file "{\"sessionId\":\"$session\",\"path\":\"$FOLDER/notes.txt\"}"
        case $answer in
        *'"content":"'*) content=${answer#*'"content":"'} ;;
        *) content='nothing"' ;;
        esac
        text "Read: ${content%%\"*}"
        ;;
    esac
    id=$prompt
    session=$in_session
    result '{"stopReason":"end_turn"}'
}

serve() {
    while hear; do
        id=$(member id)
        session=$(member sessionId)
        session=${session#\"}
        session=${session%\"}
        case $line in
        *'"method":"initialize"'*) on_initialize ;;
        *'"method":"session/new"'*)
            FOLDER=$(member cwd)
            FOLDER=${FOLDER#\"}
            FOLDER=${FOLDER%\"}
            on_new
            ;;
        *'"method":"session/prompt"'*) on_prompt ;;
        *'"method":"session/cancel"'*) ;;
        *'"result":'* | *'"error":'*) ;;
        *'"method":'*) if [ -n "$id" ]; then on_unknown; fi ;;
        esac
    done
}

serve
