#!/bin/sh
while IFS= read -r line; do
    :
done
