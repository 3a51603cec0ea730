type t
type task

exception Cancelled

val run : (t -> unit) -> unit
val fork : t -> (unit -> unit) -> task
val join : task -> unit
val cancel : t -> task -> unit
