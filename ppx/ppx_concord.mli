(** The keyword [lazy], for [Concord.Lazy]: [[%lazy e]] and [let%lazy]; or the
    keyword and the patterns as they are, for a whole file.

    {b Stability}: stable.

    {1 One value}

    - [[%lazy e]] is [Concord.Lazy.from_fun (fun () -> e)]. If [e] is a literal,
      a constant constructor or a function, it is [Concord.Lazy.from_val e]. The
      type that is expected of [[%lazy e]] is known in [e].
    - [let%lazy x = e in body] is [let x = [%lazy e] in body]. [and] works too,
      and so does a definition of a module. In [let%lazy x : t = e] it is [e]
      that has type [t].
    - [let%lazy rec x = e]: in [e], [x] is the lazy value itself. To force [x]
      while [e] is computed raises [Concord.Lazy.Undefined]. [and] works too.

    It does not matter what [Concord], [Lazy] or [Stdlib] means in the place
    where the user writes these.

    Three things differ from the keyword. [[%lazy e]] is a call, so that its
    type is generalised only where that of a call is. A variable is computed
    when it is forced. So is a function that [let%lazy rec] defines, if it
    mentions what is defined.

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

    {b What differs.} The compiler refuses some programs that it accepts with
    Stdlib's lazy values:

    - [lazy e] is a call for the compiler. Therefore neither [lazy []] nor
      [lazy (fun x -> x)] is polymorphic, nor is [f] in
      [let lazy x, f = lazy 1, fun x -> x]. Name the lazy value first: in
      [let lazy x, f = l, fun x -> x] and in
      [let lazy x = lazy 1 and f = fun x -> x], [f] is polymorphic.
    - In [module rec], the compiler initialises first what it knows to be safe:
      functions and Stdlib's lazy values. It doesn't know Concord's. If it finds
      no safe module in a cycle, make one value a function:
      [val l : unit -> int Concord.Lazy.t].
    - In [let rec], a [lazy e] that mentions what is defined may not stand below
      a [let] or a [match].
    - The default of an optional parameter may not use a variable of a pattern
      that comes after a [lazy p], because all defaults are computed before
      anything is forced.
    - [lazy p] is in no parameter and no [let] of a class.
    - No module is bound beside a [lazy p] by a [let] with [and], nor by a
      definition.

    The compiler reports less, or reports it elsewhere:

    - It reports missing and redundant cases as always, if all [lazy p] are the
      whole of the matched value, or match whatever is there
      ([Cons (x, lazy rest)]). If what is below a constructor {e and} a [lazy]
      decides between cases ([Cons (x, lazy Nil)]), it reports neither in that
      [match]. If no case matches, [Match_failure] is raised.
    - A warning about a pattern in [let] or [fun], and [Match_failure], may name
      the place of a part of the pattern.
    - A variable of [let rec] that another one mentions counts as used.

    The module is empty; the rules are registered when it is linked. The code
    that they generate uses the library [ppx_concord.runtime], which dune and
    ocamlfind link by themselves. *)
