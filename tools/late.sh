# shellcheck shell=bash
# late.sh PID SECONDS: watches the tests of the dune that is a descendant of the process PID, because dune itself has no
# time limit. If a test runs for longer than SECONDS, late.sh kills it and its descendants. It prints what they were, and
# where in the kernel their threads were.
set -uo pipefail
root=$1 limit=$2
[ -r /proc/uptime ] || exit 0
hz=$(getconf CLK_TCK 2>/dev/null || echo 100)

# Prints a line for each process to kill: the process that dune has started, and its descendant.
late() {
  cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v root="$root" -v limit="$limit" -v hz="$hz" -v up="$(cut -d' ' -f1 /proc/uptime)" '
      {
        process = $1
        is_dune[process] = / \(dune(\.exe)?\) /
        sub(/^.*\) /, "")
        parent[process] = $2
        age[process] = up - $20 / hz
      }
      END {
        for (process in parent) {
          run = 0
          for (p = process; p in parent && p != root; p = parent[p]) if (is_dune[parent[p]]) run = p
          if (p == root && run && age[run] > limit) print run, process
        }
      }' | sort -n
}

# The sleep must not hold an output open, because other processes wait until it is closed.
while sleep $((limit < 50 ? 1 : limit / 50)) >/dev/null 2>&1; do
  before=
  late | while read -r run process; do
    [ "$run" = "$before" ] || echo "dev: no end after $limit s, so killed:"
    before=$run
    {
      echo "  $(tr '\0' ' ' <"/proc/$process/cmdline")"
      for thread in "/proc/$process/task"/*; do echo "    $(cat "$thread/comm" "$thread/wchan" | paste -sd' ')"; done
      kill -KILL "$process"
    } 2>/dev/null
  done
done
