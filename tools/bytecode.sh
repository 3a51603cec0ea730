#!/usr/bin/env bash
# tools/bytecode.sh PROJECT <TESTS: builds the tests of the packages concord, concord-generator, concord-schedulers and
# concord-testkit in bytecode, and runs them one after the other. TESTS are lines of list_tests (tools/tests.sh): what else is built, the tests start themselves. This runs inside the
# toolchain.
set -euo pipefail

top=$1
build=$top/_build-bytecode
say() { printf 'bytecode: %s\n' "$*" >&2; }
tests=()
while read -r folder name _; do
  case $folder/$name in
  test/unit/* | test/lin/* | test/generator/* | test/schedulers/* | test/testkit/operation/test_contract)
    tests+=("${folder#test/}/$name")
    ;;
  esac
done

# Where there is no native compiler, dune makes bytecode: so the PATH begins with an OCaml that has none.
real=$(dirname "$(command -v ocamlc)")
bin=$build/.ocaml
mkdir -p "$bin"
for tool in ocaml ocamldep ocamllex ocamlyacc ocamlmklib ocamlobjinfo; do ln -sf "$real/$tool" "$bin/$tool"; done
# Dune then links with -output-complete-exe, which leaves backtraces empty; -custom does not.
cat >"$bin/ocamlc.new" <<TXT
#!/usr/bin/env bash
exec "$real/ocamlc" "\${@/#-output-complete-exe/-custom}"
TXT
chmod +x "$bin/ocamlc.new"
# A file that is written anew makes dune build everything again.
if cmp -s "$bin/ocamlc.new" "$bin/ocamlc"; then rm "$bin/ocamlc.new"; else mv "$bin/ocamlc.new" "$bin/ocamlc"; fi
export PATH=$bin:$PATH

cd "$top"
dune build --root . --no-print-directory --build-dir "$build" \
  --only-packages concord,concord-suspend,concord-generator,concord-schedulers,concord-testkit \
  @test/unit/all @test/lin/all @test/generator/all @test/schedulers/all ./test/testkit/operation/test_contract.exe

# Up to OCaml 5.4.1 an effect that is performed under a handler and handled by none corrupts the heap in bytecode
# (ocaml/ocaml#14644). Lazy values perform such effects when they need one another.
say "the tests of lazy values are left out: bytecode is not safe for them, up to OCaml 5.4.1"
# The interpreter runs signal handlers also while it allocates the continuation of an effect. It then goes on with the
# stack that was there before, which is gone if the handler made it grow (PERFORM in OCaml 5.4.1's runtime/interp.c).
say "test_fifo_looks is left out: up to OCaml 5.4.1 a signal handler that comes upon an effect may corrupt the heap"
# The interpreter runs signal handlers at every call: what holds if one raises is promised for machine code only
# (doc/threads.mld, doc/fifo.mld).
say "the tests of signal handlers that raise are left out: what they test is promised for machine code only"
failed=() n=0
for name in "${tests[@]}"; do
  program=$build/default/test/$name.exe
  # Else it is of another package.
  [ -e "$program" ] || continue
  case $name in *lazy* | */test_fifo_looks | */test_*_signals | */test_*interrupted) continue ;; esac
  n=$((n + 1)) start=$SECONDS result=0
  output=$(cd "$(dirname "$program")" && timeout --kill-after=10 300 "$program" </dev/null 2>&1) || result=$?
  if [ $result = 0 ]; then say "$name: passed, $((SECONDS - start)) s"; continue; fi
  tail -n 40 <<<"$output" >&2
  say "$name: failed (exit code $result)"
  failed+=("$name")
done
echo "$((n - ${#failed[@]})) passed, ${#failed[@]} failed"
[ "${#failed[@]}" = 0 ]
