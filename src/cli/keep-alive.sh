#!/bin/sh
# The parent of the program: starts it again, with back-off, when it was aborted or ended by a fault. A thread that runs out of memory in
# one huge allocation takes its whole process with it; this process is what is left. A shell, because Node.js held 18 MB here instead of 1.
# `upbeat start` becomes this process; start.ts has the arguments.
bundled=$1 sources=$2 bundler=$3 bundle=$4 config=$5 options=$6
shift 6

MAX_PAUSE_S=30
# A life this long shows that the fault before it was a single one.
GOOD_LIFE_S=60

MAX_LOOKS=2000
# The environment may have variables of these names.
stopping='' running=''

# Stops the newest child. A signal is lost that reaches the child of a shell before it has become another program, so this looks at its
# name before, where the system shows it.
stop() {
  looks=0
  while [ "$looks" -lt "$MAX_LOOKS" ] && read -r _ own _ <"/proc/$$/stat" && read -r _ its _ <"/proc/$!/stat" && [ "$its" = "$own" ]; do
    looks=$((looks + 1))
  done 2>&-
  kill -TERM "$!" 2>&-
}

# A signal may arrive before there is a child, between two children, or while one ends. Children of a shell may ignore SIGINT.
trap 'signalled=yes; stopping=yes; stop' TERM INT
trap 'signalled=yes; [ -z "$running" ] || kill -HUP "$!" 2>&-' HUP

# Waits for the newest child; `status` is then its exit status, and above 128 if a signal ended it.
await() {
  [ -z "$stopping" ] || stop
  status=127
  while signalled=; do
    wait "$!"
    ended=$?
    # The wait before was not ended by a signal to this process alone.
    [ "$ended" -ne 127 ] || return
    status=$ended
    [ -n "$signalled" ] || return
  done
}

if [ -n "$bundle" ]; then
  "$1" "$bundler" "$bundle" >/dev/null 2>&1 &
  await
fi
failures=0
while [ -z "$stopping" ]; do
  entry=$bundled
  [ -e "$entry" ] || entry=$sources
  born=$(date +%s)
  running=yes
  "$@" "$entry" "--config=$config" --parent $$ $options &
  await
  running=
  if [ "$status" -gt 128 ]; then
    [ -z "$stopping" ] || exit 1
    end=SIG$(kill -l "$status")
  else
    [ -z "$stopping" ] || exit "$status"
    case $status in
    0) exit 0 ;;
    # It could not start: the configuration is wrong, a file is locked, Node.js is not there. One that was running is not given up for
    # that: what ended it, such as a full disk, may last.
    1 | 2 | 9 | 126 | 127) [ "$failures" -gt 0 ] || exit "$status" ;;
    esac
    end="a fault (status $status)"
  fi
  [ $(($(date +%s) - born)) -lt "$GOOD_LIFE_S" ] || failures=0
  pause=$MAX_PAUSE_S
  [ "$failures" -ge 5 ] || pause=$((1 << failures))
  failures=$((failures + 1))
  echo "upbeat: ended by $end; starting again in $pause s" >&2
  sleep "$pause" &
  await
done
exit 0
