(* Monadic style together with Lwt's own features: storage, code in direct style, lazy values. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* --- Sequence-associated storage ------------------------------------------ *)

let key : int Lwt.key = Lwt.new_key ()

let storage () =
  Concord_test_hosts.Waking.with_jobs Check.domain @@ fun start ->
  run @@ fun () ->
  let each (name, make) =
    let { Waits.wait; wake; _ } = make () in
    let other () = yes (name ^ ": outside") (Lwt.get key = None) in
    let p =
      Lwt.with_value key (Some 1) (fun () ->
          let* ok = wait () in
          yes name ok;
          yes (name ^ ": after the wait") (Lwt.get key = Some 1);
          Lwt.pause ())
    in
    other ();
    start wake;
    let+ () = p in
    other ()
  in
  let* () = Lwt_list.iter_s each Cases.monadic in
  (* The storage in the code itself. *)
  let p = Promise.create () in
  let inside =
    Lwt.with_value key (Some 2) (fun () ->
        Concord_lwt.direct (fun () ->
            yes "before" (Lwt.get key = Some 2);
            Promise.await p;
            yes "after" (Lwt.get key = Some 2)))
  in
  yes "outside" (Lwt.get key = None);
  start (Promise.fill p);
  inside

(* --- direct --------------------------------------------------------------- *)

(* Others run meanwhile, and the clean-up of the code runs. *)
let direct () =
  traced [ "begins"; "another"; "goes on"; "finally"; "failed" ] @@ fun say ->
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let p =
    Concord_lwt.direct (fun () ->
        Fun.protect ~finally:(fun () -> say "finally") @@ fun () ->
        say "begins";
        Mvar.take box;
        say "goes on";
        raise Boom)
  in
  say "another";
  let* () = Concord_lwt.Mvar.put box () in
  let+ () = fails "direct" Boom (fun () -> p) in
  say "failed"

let lazies () =
  let runs = ref 0 and p = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        Promise.await p)
  in
  run @@ fun () ->
  let all = List.init 10 (fun _ -> Concord_lwt.Lazy.force t) in
  int "one computes, nine wait" 9 (Lazy.waiters t);
  Check.in_domain (fun () -> Promise.fill p 1);
  let* vs = Lwt.all all in
  yes "all have it" (List.for_all (( = ) 1) vs);
  int "computed once" 1 !runs;
  let rec u =
    lazy (Concord.Lazy.from_fun (fun () -> Lazy.force (Stdlib.Lazy.force u)))
  in
  fails "itself" Lazy.Undefined (fun () ->
      Concord_lwt.Lazy.force (Stdlib.Lazy.force u))

let () =
  Check.run "Concord_lwt, style"
    [
      ( "style",
        [
          test "storage is the same before and after" storage;
          test "direct" direct;
          test "a lazy value is computed once" lazies;
        ] );
    ]
