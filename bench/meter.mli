(** The clock and the size of the process, which samples read. *)

type instant

val now : unit -> instant
(** The time on a monotonic clock. *)

val ns_since : instant -> float

val resident_bytes : unit -> float
(** The resident memory of this process.

    @raise Sys_error if the system has no [/proc]. *)

val reset_peak : unit -> unit

val peak_resident_bytes : unit -> float
(** The largest resident memory since {!reset_peak}.

    @raise Sys_error like {!resident_bytes}. *)
