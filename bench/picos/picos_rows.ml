let all =
  [
    ("mvar", Messages.of_mvar);
    ("structures", Locks.rows @ Messages.of_structures);
    ("suspend", Tasks.rows);
    ("lazy", Lazies.rows);
  ]
