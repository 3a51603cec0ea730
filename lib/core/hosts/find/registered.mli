(** A scheduler that handles [Suspend], and registers itself with
    [Domain_local_await]. *)

type t
(** {!Concord.Tools.Host_kit.t}. *)

val create : unit -> t

val using :
  ?outside:((unit Concord_suspend.resumer -> unit option) -> unit) ->
  t ->
  (unit -> 'a) ->
  'a
(** {!Concord.Tools.Host_kit.using}. *)

val is_innermost : t -> bool
(** {!Concord.Tools.Host_kit.is_innermost}. *)
