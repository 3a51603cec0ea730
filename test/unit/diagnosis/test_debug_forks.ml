(* Reports name the task that forked a waiting task, and show where. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Reported

let origin_of name =
  match all_in name (until_there name 1) with
  | [ { origin = Some origin; task; _ } ] -> (origin, task)
  | _ -> Alcotest.failf "%s: no origin" name

(* A task forks one that forks one that waits. [forks] forks in the scheduler's own way. *)
let forked kind run forks () =
  let name = "forked by " ^ kind in
  let box = Debug.named name (Mvar.create_empty ())
  and parents = Debug.named (name ^ ", parent") (Mvar.create_empty ()) in
  let ended =
    thread (fun () ->
        run (fun () ->
            let[@inline never] forks_twice () =
              forks (fun () ->
                  forks (fun () -> Mvar.take box);
                  Mvar.take parents);
              ignore (Sys.opaque_identity 0 : int)
            in
            forks_twice ()))
  in
  let of_child, _ = origin_of name in
  let of_parent, parent = origin_of (name ^ ", parent") in
  int "the child's parent" parent.id of_child.parent.id;
  yes "which is another task" (of_parent.parent.id <> parent.id);
  yes "where"
    (List.exists
       (fun frame -> contains frame "forks_twice")
       (frames_of of_parent.forked_at));
  Mvar.put box ();
  Mvar.put parents ();
  ended ()

let[@inline never] starts_here start box =
  let ended = start (fun () -> Mvar.take box) in
  Sys.opaque_identity ended

let started kind start () =
  let name = "started as a " ^ kind in
  let box = Debug.named name (Mvar.create_empty ()) in
  let ended = starts_here start box in
  let origin, task = origin_of name in
  yes "by another one" (origin.parent.id <> task.id);
  yes "where"
    (List.exists
       (fun frame -> contains frame "starts_here")
       (frames_of origin.forked_at));
  Mvar.put box ();
  Promise.await ended

let () =
  run "Debug: which task forked which"
    [
      ( "forked",
        [
          test "by Fifo"
            (forked "Fifo" Concord_fifo.run (fun f ->
                 ignore (Concord_fifo.fork f : Concord_fifo.handle)));
          test "in a scope"
            (let scope = ref None in
             forked "a scope"
               (fun f ->
                 Concord_fifo.run (fun () ->
                     Scope.run (fun opened ->
                         scope := Some opened;
                         f ())))
               (fun f -> Scope.fork (Option.get !scope) f));
          test "as a thread" (started "thread" Promise.in_thread);
          test "as a domain" (started "domain" Promise.in_domain);
        ] );
    ]
