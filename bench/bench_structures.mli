(** Every structure except {!Concord.Mvar}, which has a group of its own. *)

val group : Case.group
