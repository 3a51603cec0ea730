(** The MVar of "Light Weight Concurrency in OCaml" (sections 4 and 5). It has
    fields that only threads of one domain may change, for one reader and one
    writer. Its threads take turns in a [Queue]. The shared MVar is compared
    with it. *)

(** The part of a direct style that {!Bench_styles} needs. *)
module type Direct = sig
  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
  val put_mvar : 'a mvar -> 'a -> unit
  val take_mvar : 'a mvar -> 'a
end

(** The same part of the trampolined style. *)
module type Trampolined = sig
  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
  val put_mvar : 'a mvar -> 'a -> (unit -> unit) -> unit
  val take_mvar : 'a mvar -> ('a -> unit) -> unit
end

module Callcc : Direct
module Delimited : Direct
module Trampoline : Trampolined

module Trampoline_with_turns : Trampolined
(** The MVar of {!Trampoline}, with threads of {!Concord_styles.Trampoline}. *)
