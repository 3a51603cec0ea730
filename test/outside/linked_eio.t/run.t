A clean-up in Eio, in a program that links the adapter but doesn't name it.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-eio
  $ build
  $ run linked
  the clean-up waited
