(** Code in direct style, in a library of promises: up to where it suspends it
    runs at once, and a promise is made of the rest. *)

module Make (_ : Promises.Host) (Style : Promises.Style_with_wait) : sig
  type t
  (** One run of such code: is it protected, and was it cancelled? *)

  val create : unit -> t

  val note : t -> exn -> unit
  (** The run was cancelled too late for what it waited for, with that
      exception: its next suspension that is not protected raises it. *)

  val run : t -> late:('a -> exn -> 'a Style.t) -> (unit -> 'a) -> 'a Style.t
  (** [run t ~late f] has what [f ()] returns or raises. [late v e] is for code
      that returned [v] after it was cancelled, but was not told, as it did not
      suspend any more. *)

  val start : late:('a -> exn -> 'a Style.t) -> (unit -> 'a) -> 'a Style.t
  (** [start ~late f] is [run (create ()) ~late f]. *)
end
