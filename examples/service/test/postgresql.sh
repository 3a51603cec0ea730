#!/bin/sh
# usage: postgresql.sh PROGRAMS. Runs a PostgreSQL server in a new folder until standard input ends, which it also does when
# the test is killed. PROGRAMS is the folder of initdb. Prints the folder of the server's socket once it answers.
set -eu
programs=$1
# In /tmp, because a socket's name is short, and because the server's user can't enter a private TMPDIR.
folder=$(mktemp -d /tmp/postgresql.XXXXXX)
# The server refuses to run as root.
if [ "$(id -u)" = 0 ]; then
  chown postgres "$folder"
  as="runuser -u postgres --"
else
  as=
fi
finish() {
  $as "$programs/pg_ctl" stop -D "$folder/data" -m immediate >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
run() { $as "$@" >"$folder/output" 2>&1 || { cat "$folder/output" >&2; exit 1; }; }
run "$programs/initdb" -D "$folder/data" --auth=trust --username=test --no-sync
run "$programs/pg_ctl" start -D "$folder/data" -w -l "$folder/data/log" -o "-F -k $folder -c listen_addresses="
echo "$folder"
cat >/dev/null
