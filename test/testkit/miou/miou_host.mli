(** Tasks of Miou, with [concord-miou], for the suite. *)

include Concord_testkit.Host.HOST

module Make (_ : sig
  val name : string
  val run : (unit -> 'a) -> 'a
end) : Concord_testkit.Host.HOST
