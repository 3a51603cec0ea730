module Decision = Decision
module Inbox = Inbox
module Spin = Spin
module Turn = Turn

module Who = struct
  include Who

  let make ?domain ~host ~name identity = Who.make ?domain ~host ~name identity
end

let suspend_thread = Park.suspend_thread

type spinning = Spinning.host = {
  check : unit -> unit;
  turn : (exn -> bool) -> unit;
  suspend :
    'a. cancel:(exn -> bool) -> ('a Concord_suspend.resumer -> 'a option) -> 'a;
}

let spin_first = Spinning.suspend

(* --- The tasks of a host --------------------------------------------------- *)

let scopes = Asking.scopes

type passing = Probe.passing = { passing : 'b. 'b Effect.t -> unit }
type host = Asking.host = Suspends | Parks

let probe = Asking.probe
let may_be_woken = Asking.may_be_woken

let[@inline never] held_weakly resumer =
  let _, held = Identity.viewed resumer Fun.id in
  fun outcome ->
    match held () with Some resumer -> resumer outcome | None -> false

let[@inline] weakly resumer =
  if Observer.finds_leaks () then held_weakly resumer else resumer

(* --- Plug-ins -------------------------------------------------------------- *)

exception Elsewhere = Plugin.Elsewhere

type plugin = Plugin.t = {
  name : string;
  sample : Domain_local_await.t option;
  takes_every_effect : bool;
  suspend : 'a. ('a Concord_suspend.resumer -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
  scopes : Concord_suspend.scopes option;
}

let plug_in ?who plugin = Plugin.add ?who plugin

let using_plugin plugin loop =
  Backtrace.finally ~finally:Innermost.forget @@ fun () ->
  Innermost.using ~is_inside:Probe.is_inside
    ~prepare_for_await:(fun () -> Plugin.of_loop (Trigger.prepare_by plugin ()))
    ~while_running:(fun () ->
      Greedy.running plugin (fun () -> Plugin.running plugin loop))

(* --- Schedulers that handle [Suspend] -------------------------------------- *)

type t = Registered.t

let create = Registered.create
let using = Registered.using
let is_innermost = Registered.is_innermost
let refuse = Reach.refuse
