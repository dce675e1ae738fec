#!/bin/sh
. "${0%/*}/conversation.sh"

# Version 2 asks for `info`, which version 1 does not have.
on_initialize() {
    case $(member protocolVersion) in
    1) result '{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}' ;;
    2)
        case $line in
        *'"info":'*) result '{"protocolVersion":2,"info":{"name":"test-agent","version":"1.0.0"},"capabilities":{}}' ;;
        *) refuse -32602 "invalid params: info is missing" ;;
        esac
        ;;
    *) result '{"protocolVersion":2,"info":{"name":"test-agent","version":"1.0.0"},"capabilities":{}}' ;;
    esac
}

serve
