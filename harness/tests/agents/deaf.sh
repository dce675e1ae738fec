#!/bin/sh
. "${0%/*}/conversation.sh"

on_unknown() {
    :
}

serve
