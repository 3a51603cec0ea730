(** How long one turn of a loop has lasted.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A loop that runs tasks also has other work, for example timers and
    descriptors, or the tasks of the host around it. If its tasks always have
    something to do, the loop turns to that work after 10 ms.

    Only one thread may use a turn.

    @canonical Concord.Tools.Host_kit.Turn *)

type t

val create : unit -> t

val begin_ : t -> unit
(** Call it when the loop has done its other work. *)

val is_long : t -> bool
(** [true] if 10 ms have passed since the clock was first read in this turn.
    {b Cost}: reads the clock. *)

val add_task : t -> bool
(** Call it after each task. It is {!is_long}, but reads the clock only after 2,
    4, 8, 16 and each further 32 tasks. In between, it is [false]. *)
