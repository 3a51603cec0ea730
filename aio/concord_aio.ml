include Descriptor
include Channel
module Event = Concord.Event

let flush_standard () =
  match flush stdout with
  | () -> flush stderr
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (* the first exception counts *)
      (try flush stderr with _ -> ());
      Printexc.raise_with_backtrace e backtrace

(* After all tasks, and still in the loop. *)
let run f =
  Readiness.run @@ fun () ->
  match Concord_fifo.Scope.run (fun _ -> f ()) with
  | v ->
      flush_standard ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (* the first exception counts *)
      (try flush_standard () with _ -> ());
      Printexc.raise_with_backtrace e backtrace

let readable_evt fd = Readiness.evt fd Read
let writable_evt fd = Readiness.evt fd Write

let getaddrinfo host service options =
  Workers.run Names (fun () -> Unix.getaddrinfo host service options)

let getnameinfo address options =
  Workers.run Names (fun () -> Unix.getnameinfo address options)

let sleepf seconds = Event.sync (Event.timeout seconds)
let sleep seconds = sleepf (float seconds)

let with_file name flags perm f =
  let fd = openfile name flags perm in
  Fun.protect ~finally:(fun () -> close fd) (fun () -> f fd)

let with_open_in name f =
  let ic = open_in name in
  Fun.protect ~finally:(fun () -> close_in_noerr ic) (fun () -> f ic)

let with_open_out name f =
  let oc = open_out name in
  match f oc with
  | v ->
      close_out oc;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      close_out_noerr oc;
      Printexc.raise_with_backtrace e backtrace
