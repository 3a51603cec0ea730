(** What a sample reads: the clock and the size of the process. *)

type instant

val now : unit -> instant
(** On a monotonic clock. *)

val ns_since : instant -> float

val resident_bytes : unit -> float
(** The memory of this process that is resident.

    @raise Sys_error where the system has no [/proc]. *)

val reset_peak : unit -> unit

val peak_resident_bytes : unit -> float
(** The most of it that was resident at once since {!reset_peak}.

    @raise Sys_error as {!resident_bytes}. *)
