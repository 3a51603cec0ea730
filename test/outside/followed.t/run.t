A reader who does what the pages say gets files that dune builds in its default profile, without
a warning, and programs with the output that the pages show.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-eio concord-lwt concord-testkit
  $ follow() {
  >   ../../support/follow/follow.exe "$1" "$2"
  >   find "$2" -name expected | wc -l
  > }
  $ follow ../../../doc/tutorial.mld tutorial
  10
  $ follow ../../../doc/start.mld start
  5
  $ follow ../../../README.md readme
  1
  $ follow ../../../doc/schedulers.mld schedulers
  0
  $ build
  $ for folder in */[0-9]*; do
  >   command=$(cat "$folder/command")
  >   case $command in
  >   "dune test") program=test/test_fetch.exe ;;
  >   *) program=${command#dune exec ./} ;;
  >   esac
  >   bounded 60 "./_build/default/$folder/$program" >output
  >   diff "$folder/expected" output || echo "$folder: $command has another output"
  > done
