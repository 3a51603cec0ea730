(** For the packages of this project.

    {b Stability}: none, nothing is promised.

    The adapters, [concord-aio] and [concord-schedulers] use the internal
    modules of [concord] listed here. {b Don't use them}, because any release
    may change or remove them without notice. If your own scheduler needs one of
    them, ask us to add it to {!Concord.Tools.Host_kit}.

    The interface of each module, in [lib/], describes it. A comment says which
    packages use it. *)

(**/**)

(* Small tools *)

module Atomically = Atomically (* aio, schedulers *)
module Identity = Identity (* domainslib, to tell pools apart *)
module Attached_data = Attached_data (* domainslib, for its pools *)
module Late = Late (* miou *)
module Context = Context (* lwt and async, which add theirs, policies *)
module Locals = Locals (* all adapters, schedulers *)

(* domainslib and lwt, to start domains *)
module Signals : sig
  include module type of struct
    include Signals
  end

  val name : int -> string
  (** ["SIGTERM"], for reports. *)
end

module Timer = Timer (* domainslib, miou, picos, schedulers *)

(* Reports *)

module Who = Who (* all adapters but miou, schedulers *)
module Who_is = Who_is (* async, domainslib, eio, lwt *)
module Observer = Observer (* domainslib, eio, lwt, schedulers *)
module Forks = Forks (* domainslib *)
module Filler = Filler (* domainslib *)
module Leaks = Leaks (* lwt, schedulers *)

(* lwt *)
module Strict : sig
  val is_on : bool
  (** [true] if [CONCORD_DEBUG] is [strict]. *)
end

(* domainslib, lwt *)
module Identify : sig
  val waker : unit -> Who.t
  (** The calling task. It never suspends. *)

  val add_who_of_trigger : (Domain_local_await.t -> Who.t option) -> unit
  (** For a scheduler that is reached by its trigger alone. The function is
      called in a task of it. *)
end

(* Schedulers and plug-ins *)

module Innermost_handler = Concord_stub.Innermost_handler (* eio *)
module Plugin = Plugin (* eio, domainslib, miou *)
module Spin = Spin (* eio, picos *)
module Spinning = Spinning (* eio, picos *)
module Reach = Reach (* domainslib, eio, aio, schedulers *)
module Asking = Asking (* lwt, async, domainslib, schedulers *)
module Helpers = Helpers (* aio *)

(* concord-trace *)
module Debug_frames : sig
  type t

  val of_lines : (string * string * int) list -> t list
  (** The frames of the program among these functions, files and lines. *)

  val to_string : t -> string
end

module Wait_layout : sig
  val symbol : string
  (** The symbol of the waits' module, in an executable. *)
end

(* Operations *)

module Operation = Operation (* eio, lwt, aio, schedulers *)
module Names = Names (* lwt, async *)

(* Concord_fifo *)

module Fifo = Fifo (* aio *)

(* Work of other libraries *)

module Keeper = Keeper (* domainslib, eio, lwt *)
module Stopping = Stopping (* domainslib, eio, lwt *)
