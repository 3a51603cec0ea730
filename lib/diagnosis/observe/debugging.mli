(** The words of [CONCORD_DEBUG], between commas, when the program starts.
    {!Concord.Tools.Debug} explains them. *)

val has : string -> bool
(** [has word] is [true] if this is one of the words. *)

val seconds : string -> float option
(** [seconds "stall"] is [Some 5.] if one of the words is [stall=5]. *)

val json : string -> string option
(** [json "sigquit"] is [Some "/tmp/report"] if one of the words is
    [sigquit=json:/tmp/report]. *)

val mistakes : unit -> string list
(** A sentence for each unknown word. *)
