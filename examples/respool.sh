#!/usr/bin/env bash
# Pushes a job to respool and follows it to its end, with redis-cli alone.
#
#     respool.sh push SOURCE FORMAT [FIELD VALUE]…    prints the job's id
#     respool.sh watch ID                             ends with 1 if the job does not complete
set -uo pipefail

prefix="respool:{${RESPOOL_QUEUE:-default}}:"
ask() { redis-cli -u "${RESPOOL_REDIS_URL:-redis://127.0.0.1:6379}" --raw "$@"; }

if [[ ${1:-} == push && $# -ge 3 ]]; then
    ask XADD "${prefix}in" '*' source "$2" format "$3" "${@:4}"
    exit
elif [[ ${1:-} != watch || $# -ne 2 ]]; then
    sed -n '2,5s/^# \?//p' "$0" >&2
    exit 2
fi

# The place in the stream first, then the job: so nothing that happens in between is missed.
mapfile -t newest < <(ask XREVRANGE "${prefix}events" + - COUNT 1)
last=${newest[0]:-0-0}
number=${newest[2]:-0}
id=$2
look=yes
while :; do
    if [[ $look ]]; then
        # A pushed duplicate stands for another job.
        first=$(ask GET "${prefix}alias:$id") && id=${first:-$id}
        state=$(ask HGET "${prefix}job:$id" state)
        case $state in
        completed) ask GET "${prefix}result:$id" && exit ;;
        failed | cancelled) echo "$state" "$(ask HMGET "${prefix}job:$id" error_code error)" >&2; exit 1 ;;
        esac
        look=
    fi
    # An event's lines: the key, the entry's id, then names and values, of which `n` is the first.
    mapfile -t lines < <(ask XREAD COUNT 1 BLOCK 1000 STREAMS "${prefix}events" "$last" 2>&1)
    if ((${#lines[@]} < 8)); then
        # Redis is away; `last` says where to go on.
        [[ ! ${lines[*]} ]] || sleep 1
        continue
    fi
    last=${lines[1]}
    # A gap in the numbers: events are gone from the stream, so the job itself must tell.
    ((lines[3] == number + 1)) || look=yes
    number=${lines[3]}
    if [[ ${lines[5]} == "$id" ]]; then
        echo "${lines[@]:7}"
        case ${lines[7]} in
        completed | failed | cancelled | duplicate) look=yes ;;
        purged) exit 1 ;;
        esac
    fi
done
