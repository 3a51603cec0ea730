(** Fibers of Picos, with [concord-picos], for the suite. *)

open Concord_testkit.Host

(** The fibers of a scheduler. *)
module Make (_ : sig
  val name : string
  val run : (unit -> 'a) -> 'a

  val not_offered : (string * string) list
  (** In addition to ["inside"]. *)
end) : HOST

module Fifo : HOST

module Multififo : HOST
(** On two domains. *)
