(** What the styles in direct style share: how a thread ends, and what the
    effects of the contract mean in it. *)

val halt : unit -> unit
(** Ends the calling thread, whose finalisers run. *)

val body : (unit -> unit) -> unit -> unit
(** What a thread runs: the function, until it returns or is ended. *)

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
(** What the effects of the contract mean, for one thread of that host, whose
    style has this name. *)

val in_group : 'd Group.style -> 'd Group.t -> unit Prompt.meaning
(** That, for a thread of the group. *)
