(** Is there anything left that could wake a task? *)

val may_exist : asleep:int -> bool
(** {!Concord.Tools.Host_kit.may_be_woken}. *)
