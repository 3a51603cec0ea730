Programs that are unkind to tracing and metrics end as they would without them, and their files can be read.

  $ unset CONCORD_DEBUG OCAMLRUNPARAM
  $ for mode in domains collected finalised forks exits signals toggles names; do
  >   concord-trace --no-table -o $mode.json --html $mode.html ./hostile.exe $mode 2> told || echo "status $?"
  >   grep -v -e 'can be opened' -e 'events were lost' -e 'none of its tasks waited' told
  >   tail -c 4 $mode.json | tr -d '\n'; echo
  > done
  domains
  ]}
  collected
  ]}
  finalised
  ]}
  forks
  ]}
  exits
  status 6
  ]}
  signals
  ]}
  toggles
  ]}
  names
  ]}
