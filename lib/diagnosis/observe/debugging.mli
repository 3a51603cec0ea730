(** The words of [CONCORD_DEBUG], between commas, when the program starts.
    {!Concord.Tools.Debug} explains them. *)

val has : string -> bool
(** [has word] is [true] if this is one of the words. *)

val seconds : string -> float option
(** [seconds "stall"] is [Some 5.] if one of the words is [stall=5]. *)

val mistakes : unit -> string list
(** A sentence for each unknown word. *)
