(** A style without ways of its own to wait and to give way: each operation
    waits by [suspend]. *)

module Make (S : Promises.Style) :
  Promises.Style_with_wait with type 'a t = 'a S.t
