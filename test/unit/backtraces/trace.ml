(* The backtrace that a program prints when an exception ends it, reduced to functions of
   this module, in the printed order.

   [raises] is the function that raised. [inner] and [outer] are the other frames of its
   task. [awaits] and [caller] are frames of the task that the exception reaches. If a task
   has no stack while it waits, [calls] called the operation that waited, and the code after
   it raises. *)

open Concord
open Concord.Tools

exception Boom

let[@inline never] raises () =
  if Sys.opaque_identity true then raise Boom else 1

(* The addition prevents a tail call, which would drop the frame. *)
let[@inline never] inner wait =
  wait ();
  1 + raises ()

let[@inline never] outer wait = 1 + inner wait
let[@inline never] calls operation = Sys.opaque_identity (operation ())
let[@inline never] awaits f = 1 + f ()
let[@inline never] caller f = 1 + awaits f

let is_ours = function
  | "raises" | "inner" | "outer" | "calls" | "awaits" | "caller" -> true
  | _ -> false

let frame slot =
  match
    Option.map (String.split_on_char '.') (Printexc.Slot.name slot)
    |> Option.map List.rev
  with
  | Some (name :: ("Trace" | "Dune__exe__Trace") :: _) when is_ours name ->
      Some name
  | Some _ | None -> None

let frames backtrace =
  Option.value ~default:[||] (Printexc.backtrace_slots backtrace)
  |> Array.to_list |> List.filter_map frame

(* Finds the frames in a text that contains the lines of a backtrace. *)
let frames_of_text text =
  List.filter_map
    (fun word ->
      match String.split_on_char '.' word with
      | [ "Trace"; name ] when is_ours name -> Some name
      | _ -> None)
    (String.split_on_char ' ' text)

let print what exn frames =
  let exn = if exn = Boom then [] else [ Printexc.to_string exn ] in
  Printf.printf "%-42s %s\n%!" what (String.concat " " (exn @ frames))

let case what f =
  match caller f with
  | (_ : int) -> Printf.printf "%-42s returned\n%!" what
  | exception e -> print what e (frames (Printexc.get_raw_backtrace ()))

(* --- Operations before the exception -------------------------------------------- *)

let resumed_at_once () =
  Suspend.suspend (fun resumer ->
      ignore (resumer (Ok ()) : bool);
      None)

let waits () =
  Tasks.yield ();
  resumed_at_once ();
  let box = Mvar.create () in
  Mvar.take box

(* A task whose result is needed, and the same one without a result. *)
let work () = outer waits
let task () = ignore (work () : int)

(* --- Exceptions that are passed to other tasks ----------------------------------- *)

let failing promise f =
  try ignore (f () : int) with e -> Promise.fail promise e

let failed f =
  let promise = Promise.create () in
  failing promise f;
  promise

let resumed_with_error () =
  Suspend.suspend (fun resumer ->
      ignore (resumer (Error Boom) : bool);
      None)

let block_raises () =
  Suspend.suspend (fun _ ->
      ignore (outer ignore : int);
      None)

(* Runs [f ()] on another domain and gets its exception through a promise. *)
let from_domain ~record f =
  let promise = Promise.create () in
  let domain =
    Domain.spawn (fun () ->
        if record then Printexc.record_backtrace true;
        failing promise f)
  in
  Fun.protect
    ~finally:(fun () -> Domain.join domain)
    (fun () -> Promise.await promise)

(* --- A handler of the user's between the task's frames and its host --------------- *)

type _ Effect.t += Unknown_to_hosts : unit Effect.t

let effc (type a) (e : a Effect.t) =
  match e with
  | Unknown_to_hosts ->
      Some
        (fun (k : (a, _) Effect.Deep.continuation) -> Effect.Deep.continue k ())
  | _ -> None

let with_try_with f = Effect.Deep.try_with f () { effc }

let with_match_with f =
  let exnc e =
    Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
  in
  Effect.Deep.match_with f () { retc = Fun.id; exnc; effc }

(* A scheduler of the user's, which keeps the continuation and continues it later. *)
let with_queue f =
  let ready : (unit -> unit) Queue.t = Queue.create () in
  let effc (type a) (e : a Effect.t) =
    match e with
    | Unknown_to_hosts ->
        Some
          (fun (k : (a, _) Effect.Deep.continuation) ->
            Queue.add (fun () -> Effect.Deep.continue k ()) ready)
    | _ -> None
  in
  let result = ref 0 in
  let exnc e =
    Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
  in
  Effect.Deep.match_with f () { retc = (fun v -> result := v); exnc; effc };
  while not (Queue.is_empty ready) do
    Queue.take ready ()
  done;
  !result

let with_shallow f =
  let open Effect.Shallow in
  let exnc e =
    Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
  in
  let rec loop : type a. (a, int) continuation -> a -> int =
   fun k v ->
    let effc (type b) (e : b Effect.t) =
      match e with
      | Unknown_to_hosts -> Some (fun (k : (b, _) continuation) -> loop k ())
      | _ -> None
    in
    continue_with k v { retc = Fun.id; exnc; effc }
  in
  loop (fiber f) ()

let turn_and_wait () =
  Effect.perform Unknown_to_hosts;
  waits ();
  Effect.perform Unknown_to_hosts

(* --- Where a task waits -------------------------------------------------------------- *)

(* [watched note f] is [f ()]. Each time the task is about to be suspended, [note] gets its
   call stack. The page about effects ([doc/effects.mld]) shows the same handler. *)
let watched note f =
  let effc (type a) (e : a Effect.t) =
    match e with
    | Suspend.Suspend _ ->
        Some
          (fun (k : (a, _) Effect.Deep.continuation) ->
            note (Effect.Deep.get_callstack k 100);
            match Effect.perform e with
            | v -> Effect.Deep.continue k v
            | exception e ->
                let backtrace = Printexc.get_raw_backtrace () in
                Effect.Deep.discontinue_with_backtrace k e backtrace)
    | _ -> None
  in
  let exnc e =
    Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
  in
  Effect.Deep.match_with f () { retc = Fun.id; exnc; effc }

(* Prints the frames that were noted while the task waited. *)
let where_it_waits what ~fork ~yield =
  let promise = Promise.create () and waits_at = ref [] and got = ref 0 in
  let note callstack = waits_at := frames callstack in
  fork (fun () ->
      got :=
        watched note (fun () ->
            awaits (fun () -> calls (fun () -> Promise.await promise))));
  while Promise.waiters promise = 0 do
    yield ()
  done;
  Printf.printf "%-42s %s\n%!" what (String.concat " " !waits_at);
  Promise.fill promise 1;
  while !got = 0 do
    yield ()
  done
