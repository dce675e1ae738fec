#!/bin/sh
. "${0%/*}/conversation.sh"

# What some format takes for markup, a link, a mention, the end of its own text, or a control sequence.
evil='</failure>]]><script>alert(1)</script><img src=x onerror=alert(1)> `x` ``` | **b** [l](javascript:alert(1)) @all #1 https://evil.example &lt; \u001b[31m \u202e \u0000 \u009b \ufffe \\'

on_initialize() {
    result "{\"protocolVersion\":1,\"agentCapabilities\":{},\"agentInfo\":{\"name\":\"$evil\",\"version\":\"$evil\"},\"authMethods\":[]}"
}

on_prompt() {
    printf '%b\n' "$evil"
    update "{\"sessionUpdate\":\"$evil\"}"
    result "{\"stopReason\":\"$evil\"}"
}

printf '</details>\033[2J\001<script>@all\n'
serve
