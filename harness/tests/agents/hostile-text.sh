#!/bin/sh
. "${0%/*}/conversation.sh"

on_initialize() {
    result '{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"red \u001b[31m \u202e","version":"1"},"authMethods":[]}'
}

on_prompt() {
    result '{"stopReason":"\u001b[2J\u202e done"}'
}

serve
