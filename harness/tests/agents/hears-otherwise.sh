#!/bin/sh
# The reference agent with everything, but what the client says reaches it otherwise: each line goes through sed.
# Usage: hears-otherwise.sh HARNESS SCRIPT
while IFS= read -r line; do
    printf '%s\n' "$line" | sed "$2"
done | "$1" bob --surface everything
