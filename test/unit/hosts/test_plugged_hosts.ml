(* The suite for hosts, on schedulers that don't know Concord. Some have a plug-in, and one
   only handles the effect. *)

open Concord_test_hosts
open Concord_test_own

(* Returns the value of a function, from a scheduler whose tasks return none. *)
let value run f =
  let result = ref None in
  run (fun () -> result := Some (f ()));
  Option.get !result

module Plugged (Scheduler : sig
  val name : string
  val run : (unit -> unit) -> unit
  val fork : (unit -> unit) -> Foreign.task
  val yield : unit -> unit
  val cancel : Foreign.task -> unit
  val not_offered : (string * string) list
end) =
struct
  let name = Scheduler.name

  type t = unit
  type task = Foreign.task

  let run f = value Scheduler.run f
  let spawn () = Scheduler.fork
  let yield = Scheduler.yield
  let cancel = Some (fun () task -> Scheduler.cancel task)
  let is_cancellation = function Foreign.Cancelled -> true | _ -> false
  let not_offered = Scheduler.not_offered
end

module A =
  Foreign.Make
    (struct
      let name = "a"
      let takes_every_effect = false
    end)
    ()

module T =
  Foreign.Make
    (struct
      let name = "t"
      let takes_every_effect = true
    end)
    ()

module Plain_a = Plugged (struct
  include A

  let name = "a"
  let not_offered = []
end)

module Registered_a = Plugged (struct
  include A

  let name = "a, registered"
  let run = run_registered
  let not_offered = [ Own.blocks; Own.locks; Own.no_backtraces ]
end)

module Plain_t = Plugged (struct
  include T

  let name = "t, which takes every effect"
  let not_offered = []
end)

module Registered_t = Plugged (struct
  include T

  let name = "t, registered"
  let run = run_registered
  let not_offered = [ Own.blocks; Own.locks; Own.no_backtraces ]
end)

module Third_party = struct
  let name = "a third party's"

  type t = unit
  type task = unit

  let run f = value (fun f -> Mini.run [ f ]) f
  let spawn () = Mini.fork
  let yield = Concord.Tasks.yield
  let cancel = None
  let is_cancellation _ = false

  let not_offered =
    [
      Own.blocks;
      Own.locks;
      ("backtraces", "its handler keeps none");
      ("foreign", "its handler takes every wait that reaches it");
    ]
end

(* Hosts that aren't registered are tested only by these clauses, because inside another
   host's task they would have to be registered. *)
let alone = [ "H1"; "H2"; "H3"; "H4"; "S1"; "S2"; "S3"; "S4"; "S5"; "protect" ]

let () =
  Own.test
    ~only:(alone, [ (module Plain_a); (module Plain_t) ])
    [
      (module Registered_a);
      (module Registered_t);
      (module Third_party);
      Own.fifo;
      Own.threads;
      (module Concord_test_eio.Eio_host.Make (struct
        let linked = true
      end));
    ]
