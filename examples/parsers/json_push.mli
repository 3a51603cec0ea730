(** Yojson's parser pulls its input from a function. Here the owner of the input
    pushes it instead. *)

type t = (string, Yojson.Safe.t) Concord_generator.Consumer.t
(** A parser that is suspended between two pushes, on a stack of its own. *)

exception Too_long

val longest : int
(** The most bytes of input that a parser takes. A peer must not decide how much
    memory its text needs. *)

val create : unit -> t
(** Parses one value. Input after it is dropped.
    {!Concord_generator.Consumer.push} raises [Yojson.Json_error] if the input
    is wrong, and {!Too_long} if it is longer than {!longest}.
    {!Concord_generator.Consumer.finish} raises it if the input ends too early.
*)
