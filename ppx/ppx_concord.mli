(** The keyword [lazy], for [Concord.Lazy]: [[%lazy e]] and [let%lazy].

    - [[%lazy e]] is [Concord.Lazy.from_fun (fun () -> e)]. If [e] is a literal,
      a constant constructor or a function, it is [Concord.Lazy.from_val e].
    - [let%lazy x = e in body] is [let x = [%lazy e] in body]. Also [and], and
      also as a definition of a module. In [let%lazy x : t = e] it is [e] that
      has type [t].
    - [let%lazy rec x = e]: in [e], [x] is the lazy value itself. To force it
      there raises [Concord.Lazy.Undefined], when [e] is computed. Also [and].

    It does not matter what [Concord], [Lazy] or [Stdlib] means where these are
    written.

    What differs from the keyword: a lazy value is not polymorphic (neither
    [[%lazy []]] nor a function), since [Concord.Lazy.t] has no variance; and a
    variable, and a function that is defined by [let%lazy rec] and mentions what
    is defined, are computed when forced.

    The module is empty; the rules are registered when it is linked. *)
