(** What a sample reads: the clock and the size of the process. *)

type instant

val now : unit -> instant
(** On a monotonic clock. *)

val ns_since : instant -> float

val resident_bytes : unit -> float
(** The memory of this process that is resident.

    @raise Sys_error where the system has no [/proc]. *)
