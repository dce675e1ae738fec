#!/bin/sh
# Keeps its sessions in the home folder, and gets one thing wrong with them: the one that $1 names.
. "${0%/*}/conversation.sh"

fault=$1
store=$HOME/sessions
mkdir -p "$store"
logged_in=no
# The sessions that are open in this process, each between two spaces.
open=' '
# The session with a turn that goes on, and the id of its prompt.
busy='' turn=''
turns=0

on_initialize() {
    result '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"auth":{"logout":{}},"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{}}},"agentInfo":{"name":"stored","version":"1.0.0"},"authMethods":[{"id":"token","name":"Token"}]}'
}

text_of() {
    printf '%s\n' "$line" | sed -n -E -e '/"text":"/!q' -e 's/"text":"/\
/' -e 's/^.*\n//' -e 's/^(([^"\\]|\\.)*)".*$/\1/p'
}

plain() { # the string member $1 without its quotes
    value=$(member "$1")
    value=${value#\"}
    printf '%s' "${value%\"}"
}

keep() { # an update, which is sent too
    update "$1"
    printf '%s\n' "$1" >>"$store/$session/updates"
}

chunk() {
    printf '{"sessionUpdate":"%s","content":{"type":"text","text":"%s"}}' "$1" "$2"
}

usage() {
    update '{"sessionUpdate":"usage_update","used":12,"size":1000}'
}

on_new() {
    if [ "$logged_in" = no ]; then
        refuse -32000 "authentication required"
        return
    fi
    number=1
    while ! mkdir "$store/session-$number" 2>/dev/null; do number=$((number + 1)); done
    session="session-$number"
    plain cwd >"$store/$session/cwd"
    open="$open$session "
    result "{\"sessionId\":\"$session\"}"
}

end_turn() { # $1: the stop reason
    id=$turn
    result "{\"stopReason\":\"$1\"}"
    busy='' turn=''
}

on_prompt() {
    case $open in
    *" $session "*) ;;
    *)
        refuse -32002 "not open"
        return
        ;;
    esac
    if [ -f "$store/$session/deaf" ]; then
        refuse -32603 "nothing is left of it"
        return
    fi
    text=$(text_of)
    printf '%s\n' "$(chunk user_message_chunk "$text")" >>"$store/$session/updates"
    case $text in
    *slowly*)
        busy=$session turn=$id
        keep "$(chunk agent_message_chunk One.)"
        return
        ;;
    esac
    turns=$((turns + 1))
    keep "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"call-$$-$turns\",\"title\":\"Think of it, turn $turns\",\"status\":\"completed\"}"
    keep "$(chunk agent_message_chunk "So be it, in turn $turns.")"
    usage
    printf 'Turn %s' "$turns" >"$store/$session/title"
    update "{\"sessionUpdate\":\"session_info_update\",\"title\":\"Turn $turns\"}"
    result '{"stopReason":"end_turn"}'
}

on_cancel() {
    if [ "$session" = "$busy" ]; then end_turn cancelled; fi
}

replay() {
    case $fault in
    load-nothing) return ;;
    load-order) kept=$(tac "$store/$session/updates") ;;
    load-roles) kept=$(sed 's/"user_message_chunk"/"agent_message_chunk"/' "$store/$session/updates") ;;
    load-calls) kept=$(grep -v '"tool_call"' "$store/$session/updates") ;;
    load-half) kept=$(head -n 3 "$store/$session/updates") ;;
    *) kept=$(cat "$store/$session/updates") ;;
    esac
    printf '%s\n' "$kept" | while IFS= read -r body; do update "$body"; done
}

reopen() { # load or resume
    if [ ! -f "$store/$session/updates" ] || [ "$fault" = "$1-refuses" ]; then
        refuse -32002 "no such session"
        return
    fi
    open="$open$session "
    if [ "$fault" = "$1-deaf" ]; then touch "$store/$session/deaf"; fi
    case $1$fault in
    loadload-late)
        result '{}'
        replay
        ;;
    load* | resumeresume-replays)
        replay
        result '{}'
        ;;
    *) result '{}' ;;
    esac
    if [ "$fault" != no-usage ]; then usage; fi
}

