(** A style without ways of its own to wait and to give way: each operation
    waits by [suspend]. *)

module Unnamed : Promises.Host
(** A style that does not say what it is called. *)

module Make (_ : Promises.Host) (S : Promises.Style) :
  Promises.Style_with_wait with type 'a t = 'a S.t
