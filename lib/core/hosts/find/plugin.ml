open Concord_suspend
module Innermost_handler = Concord_stub.Innermost_handler

exception Elsewhere

let () =
  Printexc.register_printer (function
    | Elsewhere -> Some "Concord.Tools.Host_kit.Elsewhere"
    | _ -> None)

type suspending = { suspend : 'a. ('a resumer -> 'a option) -> 'a }

type t = {
  name : string;
  sample : Domain_local_await.t option;
  takes_every_effect : bool;
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
  scopes : scopes option;
}

(* These lists only grow, and only while libraries are initialised. *)
let plugins : t array Atomic.t = Atomic.make [||]
let takers_ : t list Atomic.t = Atomic.make []
let unregistered_ : t list Atomic.t = Atomic.make []
let passing : Innermost_handler.t option Atomic.t = Atomic.make None

let passes_suspend handler =
  Atomically.update passing (function
    | Some known as passing when known != Innermost_handler.none -> passing
    | Some _ | None -> Some handler)

let knows_handler () =
  match Atomic.get passing with
  | Some known -> known != Innermost_handler.none
  | None -> false

let threads_park () =
  if Option.is_none (Atomic.get passing) then
    passes_suspend Innermost_handler.none

let[@inline] comes_back () =
  match Atomic.get passing with
  | Some known -> Innermost_handler.nothing_but known
  | None -> false

let[@inline] nobody_answers () =
  match Atomic.get passing with
  | Some known -> Innermost_handler.alone known
  | None -> false

let identities : (t * (unit -> Who.t)) list Atomic.t = Atomic.make []

let who plugin =
  Option.map (fun who -> who ()) (List.assq_opt plugin (Atomic.get identities))

let domains : (t * (unit -> suspending)) list Atomic.t = Atomic.make []

let on_this_domain (plugin : t) =
  match List.assq_opt plugin (Atomic.get domains) with
  | Some on_this_domain -> on_this_domain ()
  | None -> { suspend = plugin.suspend }

let add ?who ?on_this_domain plugin =
  Option.iter
    (fun here -> Atomically.update domains (List.cons (plugin, here)))
    on_this_domain;
  Option.iter
    (fun who -> Atomically.update identities (List.cons (plugin, who)))
    who;
  let append list = list @ [ plugin ] in
  Atomically.update plugins (fun before -> Array.append before [| plugin |]);
  if plugin.takes_every_effect then begin
    Atomically.update takers_ append;
    Observer.(start takers)
  end
  else if Option.is_none plugin.sample then
    Atomically.update unregistered_ append

(* --- Exceptions that end a task ---------------------------------------------- *)

let ends : (unit -> exn -> bool) list Atomic.t = Atomic.make []
let add_end_of_task watch = Atomically.update ends (List.cons watch)
let some_end_tasks () = not (List.is_empty (Atomic.get ends))

let watch_end () =
  let watches = List.map (fun watch -> watch ()) (Atomic.get ends) in
  fun e -> List.exists (fun is_end -> is_end e) watches

(* --- Which there are --------------------------------------------------------- *)

let all () = Atomic.get plugins
let takers () = Atomic.get takers_
let unregistered () = Atomic.get unregistered_

let[@inline] some_takes_every_effect () =
  match Atomic.get takers_ with [] -> false | _ :: _ -> true

(* --- Loops of schedulers that do not register themselves -------------------- *)

(* The loops that run in threads of this domain. For each thread, the innermost loop comes
   first. *)
let loops : (int * t) list Atomic.t Domain.DLS.key =
  Domain.DLS.new_key (fun () -> Atomic.make [])

let this_thread () = Thread.id (Thread.self ())

(* This closure of [await] has its own code. So [recognise] can tell that one of these loops is
   the innermost scheduler. *)
let[@inline never] of_loop (trigger : Domain_local_await.t) =
  { trigger with await = (fun () -> trigger.await ()) }

let running plugin loop =
  let loops = Domain.DLS.get loops in
  Atomically.update loops (List.cons (this_thread (), plugin));
  Backtrace.finally loop ~finally:(fun () ->
      Atomically.update loops (List.remove_assoc (this_thread ())))

(* --- Whose trigger it is ---------------------------------------------------- *)

(* Compares the code of the [await] functions, without calling them. *)
let same (trigger : Domain_local_await.t) (sample : Domain_local_await.t) =
  Identity.same_code trigger.await sample.await

let handler : Domain_local_await.t option Atomic.t = Atomic.make None
let recognise_handlers sample = Atomic.set handler (Some sample)

let is_handler trigger =
  Option.fold (Atomic.get handler) ~none:false ~some:(same trigger)

let sample_of_loop =
  of_loop Domain_local_await.{ release = ignore; await = ignore }

let recognise trigger =
  let plugins = all () in
  if same trigger sample_of_loop then
    (* There may be none. Then it is the loop of another thread, which was not distinguished
       from this one. *)
    let loops = Atomic.get (Domain.DLS.get loops) in
    Option.bind
      (List.assoc_opt (this_thread ()) loops)
      (fun plugin -> Array.find_index (( == ) plugin) plugins)
  else
    let is_its { sample; _ } =
      Option.fold sample ~none:false ~some:(same trigger)
    in
    Array.find_index is_its plugins
