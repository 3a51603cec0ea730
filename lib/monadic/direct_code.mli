(** Code in direct style, in a library of promises. It runs at once up to the
    point where it suspends, and the rest becomes a promise. *)

module Make (_ : Promises.Host) (Style : Promises.Style_with_wait) : sig
  type t
  (** One run of such code. It knows whether the run is protected, and whether
      it was cancelled. *)

  val create : unit -> t

  val note : t -> exn -> unit
  (** [note t e] notes that the run was cancelled with [e], but too late for the
      operation that it waited in. Its next suspension that is not protected
      raises [e]. *)

  val run : t -> late:('a -> exn -> 'a Style.t) -> (unit -> 'a) -> 'a Style.t
  (** [run t ~late f] returns or raises the outcome of [f ()]. [late v e] is
      called if the code returned [v] after it was cancelled with [e], but
      didn't get [e], because it did not suspend any more. *)

  val start : late:('a -> exn -> 'a Style.t) -> (unit -> 'a) -> 'a Style.t
  (** [start ~late f] is [run (create ()) ~late f]. *)
end
