#!/usr/bin/env bash
# Pushes a job to respool and follows it to its end, with redis-cli alone.
#
#     respool.sh push SOURCE FORMAT [FIELD VALUE]…    prints the job's id
#     respool.sh watch ID                             ends with 1 if the job does not complete
set -uo pipefail

prefix="respool:{${RESPOOL_QUEUE:-default}}:"
# A password without a user belongs into REDISCLI_AUTH: redis-cli 7.0 takes `redis://:password@…` for a user without a name.
ask() { redis-cli -e --no-auth-warning -u "${RESPOOL_REDIS_URL:-redis://127.0.0.1:6379}" --raw "$@"; }

if [[ ${1:-} == push && $# -ge 3 ]]; then
    ask XADD "${prefix}in" '*' source "$2" format "$3" "${@:4}"
    exit
elif [[ ${1:-} != watch || $# -ne 2 ]]; then
    sed -n '2,5s/^# \?//p' "$0" >&2
    exit 2
fi

# Reads the job, and ends if it has ended; fails if Redis is away.
look() {
    local first state told
    # A pushed duplicate stands for another job.
    first=$(ask GET "${prefix}alias:$id") && state=$(ask HGET "${prefix}job:${first:-$id}" state) || return
    id=${first:-$id}
    case $state in
    completed) told=$(ask GET "${prefix}result:$id") || return; echo "$told"; exit ;;
    failed | cancelled) told=$(ask HMGET "${prefix}job:$id" error_code error) || return; echo "$state" "$told" >&2; exit 1 ;;
    '')
        # It is still in the inbox, or it was admitted just now, or there is none.
        told=$(ask XRANGE "${prefix}in" "$id" "$id") || return
        [[ ! $told ]] || return 0
        [[ ! ${1:-} ]] || { echo "no such job" >&2; exit 1; }
        look again
        ;;
    esac
}

# The place in the stream first, then the job: so nothing that happens in between is missed.
entry=$(ask XREVRANGE "${prefix}events" + - COUNT 1) || exit
mapfile -t lines <<<"$entry"
last=${lines[0]:-0-0}
number=${lines[2]:-0}
id=$2
changed=yes
missed=
while :; do
    if [[ $changed ]]; then
        look || { sleep 1; continue; }
        changed= # only after a look that succeeded, for `last` has moved on
    fi
    if ! entry=$(ask XREAD COUNT 1 BLOCK 1000 STREAMS "${prefix}events" "$last"); then
        missed=yes
        sleep 1 # `last` says where to go on
        continue
    fi
    if [[ ! $entry ]]; then
        changed=$missed missed=
        continue
    fi
    # An event's lines: the key, the entry's id, then names and values, of which `n` is the first.
    mapfile -t lines <<<"$entry"
    last=${lines[1]}
    # A gap in the numbers: events are gone from the stream, so the job itself must tell.
    ((lines[3] == number + 1)) || changed=yes
    number=${lines[3]}
    if [[ ${lines[5]} == "$id" ]]; then
        echo "${lines[@]:7}"
        case ${lines[7]} in
        completed | failed | cancelled | duplicate | purged) changed=yes ;;
        esac
    fi
done
