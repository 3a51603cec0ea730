Only threads and domains. No scheduler is linked.

  $ . ../project.sh
  $ install concord concord-core concord-suspend
  $ build
  $ run word_count
  dog  3
  fox  3
  the  6
  no reply in time
  served one
  stopped
  0 1 4 9
  out of paper
