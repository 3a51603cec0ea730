(* [exit] in Lwt's loop, and waiting functions of [at_exit]. Each case runs in its own process. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let plain f = Lwt_main.run (f ())
let runs = [ ("Lwt_main.run", plain); ("Concord_lwt.run", Concord_lwt.run) ]

(* Waits for a value that a thread puts. *)
let wait_for_thread () =
  let box = Mvar.create_empty () in
  let (_ : Thread.t) = Thread.create (fun () -> Mvar.put box "a thread") () in
  Printf.printf "woken by %s\n%!" (Mvar.take box)

(* It is resumed before it sleeps, by a thread that has then ended. *)
let woken_early () =
  let resumed_by_thread resumer =
    let resume () = ignore (resumer (Ok ()) : bool) in
    Thread.join (Thread.create resume ());
    None
  in
  for _ = 1 to 20 do
    Suspend.suspend resumed_by_thread
  done;
  Printf.printf "woken early\n%!"

let wait_in_vain () =
  match Mvar.take (Mvar.create_empty ()) with
  | () -> ()
  | exception Concord_lwt.In_callback -> Printf.printf "refused\n%!"

let leave () = Lwt.map (fun () -> exit 7) (Lwt.pause ())
let woken = "woken by a thread\n"

(* The functions that a child runs, and the text that it prints. A child ends with status 7. *)
let roles =
  [
    ( "a function that waits for a thread",
      woken,
      fun run ->
        at_exit wait_for_thread;
        run leave );
    ( "one that waits for a domain",
      "woken by a domain\n",
      fun run ->
        at_exit (fun () ->
            let box = Mvar.create_empty () in
            let domain = Domain.spawn (fun () -> Mvar.put box "a domain") in
            Printf.printf "woken by %s\n%!" (Mvar.take box);
            Domain.join domain);
        run leave );
    ( "two, and a timeout",
      woken ^ woken,
      fun run ->
        at_exit wait_for_thread;
        at_exit wait_for_thread;
        at_exit (fun () -> Event.sync (Event.timeout 0.001));
        run leave );
    ( "one that is woken by a thread that has ended",
      "woken early\n",
      fun run ->
        at_exit woken_early;
        run leave );
    ( "one that nothing can wake",
      "refused\n",
      fun run ->
        at_exit wait_in_vain;
        run leave );
    ( "in a loop of another domain",
      woken,
      fun run ->
        at_exit wait_for_thread;
        Domain.join (Domain.spawn (fun () -> run leave)) );
    ( "a task of Lwt_direct that exits waits for a callback",
      "woken by a callback\n",
      fun run ->
        let box = Mvar.create_empty () in
        at_exit (fun () -> Printf.printf "woken by %s\n%!" (Mvar.take box));
        run (fun () ->
            let task =
              Lwt_direct.spawn (fun () ->
                  Lwt_direct.yield ();
                  exit 7)
            in
            let put () = Mvar.put box "a callback" in
            Lwt.bind (Lwt_unix.sleep 0.001) (fun () ->
                put ();
                task)) );
    ( "in the loop of Lwt_main.at_exit a callback is refused",
      woken ^ "refused\n",
      fun run ->
        at_exit wait_for_thread;
        Lwt_main.at_exit (fun () -> Lwt.map wait_in_vain (Lwt.pause ()));
        run leave );
  ]

let play role name =
  let _, _, play = List.find (fun (known, _, _) -> known = role) roles in
  ignore (Unix.alarm 60 : int);
  play (List.assoc name runs)

let child role run =
  let self = Sys.executable_name in
  let input = Unix.open_process_args_in self [| self; "child"; role; run |] in
  let printed = In_channel.input_all input in
  (printed, Unix.close_process_in input)

let each (role, expected, _) =
  let each (run, _) =
    let printed, status = child role run in
    strings run [ expected ] [ printed ];
    yes (run ^ ": the exit code") (status = WEXITED 7)
  in
  test role (fun () -> List.iter each runs)

let () =
  match Sys.argv with
  | [| _; "child"; role; run |] -> play role run
  | _ ->
      Check.run "Concord_lwt, exit in the loop"
        [ ("functions of at_exit", List.map each roles) ]
