#!/bin/sh
. "${0%/*}/conversation.sh"

on_initialize() {
    result '{"protocolVersion":1,"agentCapabilities":{},"authMethods":[{"id":"browser","name":"Log in with the browser"}]}'
}

on_new() {
    refuse -32000 "authentication required"
}

serve
