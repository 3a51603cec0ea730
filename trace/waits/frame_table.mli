(** The stack frames of a program of OCaml.

    The compiler describes, for each address to which a function may return, the
    frame of that function. *)

type t

type frame = private int
(** A description. *)

val read : Memory.t -> int -> t
(** [read memory address] reads what the symbol [caml_frametable] has at
    [address]. *)

val find : t -> int -> frame option
(** [find t return] is the frame of the function that continues at [return]. *)

val between : t -> int -> int -> int list
(** [between t first after] are the addresses of a function to which other
    functions return. *)

val values : t -> frame -> int list
(** The offsets of the values in the frame that are still needed. *)

val caller : t -> frame -> stack:int -> (frame * int) option
(** [caller t frame ~stack] is the next frame and where it begins. It is [None]
    where the stack was entered from C, or by a handler of effects. *)

type line = { name : string; file : string; line : int }

val lines : t -> frame -> line list
(** The place in the source. Functions that were inlined there come first. It is
    [[]] without [-g]. *)
