(** What the program was asked to look for: the words of [CONCORD_DEBUG],
    between commas, when the program starts. {!Concord.Tools.Debug} says what
    they mean. *)

val has : string -> bool
(** Is this one of the words? *)

val seconds : string -> float option
(** [seconds "stall"] is [Some 5.] if one of the words is [stall=5]. *)

val mistakes : unit -> string list
(** A sentence for each word that means nothing. *)
