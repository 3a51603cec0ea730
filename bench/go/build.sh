#!/bin/sh
# build.sh SOURCE TARGET: compiles the rows of Go, without the network and whatever Go's configuration here is. Where Go
# is not installed the target is empty.
set -eu
if ! command -v go >/dev/null; then
  : >"$2"
  exit
fi
# Outside of what dune removes; it is there for both profiles and for later.
: "${GOCACHE:=$PWD/../../.go-cache}"
export GOCACHE HOME="$PWD" GOENV=off GOFLAGS= GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
exec go build -o "$2" "$1"
