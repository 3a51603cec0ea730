(** The small examples of sections 5.1 and 5.2 of the paper. They are operations
    that consist of other operations, and may wait. *)

module Direct (Lwc : Concord_styles.Direct) : sig
  val yield3 : unit -> unit
  (** Yields three times. *)

  val transfer_mvar : 'a Lwc.mvar -> 'a Lwc.mvar -> unit
  (** Transfers the value of an MVar to another one. *)
end

(** In this style, the rest of the thread is a further argument. *)
module Trampolined (Lwc : Concord_styles.Trampolined) : sig
  val yield3 : (unit -> unit) -> unit
  val transfer_mvar : 'a Lwc.mvar -> 'a Lwc.mvar -> (unit -> unit) -> unit
end

module Monadic (Lwc : Concord_styles.Monadic) : sig
  val yield3 : unit -> unit Lwc.t
  val transfer_mvar : 'a Lwc.mvar -> 'a Lwc.mvar -> unit Lwc.t
end
