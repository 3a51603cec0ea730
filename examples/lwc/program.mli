(** The signatures of all programs. *)

(** A program, in one style. *)
module type S = sig
  type network
  (** Threads that were spawned, but not started. *)

  val setup : int -> network
  (** [setup n] spawns the threads that solve the problem of size [n].
      @raise Invalid_argument if [n] is negative, or too large to be solved. *)

  val run : network -> int array
  (** Starts the threads, and returns their result. Call it once for each
      network, in the system thread that set it up, and before that thread sets
      up another network in the same style. *)

  val forget : unit -> unit
  (** Discards the networks that the calling system thread has set up, without
      running them. *)
end

(** A program, written once for each signature of styles. *)
module type WRITTEN = sig
  module Direct (_ : Concord_styles.Direct) : S
  module Trampolined (_ : Concord_styles.Trampolined) : S
  module Monadic (_ : Concord_styles.Monadic) : S

  val sequential : int -> int array
  (** The result of [run (setup n)] in every style, computed without threads.

      @raise Invalid_argument like [setup]. *)
end

val in_style : (module WRITTEN) -> Style.t -> (module S)
