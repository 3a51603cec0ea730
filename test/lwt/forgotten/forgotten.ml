(* A program that links no adapter. A thread wakes each of its tasks that wait. *)

open Concord

(* Another thread fills the promise, so the wait ends even if it blocks a loop. *)
let wait () =
  let p = Promise.create () in
  let t = Thread.create (fun () -> Promise.fill p ()) () in
  Tasks.sleep 0.001;
  Promise.await p;
  Thread.join t

(* The pause is for Lwt 6.1: if the first tasks of [Lwt_direct] end before the loop first sleeps,
   it sleeps on, with libev for a minute. *)
let lwt_direct () =
  Lwt_main.run (Lwt.bind (Lwt.pause ()) (fun () -> Lwt_direct.spawn wait))

let lwt_callback () =
  Lwt_main.run (Lwt.bind (Lwt.pause ()) (fun () -> Lwt.return (wait ())))

type _ Effect.t += Number : int Effect.t

(* A handler of the program's own, which is no scheduler. *)
let handler () =
  let open Effect.Deep in
  match_with
    (fun () ->
      wait ();
      assert (Effect.perform Number = 7))
    ()
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Number ->
              Some (fun (k : (a, unit) continuation) -> continue k (7 : a))
          | _ -> None);
    }

let eio () = Eio_main.run (fun _ -> wait ())
let pool () = Domain.join (Domain.spawn wait)

let () =
  Array.iteri
    (fun i mode ->
      if i > 0 then
        List.assoc mode
          [
            ("lwt_direct", lwt_direct);
            ("lwt_callback", lwt_callback);
            ("handler", handler);
            ("eio", eio);
            ("domain", pool);
            ("thread", wait);
          ]
          ())
    Sys.argv;
  print_endline "done"
