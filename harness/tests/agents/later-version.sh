#!/bin/sh
. "${0%/*}/conversation.sh"

on_initialize() {
    result '{"protocolVersion":2,"agentCapabilities":{}}'
}

serve
