(* The hosts' own timers and descriptors, while tasks are always ready. *)

open Concord_test_hosts
open Turn_cases

(* --- Lwt ---------------------------------------------------------------------- *)

let in_lwt name loop start =
  {
    name;
    run =
      (fun ~alarm main ->
        loop (fun () ->
            let timer = Lwt.map alarm (Lwt_unix.sleep soon) in
            Lwt.join [ start main; timer ]));
  }

let concord_lwt = Concord_lwt.run
let lwt_main f = Lwt_main.run (f ())
let direct = in_lwt "Concord_lwt.direct" concord_lwt Concord_lwt.direct
let spawned = in_lwt "Lwt_direct.spawn" lwt_main Lwt_direct.spawn

(* The loop is registered, but doesn't handle the effects of these tasks. *)
let spawned_in_run =
  in_lwt "Lwt_direct.spawn, in Concord_lwt.run" concord_lwt Lwt_direct.spawn

(* The kernel wakes Lwt's loop, instead of a timer. *)
let descriptor =
  {
    name = "Concord_lwt.direct, a descriptor";
    run =
      (fun ~alarm main ->
        concord_lwt (fun () ->
            let input, output = Lwt_unix.pipe () in
            let sleep = Thread.create (fun () -> Thread.delay soon) () in
            let write () =
              Thread.join sleep;
              ignore
                (Unix.write_substring (Lwt_unix.unix_file_descr output) "." 0 1
                  : int)
            in
            let writer = Thread.create write () in
            let read =
              Lwt.bind
                (Lwt_unix.read input (Bytes.create 1) 0 1)
                (fun _ ->
                  alarm ();
                  Thread.join writer;
                  Lwt.join [ Lwt_unix.close input; Lwt_unix.close output ])
            in
            Lwt.join [ Concord_lwt.direct main; read ]));
  }

(* The tasks are promises. *)
let promises =
  let rec until over step =
    if over () then Lwt.return_unit
    else Lwt.bind (step ()) (fun () -> until over step)
  in
  let exchange over =
    let there = Concord.Mvar.create_empty ()
    and back = Concord.Mvar.create_empty () in
    let first () =
      until over (fun () ->
          Lwt.bind (Concord_lwt.Mvar.put there ()) (fun () ->
              Concord_lwt.Mvar.take back))
    and second () =
      until over (fun () ->
          Lwt.bind (Concord_lwt.Mvar.take there) (fun () ->
              Concord_lwt.Mvar.put back ()))
    in
    Lwt.pick [ first (); second () ]
  in
  let served () =
    let alarmed = ref false in
    let until = Unix.gettimeofday () +. patience in
    let over () = !alarmed || Unix.gettimeofday () > until in
    concord_lwt (fun () ->
        let timer = Lwt.map (fun () -> alarmed := true) (Lwt_unix.sleep soon) in
        Lwt.bind (exchange over) (fun () ->
            Concord_test_support.Check.yes
              "the alarm came while the promises were busy" !alarmed;
            timer))
  in
  ( "Concord_lwt's promises",
    [ Concord_test_support.Check.test "two promises exchange messages" served ]
  )

(* --- Eio ---------------------------------------------------------------------- *)

let eio =
  {
    name = "Eio";
    run =
      (fun ~alarm main ->
        Eio_main.run @@ fun env ->
        let timer () =
          Eio.Time.sleep (Eio.Stdenv.clock env) soon;
          alarm ()
        in
        Eio.Fiber.both timer main);
  }

(* --- Fifo with descriptors ------------------------------------------------------ *)

let aio =
  {
    name = "Concord_aio";
    run =
      (fun ~alarm main ->
        Concord_aio.run @@ fun () ->
        let timer () =
          Concord.Tasks.sleep soon;
          alarm ()
        in
        ignore (Concord.Tasks.both timer main : unit * unit));
  }

let fifo =
  {
    name = "Fifo";
    run =
      (fun ~alarm main ->
        Concord_fifo.run @@ fun () ->
        let timer () =
          Concord.Tasks.sleep soon;
          alarm ()
        in
        ignore (Concord.Tasks.both timer main : unit * unit));
  }

let () =
  Concord_test_support.Check.run
    "Turns of the host, while tasks are always ready"
    (promises
    :: List.map on
         ([ direct; spawned; spawned_in_run; descriptor; eio; fifo; aio ]
         @ List.concat_map
             (fun inside ->
               List.map inside [ direct; spawned; spawned_in_run; eio ])
             [
               within "Concord_fifo" Concord_fifo.run;
               within "Concord_policies.Fifo"
                 (Concord_policies.Fifo.run ?priority:None);
             ]))
