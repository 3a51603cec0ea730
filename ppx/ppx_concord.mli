(** The keyword [lazy], for [Concord.Lazy]: [[%lazy e]] and [let%lazy]; or the
    keyword and the patterns as they are, for a whole file.

    {1 One value}

    - [[%lazy e]] is [Concord.Lazy.from_fun (fun () -> e)]. If [e] is a literal,
      a constant constructor or a function, it is [Concord.Lazy.from_val e].
    - [let%lazy x = e in body] is [let x = [%lazy e] in body]. [and] works too,
      and so does a definition of a module. In [let%lazy x : t = e] it is [e]
      that has type [t].
    - [let%lazy rec x = e]: in [e], [x] is the lazy value itself. To force [x]
      while [e] is computed raises [Concord.Lazy.Undefined]. [and] works too.

    It does not matter what [Concord], [Lazy] or [Stdlib] means in the place
    where the user writes these.

    What differs from the keyword: a lazy value is not polymorphic (neither
    [[%lazy []]] nor a function), since [Concord.Lazy.t] has no variance; and a
    variable, and a function that is defined by [let%lazy rec] and mentions what
    is defined, are computed when forced.

    {1 A whole file}

    After [[@@@concord.lazy]], to the end of the file or of the structure in
    which it stands, [lazy] is Concord's. With the flag [-concord-lazy],
    [(pps ppx_concord -concord-lazy)] in a dune file, it is in all of each file.
    What other rewriters generate keeps Stdlib's.

    {b Expressions.} [lazy e] is [Concord.Lazy.from_fun (fun () -> e)]. If [e]
    is a literal, a constant constructor, a function or a variable, it is
    [Concord.Lazy.from_val e], as with the compiler; but in a class or an object
    not if [e] is a variable without a path, as that may be an instance
    variable, nor directly in a [let rec]. For the other policies of
    cancellation write [from_fun ~cancel].

    In [let rec], the right side may be [lazy e], and so may what stands below
    constructors in it: [let rec ones = Cons (1, lazy ones)].

    {b Patterns.} [lazy p] forces by [Concord.Lazy.force], and so may suspend
    the task, in [match] (also in its [exception] cases), [try], [function],
    [fun], [let], [let*] and parameters of methods, also below other patterns.
    The cases are tried from the first to the last, each from left to right (a
    record's fields as they are written), and nothing is forced before it is
    reached; the patterns of parameters are matched when all arguments are
    there. The case that is taken is that of the compiler's own [lazy]. Which
    values have been forced is the same in nearly all programs: OCaml does not
    fix the order.

    What differs:

    - An or-pattern with a [lazy p] in it has no guard, a default has no
      variable of a pattern that comes after a [lazy p], and [lazy p] is in no
      parameter and no [let] of a class: the rewriter reports these where they
      stand. Below an or-pattern with [lazy p] in it the result of the case is
      copied.
    - The compiler reports missing and redundant cases as always, if all
      [lazy p] are the whole of the matched value, or match whatever is there
      ([Cons (x, lazy rest)]). If what is below a constructor {e and} a [lazy]
      decides between cases ([Cons (x, lazy Nil)]), it does not, in that
      [match]; if no case matches, [Match_failure] is raised.
    - A default of a parameter is computed before anything is forced.
    - A lazy value is not polymorphic, as above.

    The module is empty; the rules are registered when it is linked. *)
