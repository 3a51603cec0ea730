(** Reports as values (see {!Concord.Tools.Debug}). *)

include module type of struct
  include Report_types
end

val now : unit -> report
(** [now ()] is the report of this moment. It does not suspend, and may be
    called in any thread. {b Cost}: O(n * s) for n waits in s structures. *)
