(** Yojson's parser pulls its input from a function. Here the owner of the input
    pushes it instead. *)

type t = (string, Yojson.Safe.t) Concord_generator.Consumer.t
(** A parser that is suspended between two pushes, on a stack of its own. *)

val create : unit -> t
(** Parses one value. Input after it is dropped.
    {!Concord_generator.Consumer.push} raises [Yojson.Json_error] if the input
    is wrong. {!Concord_generator.Consumer.finish} raises it if the input ends
    too early. *)
