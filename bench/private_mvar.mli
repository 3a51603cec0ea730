(** The MVar of "Light Weight Concurrency in OCaml" (sections 4 and 5): fields
    that one thread of one domain may change, for one reader and one writer; and
    threads that take turns in a [Queue]. It is what the shared one is measured
    against. *)

(** As much of a direct style as {!Bench_styles} needs. *)
module type Direct = sig
  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
  val put_mvar : 'a mvar -> 'a -> unit
  val take_mvar : 'a mvar -> 'a
end

(** And of the trampolined style. *)
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
(** The MVar of {!Trampoline}, and threads of {!Concord_styles.Trampoline}. *)
