(** Code in direct style in Async, for the suite. *)

include Concord_testkit.Host.HOST
