#!/bin/sh
# build.sh TARGET SOURCE...: compiles the rows of Go, without the network, and with Go's default configuration. If Go is not
# installed, the target is an empty file.
set -eu
if ! command -v go >/dev/null; then
  : >"$1"
  exit
fi
# This folder is outside the folders that dune cleans, so it stays, and serves both profiles.
: "${GOCACHE:=$PWD/../../.go-cache}"
export GOCACHE HOME="$PWD" GOENV=off GOFLAGS= GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
target=$1
shift
exec go build -o "$target" "$@"
