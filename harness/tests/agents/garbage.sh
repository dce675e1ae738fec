#!/bin/sh
while IFS= read -r line; do
    echo "what is this?"
done
