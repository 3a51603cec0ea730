(** Numbers in foreign text, which has decimal digits and nothing else.

    [int_of_string] also accepts [0x1f], [1_0], [0b1] and [+5].
    [float_of_string] also accepts [nan], [inf], [0x1p3] and [1_0.]. Other
    programs don't, and a negative number, or one that is not a number, leads to
    exceptions later. *)

val int : string -> int option
(** The number with these digits. [None] if the text has other characters, or if
    the number is larger than [max_int]. *)

val int_or_max : string -> int option
(** The same, but a number that is too large gives [max_int]. *)

val seconds : string -> float option
(** A number with digits after the point, or without: [5] or [0.25]. It is
    finite and not negative. *)
