#!/bin/sh
# build.sh TARGET: compiles the rows of Tokio, without the network. Where Rust or the crate is not there (see HACKING.md)
# the target is empty.
set -eu
target=$1
here=$(dirname "$0")
cargo=$(command -v cargo || command -v "${HOME:-/root}/.cargo/bin/cargo" || :)
# Outside of what dune removes; it is there for both profiles and for later.
: "${CARGO_TARGET_DIR:=$PWD/../../.cargo-target}"
export CARGO_TARGET_DIR
if [ -n "$cargo" ] && PATH=$(dirname "$cargo"):$PATH cargo build --quiet --release --locked --offline --jobs 2 \
  --manifest-path "$here/Cargo.toml" 2>/dev/null; then
  cp "$CARGO_TARGET_DIR/release/tokio_rows" "$target"
else
  : >"$target"
fi
