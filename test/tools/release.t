The sources of a release, with programs that replace dune and opam.

  $ cp -RL ../../tools tools; chmod -R +w tools
  $ mkdir bin; printf '#!/bin/sh\necho dune "$@"; mkdir _build\n' >bin/dune; chmod +x bin/dune; export PATH=$PWD/bin:$PATH
  $ mkdir -p source/adapters/miou; cd source
  $ printf '(library\n (optional)\n (name x))\n' >adapters/miou/dune
  $ printf 'Copyright (c) 2026 The Concord authors\n\nText.\n' >LICENSE
  $ cat >dune-project <<'END'
  > (lang dune 3.17)
  > (version dev)
  > (license ISC)
  > (maintainers "The Concord authors")
  > (package
  >  (name concord-miou)
  >  ; checkout:
  >  (allow_empty)
  >  (depopts miou)
  >  (synopsis "A")
  >  (depends
  >   ; release: (miou (>= 0.7.0))
  >   concord))
  > END
  $ touch concord-miou.opam concord-aio.opam concord.opam
  $ cp -r . ../again

The owner hasn't said anything yet. The archive differs from a checkout all the same.

  $ sed -n 's/ *=.*//p' ../tools/release/owner
  maintainer
  copyright
  source
  homepage
  bug-reports
  archive
  $ sed -i 's/=.*/=/' ../tools/release/owner
  $ prepare() { bash ../tools/release/prepare.sh "$PWD" 1.2; }
  $ prepare
  dune build --root . -- concord-aio.opam concord-miou.opam concord.opam
  $ cat dune-project adapters/miou/dune concord-miou.opam.template
  (lang dune 3.17)
  (version 1.2)
  (license ISC)
  (maintainers "The Concord authors")
  (package
   (name concord-miou)
   (synopsis "A")
   (depends
    (miou (>= 0.7.0))
    concord))
  (library
   (name x))
  available: arch != "x86_32" & arch != "arm32"
  x-maintenance-intent: ["(latest)"]
  x-extra-doc-deps: ["concord-aio" {= version} "concord" {= version}]
  $ head -n 1 concord-aio.opam.template LICENSE
  ==> concord-aio.opam.template <==
  available: os != "win32" & arch != "x86_32" & arch != "arm32"
  
  ==> LICENSE <==
  Copyright (c) 2026 The Concord authors

What the owner says may have any characters.

  $ cd ../again
  $ cat >../tools/release/owner <<'END'
  > # maintainer = a comment
  > maintainer = Ann "A|B" O'Neil <ann@example.org>
  > copyright = Ann & Bob|Co
  > source = git+https://example.org/a.git
  > homepage = https://example.org/?a&b
  > bug-reports = https://example.org/bugs
  > archive = https://example.org/VERSION.tbz
  > END
  $ prepare
  dune build --root . -- concord-aio.opam concord-miou.opam concord.opam
  $ grep -hE 'example|Ann' LICENSE dune-project
  Copyright (c) 2026 Ann & Bob|Co
  (bug_reports "https://example.org/bugs")
  (homepage "https://example.org/?a&b")
  (source (uri "git+https://example.org/a.git"))
  (maintainers "Ann \"A|B\" O'Neil <ann@example.org>")

A line that can't be found is an error, because the release would lack it.

  $ bash ../tools/release/prepare.sh "$PWD" 1.3
  release: dune-project has no line (version dev)
  [1]
  $ sed -i 's/^(version .*/(version dev)/; s/^ (name.*/&\n ; release:/' dune-project
  $ prepare
   ; release:
  release: dune-project still has a line that is only for a checkout
  [1]
  $ sed -i 's/^(version .*/(version dev)/; /; release:/d' dune-project
  $ prepare
  release: dune-project has no line '(maintainers "The Concord authors")'
  [1]

A warning of a compiler in a C file of the packages ends a release. The compilers that don't exist are printed.

  $ cd ..; for folder in lib aio trace adapters buffered generator schedulers testkit ppx; do mkdir -p project/$folder; done
  $ printf '#!/bin/sh\necho /nowhere\n' >bin/ocamlc
  $ printf '#!/bin/sh\ncase "$*" in *-U__linux__*lib/a.c) exit 1 ;; esac\n' >bin/gcc
  $ chmod +x bin/*; ln -s "$(command -v bash)" "$(command -v find)" "$(command -v sort)" bin/
  $ warnings() { PATH=$PWD/bin bash tools/release/c.sh project; }
  $ warnings
  release: there are no C files in project
  [1]
  $ touch project/aio/b.c; warnings
  clang
  $ touch project/lib/a.c; warnings
  release: gcc -U__linux__: lib/a.c has warnings
  clang
  [1]

The versions of a new toolchain are compared with those that have passed.

  $ cat >tools/versions <<'END'
  > a 1
  > b 2
  > c 3
  > END
  $ cat >changes.sh <<'END'
  > top=$PWD
  > say() { echo "$*"; }
  > . tools/toolchain.sh
  > print_versions() { printf 'a 1\nc 4\nd 5\n'; }
  > suite=${1:-$suite}
  > say_changes
  > END
  $ changes() { bash changes.sh "$@"; }
  $ changes
  the tests have not passed with all versions of this toolchain: b 2 -> none, c 3 -> 4, d none -> 5. If they pass, call ./dev versions >tools/versions
  $ changes trixie
  $ printf 'a 1\nc 4\nd 5\n' >tools/versions
  $ changes
