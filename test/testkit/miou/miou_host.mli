(** Tasks of Miou, with [concord-miou], for the suite. *)

include Concord_testkit.Host.HOST
