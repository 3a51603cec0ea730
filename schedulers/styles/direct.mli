(** The common part of the styles in direct style. It ends threads, and handles
    the effects of the contract. *)

val halt : unit -> unit
(** Ends the calling thread, whose finalisers run. *)

val body : (unit -> unit) -> unit -> unit
(** The function of a thread, which runs until it returns or is ended. *)

type wait = {
  wait :
    'a.
    protected:bool ->
    ('a Concord.Tools.Suspend.resumer -> 'a option) ->
    (('a, exn) result -> unit) ->
    unit;
}
[@@unboxed]
(** As {!Group.wait}. *)

val meaning :
  name:string -> Concord.Tools.Host_kit.t -> wait -> unit Prompt.meaning
(** The meanings of the effects of the contract, for one thread of that host,
    whose style has this name. *)

val in_group : 'd Group.style -> 'd Group.t -> unit Prompt.meaning
(** {!meaning}, for a thread of the group. *)
