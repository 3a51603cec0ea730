(* Reports and traces must name each operation of the table after its structure. This must
   hold in a program of one domain, and in one that has spawned another. *)

open Concord_test_support
open Check
module Debug = Concord.Tools.Debug
module Trace = Concord.Tools.Trace

let () = Debug.keep_waits ()

(* --- Traced operations ------------------------------------------------------------ *)

let traced : string list ref = ref []

let callbacks =
  Trace.add_to (Runtime_events.Callbacks.create ()) (fun _ring _time -> function
    | Trace.Suspended { operation; _ } -> traced := operation :: !traced
    | _ -> ())

let cursor =
  lazy
    (Trace.start ();
     Runtime_events.create_cursor None)

let suspended () =
  ignore (Runtime_events.read_poll (Lazy.force cursor) callbacks None : int);
  let names = !traced in
  traced := [];
  names

(* --- One operation ---------------------------------------------------------------- *)

(* ["Stream"] for ["Stream.take, full"]. *)
let structure name = List.hd (String.split_on_char '.' name)

(* Only the structure's name is compared. After a condition, for example, a mutex is locked
   again, and a choice waits under its alternative's name. All other operations need only
   have a name. *)
let is_named (operation : _ Operations.t) name =
  let expected =
    match structure operation.name with
    | "Mutex" | "Rwlock" | "Mvar" | "Stream" | "Mailbox" | "Channel" -> true
    | _ -> false
  in
  name <> ""
  && ((not expected)
     || String.starts_with ~prefix:(structure operation.name) name)

(* Leaves out waits that began before, because some places of the table have tasks of their
   own that wait. *)
let waits_since first =
  List.concat_map
    (fun (wait : Debug.wait) ->
      if wait.number < first then []
      else List.map (fun (t : Debug.target) -> t.operation) wait.targets)
    (Debug.report ()).waits

let check_named (operation : int Operations.t) how start () =
  let place = operation.make 1 in
  ignore (suspended () : string list);
  let first = Concord__diagnosis.Waits.begun () in
  let ended = thread (fun () -> ignore (start place : int)) in
  eventually "it waits" (fun () -> waits_since first <> []);
  let names = waits_since first in
  let all = names @ suspended () in
  ignore (place.wake () : int);
  ended ();
  List.iter
    (fun name ->
      yes
        (Printf.sprintf "%s%s: %S" operation.name how name)
        (is_named operation name))
    all;
  yes "it is traced" (List.length all > List.length names)

let cases (operation : int Operations.t) =
  let case how start =
    test (operation.name ^ how) (check_named operation how start)
  in
  let event (place : _ Operations.place) =
    Concord.Event.sync ((Option.get place.event) 1)
  in
  let has_event = Option.is_some (operation.make 1).event in
  case "" (fun place -> place.wait 1)
  :: (if has_event then [ case ", as an event" event ] else [])

let all = List.concat_map cases Operations.all
let spawned = lazy (Domain.join (Domain.spawn ignore))

let with_a_domain (name, speed, case) =
  ( name,
    speed,
    fun arg ->
      Lazy.force spawned;
      case arg )

let () =
  run "Every operation has a name"
    [ ("alone", all); ("beside a domain", List.map with_a_domain all) ]