entries() { # those of the folder $1, of all where it is empty
    for folder in "$store"/session-*; do
        if [ ! -f "$folder/updates" ]; then continue; fi
        own=$(cat "$folder/cwd")
        if [ -n "$1" ] && [ "$1" != "$own" ] && [ "$fault" != list-others ]; then continue; fi
        title=$(cat "$folder/title")
        time='2025-10-29T14:22:15Z'
        case $fault in
        list-folders) own=project ;;
        list-times) time='29 October 2025' ;;
        list-titles) title=Untitled ;;
        esac
        entry="{\"sessionId\":\"${folder##*/}\",\"cwd\":\"$own\",\"title\":\"$title\",\"updatedAt\":\"$time\"}"
        if [ "$fault" = list-roots ]; then entry="${entry%\}},\"additionalDirectories\":[\"/usr\"]}"; fi
        printf '%s,' "$entry"
        if [ "$fault" = list-twice ]; then printf '%s,' "$entry"; fi
    done
}

lists=0
on_list() {
    lists=$((lists + 1))
    cursor=$(plain cursor)
    all=$(entries "$(plain cwd)")
    all=${all%,}
    if [ "$fault" = list-forgets ] && [ $((lists % 2)) = 0 ]; then all=; fi
    case $fault$cursor in
    list-refuses*) refuse -32603 "not now" ;;
    list-null*) if [ -n "$all" ]; then result "{\"sessions\":[$all]}"; else result '{"sessions":null}'; fi ;;
    list-pages*) result "{\"sessions\":[$all],\"nextCursor\":\"more\"}" ;;
    list-cursornot-a-cursor) result '{"sessions":[]}' ;;
    *not-a-cursor) refuse -32602 "no such cursor" ;;
    *) result "{\"sessions\":[$all]}" ;;
    esac
}

on_close() {
    case $open in
    *" $session "*) ;;
    *)
        refuse -32002 "not open"
        return
        ;;
    esac
    if [ "$fault" = close-refuses ]; then
        refuse -32603 "not now"
        return
    fi
    if [ "$fault" != closed-goes-on ]; then open="${open%%" $session "*} ${open#*" $session "}"; fi
    closing=$id
    if [ "$session" = "$busy" ]; then
        case $fault in
        close-fails)
            id=$turn
            refuse -32603 "the session was closed"
            ;;
        *) end_turn cancelled ;;
        esac
    fi
    id=$closing
    result '{}'
}

on_delete() {
    if [ "$fault" = delete-refuses ] || { [ "$fault" = delete-once ] && [ ! -d "$store/$session" ]; }; then
        refuse -32603 "not now"
        return
    fi
    if [ "$fault" != deleted-goes-on ]; then open="${open%%" $session "*} ${open#*" $session "}"; fi
    if [ "$fault" != delete-keeps ] && [ "$fault" != deleted-goes-on ]; then rm -rf "${store:?}/${session:?}"; fi
    result '{}'
}

on_cancel_request() {
    id=$(member requestId)
    if [ -n "$turn" ] && [ "$id" = "$turn" ]; then
        case $fault in
        request-aborts) refuse -32603 "aborted" ;;
        *) refuse -32800 "cancelled" ;;
        esac
        busy='' turn=''
    elif [ "$fault" = request-answers ]; then
        refuse -32602 "no such request"
    fi
}

on_unknown() {
    case $line in
    *'"method":"authenticate"'*'"methodId":"token"'*)
        logged_in=yes
        result '{}'
        ;;
    *'"method":"authenticate"'*) refuse -32602 "no such method of authentication" ;;
    *'"method":"logout"'*)
        if [ "$fault" != logout-keeps ]; then logged_in=no; fi
        if [ "$fault" = logout-text ]; then result '"bye"'; else result '{}'; fi
        ;;
    *'"method":"session/load"'*) reopen load ;;
    *'"method":"session/resume"'*)
        case $fault$line in
        resume-servers*'"mcpServers"'*) reopen resume ;;
        resume-servers*) refuse -32602 "mcpServers is needed" ;;
        *) reopen resume ;;
        esac
        ;;
    *'"method":"session/list"'*) on_list ;;
    *'"method":"session/close"'*) on_close ;;
    *'"method":"session/delete"'*) on_delete ;;
    *) refuse -32601 "method not found" ;;
    esac
}

serve
