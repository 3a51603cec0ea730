(** Cache lines in the minor heap. *)

val allocate : unit -> unit
(** Allocates 64 bytes that nobody uses, so that what the domain has allocated
    before shares no cache line with what it allocates next. For a block that
    another domain is to read while this one goes on. *)
