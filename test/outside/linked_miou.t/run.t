Miou's own loop, in a program that links the adapter but doesn't name it.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-miou
  $ build
  $ run linked
  Concord_miou: to wait in tasks of Miou, run the program by Concord_miou.run, not by Miou.run or Miou_unix.run
