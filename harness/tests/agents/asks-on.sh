#!/bin/sh
# Answers initialize, asks three thousand times for permission without reading, and then waits.
read -r line
printf '%s\n' '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"asks-on","version":"1"}}}'
number=0
while [ "$number" -lt 3000 ]; do
    printf '{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"%s"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}\n' "$number" "a long title so that the answers fill the pipe of an agent that does not read them"
    number=$((number + 1))
done
while :; do
    sleep 1
done
