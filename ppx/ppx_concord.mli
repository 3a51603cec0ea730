(** The keyword [lazy], for [Concord.Lazy]: [[%lazy e]] and [let%lazy].

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

    The module is empty; the rules are registered when it is linked. *)
