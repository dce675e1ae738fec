#!/bin/sh
# The reference agent, but for one thing that it writes otherwise.
# Usage: bob-but.sh VERB PATTERN NTH OLD NEW COMMAND [ARGUMENTS...]
#
# COMMAND is the reference agent. What counts is the NTH line that holds PATTERN, from 1;
# NTH may be `all`. OLD and NEW are empty where the verb needs none.
#   drop      it is not written
#   double    it is written twice
#   later     it is written after the line that follows it
#   replace   OLD in it is NEW, at the first place
#   answer    it is a request: it is not written, and NEW is the result that the agent gets
verb=$1 pattern=$2 nth=$3 old=$4 new=$5
shift 5

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/in" || exit 1
exec 3<&0
cat <&3 >"$folder/in" &
exec 3<&-

answer() { # the line of the request
    id=${1#*'"id":'}
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%%,*}" "$new" >"$folder/in"
}

seen=0 held=
"$@" <"$folder/in" | while IFS= read -r line; do
    what=
    case $line in
    *"$pattern"*)
        seen=$((seen + 1))
        case $nth in "$seen" | all) what=$verb ;; esac
        ;;
    esac
    case $what in
    drop) continue ;;
    double) printf '%s\n' "$line" ;;
    later) held=$line && continue ;;
    replace) case $line in *"$old"*) line=${line%%"$old"*}$new${line#*"$old"} ;; esac ;;
    answer) answer "$line" && continue ;;
    esac
    printf '%s\n' "$line"
    [ -z "$held" ] || printf '%s\n' "$held"
    held=
done
