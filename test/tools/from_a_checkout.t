Dune can install from a checkout without git, because it doesn't have to ask git for a version.
This project has the head of this one's dune-project, and only dune and the compiler in its
PATH.

  $ mkdir -p project/.git bin; cd project
  $ sed '/^(package/,$d; /generate_opam/d; /mdx/d' ../../../dune-project >dune-project
  $ touch concord.opam
  $ echo '(install (section share) (files dune))' >dune
  $ for program in dune ocaml ocamlc ocamlopt; do ln -s "$(command -v $program)" ../bin/; done
  $ without_git() { PATH=$PWD/../bin OCAMLPATH= "$@"; }
  $ without_git dune build --root . @install
  $ without_git dune install --root . --prefix $PWD/../installed --display=quiet
  $ find ../installed -name dune
  ../installed/share/concord/dune
