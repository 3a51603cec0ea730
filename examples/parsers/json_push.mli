(** Yojson's parser, which asks for its input, driven by those who have it. *)

type t = (string, Yojson.Safe.t) Concord_generator.Consumer.t
(** A parser that stands still between two pushes, on a stack of its own. *)

val create : unit -> t
(** Parses one value. What is pushed after it is dropped.

    {!Concord_generator.Consumer.push} raises [Yojson.Json_error] where the
    input is wrong, and so does {!Concord_generator.Consumer.finish} if it ends
    early. *)
