#!/bin/sh
. "${0%/*}/conversation.sh"

say "Welcome to test-agent 1.0.0"
serve
