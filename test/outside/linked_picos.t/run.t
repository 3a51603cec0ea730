Fibers of Picos, in a program that links the adapter but doesn't name it.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-picos
  $ build
  $ run linked
  the fiber was suspended
