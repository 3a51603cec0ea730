(* Waits for a pipe outside of Concord_aio.run, in a small host, and prints which domain
   resumes it. First the main domain waits, then another one. In between, the program forks, if
   it can. It ends while the poller still runs. With the argument [child], a child process does
   all this. With [unused], nothing waits, and the program prints whether a poller exists once
   there was a second domain. *)

open Effect.Deep
module Suspend = Concord.Tools.Suspend

let who waiting resuming =
  if (resuming : Domain.id) = waiting then "the domain that waited"
  else if (resuming :> int) = 0 then "the main domain"
  else "a domain of its own"

(* Runs one task. *)
let host f =
  let suspend : type a.
      (a Suspend.resumer -> a option) -> (a, unit) continuation -> unit =
   fun block k ->
    let resumed = Atomic.make None in
    let resumer outcome =
      Atomic.compare_and_set resumed None (Some (outcome, Domain.self ()))
    in
    let rec await () =
      match Atomic.get resumed with
      | Some (outcome, by) ->
          print_endline ("resumed by " ^ who (Domain.self ()) by);
          outcome
      | None ->
          Thread.delay 0.001;
          await ()
    in
    match block resumer with
    | Some v -> continue k v
    | None -> (
        match await () with Ok v -> continue k v | Error e -> discontinue k e)
  in
  let effc : type a. a Effect.t -> ((a, unit) continuation -> unit) option =
    function
    | Suspend.Suspend block -> Some (suspend block)
    | _ -> None
  in
  try_with f () { effc }

(* The pipe is written once the task waits, because before that nothing is suspended. *)
let wait () =
  let from, to_ = Unix.pipe ~cloexec:true () in
  let before = Concord_aio__Readiness.waiting () in
  let writer () =
    while Concord_aio__Readiness.waiting () = before do
      Thread.delay 0.001
    done;
    ignore (Unix.write_substring to_ "x" 0 1 : int)
  in
  let writer = Thread.create writer () in
  host (fun () -> ignore (Concord_aio.read from (Bytes.create 1) 0 1 : int));
  Thread.join writer

let try_all () =
  print_string "the main domain: ";
  wait ();
  begin match Unix.fork () with
  | 0 -> Unix._exit 0
  | child ->
      ignore (Unix.waitpid [] child : int * Unix.process_status);
      print_endline "can fork"
  | exception Failure _ -> print_endline "cannot fork"
  end;
  print_string "another domain: ";
  Domain.join (Domain.spawn wait)

let () =
  ignore (Unix.alarm 50 : int);
  match Sys.argv with
  | [| _; "unused" |] ->
      Domain.join (Domain.spawn ignore);
      let has_poller = Concord_aio__Readiness.has_thread () in
      print_endline (if has_poller then "a poller" else "no poller")
  | [| _; "child" |] -> (
      match Unix.fork () with
      | 0 -> try_all ()
      | child -> (
          match Unix.waitpid [] child with
          | _, WEXITED 0 -> ()
          | _ -> prerr_endline "the child failed"))
  | _ -> try_all ()
