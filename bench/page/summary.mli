(** The figures as text, from which [bench/RESULTS.md] is made. *)

val markdown : Results.t -> string
(** The run; where others are ahead, the worst first; the papers' claims, those
    that are not confirmed first; all rows. *)

val table : head:string list -> string list list -> string
(** A table of Markdown. *)
