(** What the programs have in common. *)

(** A program, in one style. *)
module type S = sig
  type network
  (** Threads that were spawned, but not started. *)

  val setup : int -> network
  (** [setup n] spawns the threads that solve the problem of size [n].
      @raise Invalid_argument if [n] is negative, or too large to be solved. *)

  val run : network -> int array
  (** Starts the threads, and returns what they have found out. To be called
      once for each network, by the system thread that set it up, and before
      that sets up another one in the same style. *)

  val forget : unit -> unit
  (** The networks that the calling system thread has set up do not run. *)
end

(** A program, written once for each signature. *)
module type WRITTEN = sig
  module Direct (_ : Concord_styles.Direct) : S
  module Trampolined (_ : Concord_styles.Trampolined) : S
  module Monadic (_ : Concord_styles.Monadic) : S

  val sequential : int -> int array
  (** What [run (setup n)] returns in every style, computed without threads.
      @raise Invalid_argument as [setup]. *)
end

val in_style : (module WRITTEN) -> Style.t -> (module S)
