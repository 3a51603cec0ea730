#!/bin/sh
# build.sh TARGET SOURCE...: compiles the rows of Go, without the network and whatever Go's configuration here is. Where Go
# is not installed the target is empty.
set -eu
if ! command -v go >/dev/null; then
  : >"$1"
  exit
fi
# Outside of what dune removes; it is there for both profiles and for later.
: "${GOCACHE:=$PWD/../../.go-cache}"
export GOCACHE HOME="$PWD" GOENV=off GOFLAGS= GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
target=$1
shift
exec go build -o "$target" "$@"
