(** Where a long name may be broken in a narrow table. *)

val mark : string -> string
(** [mark html] allows a break after each dot and underscore in the code of a
    table's cells, so that [Concord.Promise] is broken before [Promise]. *)

val is_letter : char -> bool
(** [is_letter c] is [true] for the letters of ASCII. *)
