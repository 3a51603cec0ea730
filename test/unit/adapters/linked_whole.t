Each adapter that is a plug-in must be linked whole, because programs don't name it. This test reads the dune files, because
some adapters are built only if their host is installed. `test/outside/linked_*.t` are such programs.

  $ for folder in ../../../adapters/*/; do
  >   if grep -qsE 'plug_in |Plugin[.]add ' "$folder"*.ml && ! grep -qs 'library_flags (-linkall)' "${folder}dune"; then
  >     echo "not linked whole: $(basename "$folder")"
  >   fi
  > done
  $ grep -lsE 'plug_in |Plugin[.]add ' ../../../adapters/*/*.ml | xargs -n 1 dirname | xargs -n 1 basename | sort
  async
  eio
  lwt
  miou
  picos
