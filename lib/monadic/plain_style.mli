(** A style that cannot wait and give way in ways of its own. Each operation
    waits by [suspend]. *)

module Unnamed : Promises.Host
(** A style without a name. *)

module Make (_ : Promises.Host) (S : Promises.Style) :
  Promises.Style_with_wait with type 'a t = 'a S.t
