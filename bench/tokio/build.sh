#!/bin/sh
# build.sh TARGET: compiles the rows of Tokio, without the network. If Rust or the crate is missing (see HACKING.md), the target
# is an empty file.
set -eu
target=$1
here=$(dirname "$0")
cargo=$(command -v cargo || command -v "${HOME:-/root}/.cargo/bin/cargo" || :)
# This folder is outside the folders that dune cleans, so it stays, and serves both profiles.
: "${CARGO_TARGET_DIR:=$PWD/../../.cargo-target}"
export CARGO_TARGET_DIR
if [ -n "$cargo" ] && PATH=$(dirname "$cargo"):$PATH cargo build --quiet --release --locked --offline --jobs 2 \
  --manifest-path "$here/Cargo.toml" 2>/dev/null; then
  cp "$CARGO_TARGET_DIR/release/tokio_rows" "$target"
else
  : >"$target"
fi
