(** System threads for work whose end no descriptor reports, on regular files
    and names of hosts.

    Each kind has a pool of {!Concord.Blocking}. So a file that makes its thread
    wait, for example for another process, does not keep other jobs waiting.
    With {!threads} threads of a kind, the next job waits for one of these to
    end. *)

val threads : int

type kind = Files | Names

val run : ?drop:('a -> unit) -> kind -> (unit -> 'a) -> 'a
(** {!Concord.Blocking.run}. *)

val run_protected : kind -> (unit -> 'a) -> 'a
(** {!run}, except that the calling task waits for its end by
    {!Uncancelled.await} once [f] has begun. Use it for work that ends soon, and
    must not be lost. *)

val running : unit -> int
(** The number of threads for files. For tests. *)
