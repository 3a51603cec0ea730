(** The keyword [lazy], for [Concord.Lazy].

    {b Stability}: stable.

    Write [[%lazy e]] and [let%lazy] for single values. For a whole file, keep
    the keyword and the patterns as they are, and add [[@@@concord.lazy]].

    {@ocaml skip[
    let%lazy answer = 6 * 7
    let () = print_int (Concord.Lazy.force answer)

    [@@@concord.lazy]

    let double = function (lazy n) -> 2 * n
    let () = print_int (double (lazy 21))
    ]}

    {1 One value}

    - [[%lazy e]] is [Concord.Lazy.from_fun (fun () -> e)]. If [e] is a literal,
      a constant constructor or a function, it is [Concord.Lazy.from_val e]. The
      type that is expected of [[%lazy e]] is known in [e].
    - [let%lazy x = e in body] is [let x = [%lazy e] in body]. [and] works too,
      and so does a definition of a module. In [let%lazy x : t = e] it is [e]
      that has type [t].
    - [let%lazy rec x = e] lets you use [x] in [e], where it is the lazy value
      itself. If [e] forces [x] while it is computed, that raises
      [Concord.Lazy.Undefined]. [and] works too.

    The names [Concord], [Lazy] and [Stdlib] may mean something else where you
    write these.

    Three things differ from the keyword.

    - [[%lazy e]] is a call, so its type is generalised only where that of a
      call is.
    - A variable is computed when it is forced.
    - A function that [let%lazy rec] defines is also computed when it is forced,
      if it mentions a value that is defined there.

    {1 A whole file}

    After [[@@@concord.lazy]], [lazy] is Concord's, to the end of the file or of
    the structure that contains the attribute. For all of each file, use the
    flag [-concord-lazy], by [(pps ppx_concord -concord-lazy)] in a dune file.
    Code that other rewriters generate keeps Stdlib's.

    {b Expressions.} [lazy e] is [Concord.Lazy.from_fun (fun () -> e)]. If [e]
    is a literal, a constant constructor, a function or a variable, it is
    [Concord.Lazy.from_val e], as with the compiler. There are two exceptions
    for a variable. One is a variable without a path in a class or an object,
    because it may be an instance variable. The other is a variable directly in
    a [let rec]. For the other policies of cancellation write
    [from_fun ~cancel].

    In [let rec], the right side may be [lazy e], and so may the arguments of
    constructors in it, for example [let rec ones = Cons (1, lazy ones)].

    {b Patterns.} [lazy p] forces by [Concord.Lazy.force], and so may suspend
    the task. It works in [match] (also in its [exception] cases), [try],
    [function], [fun], [let], [let*] and parameters of methods, also below other
    patterns. The cases are tried from the first to the last, each from left to
    right (a record's fields as they are written), and nothing is forced before
    it is reached. The patterns of parameters are matched when all arguments are
    there. The case that is taken is that of the compiler's own [lazy]. In
    nearly all programs the same values have been forced. (OCaml does not fix
    the order.)

    {b Differences.} The compiler refuses some programs that it accepts with
    Stdlib's lazy values:

    - [lazy e] is a call for the compiler. Therefore neither [lazy []] nor
      [lazy (fun x -> x)] is polymorphic, nor is [f] in
      [let lazy x, f = lazy 1, fun x -> x]. Name the lazy value first. In
      [let lazy x, f = l, fun x -> x] and in
      [let lazy x = lazy 1 and f = fun x -> x], [f] is polymorphic.
    - In [module rec], the compiler initialises safe values first. It knows that
      functions and Stdlib's lazy values are safe, but it doesn't know
      Concord's. If it finds no safe module in a cycle, make one value a
      function, for example [val l : unit -> int Concord.Lazy.t].
    - In [let rec], a [lazy e] that mentions a value that is defined there may
      not stand below a [let] or a [match].
    - The default of an optional parameter may not use a variable of a pattern
      that comes after a [lazy p], because all defaults are computed before
      anything is forced.
    - [lazy p] can't be in a parameter or a [let] of a class.
    - A [let] with [and], or a definition, can't bind a module beside a
      [lazy p].

    The compiler reports less, or reports it elsewhere:

    - It reports missing and redundant cases as always, if all [lazy p] are the
      whole of the matched value, or match any value ([Cons (x, lazy rest)]). If
      a pattern below a constructor {e and} a [lazy] decides between cases
      ([Cons (x, lazy Nil)]), it reports neither in that [match]. If no case
      matches, [Match_failure] is raised.
    - A warning about a pattern in [let] or [fun], and [Match_failure], may name
      the position of a part of the pattern.
    - A variable of [let rec] that another one mentions counts as used.

    The module is empty, because the rules are registered when it is linked. The
    code that they generate uses the library [ppx_concord.runtime], which dune
    and ocamlfind link by themselves.

    See also the page on {{!/concord/stdlib}Stdlib}. *)
