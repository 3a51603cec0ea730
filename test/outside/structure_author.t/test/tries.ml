(* The same cases on three hosts, and between them. *)

open Concord

let say fmt = Printf.printf (fmt ^^ "\n%!")

let pair t =
  let a, b =
    Tasks.both
      (fun () -> Exchanger.exchange t "a")
      (fun () -> Exchanger.exchange t "b")
  in
  say "  the first has %s, the second %s" a b

(* The two alternatives don't meet, because they belong to the same task. *)
let not_itself t =
  let mine = List.map (Exchanger.exchange_evt t) [ "mine"; "also mine" ] in
  match Event.sync_before 0.01 (Event.choose mine) with
  | Some v -> say "  met itself: %s" v
  | None -> say "  alone, it waits; waiters left: %d" (Exchanger.waiters t)

let two_choices () =
  let left = Exchanger.create () and right = Exchanger.create () in
  let choose name () =
    Event.select
      [ Exchanger.exchange_evt left name; Exchanger.exchange_evt right name ]
  in
  let a, b = Tasks.both (choose "a") (choose "b") in
  say "  of two choices the first has %s, the second %s; waiters left: %d" a b
    (Exchanger.waiters left + Exchanger.waiters right)

exception Enough

(* One task of a scope fails. The waiting task is cancelled, and has given nothing. *)
let cancelled t =
  (try
     Scope.run (fun scope ->
         Scope.fork scope (fun () -> ignore (Exchanger.exchange t "lost"));
         while Exchanger.waiters t = 0 do
           Tasks.yield ()
         done;
         raise Enough)
   with Enough -> ());
  let a, b =
    Tasks.both
      (fun () -> Exchanger.exchange t "a")
      (fun () -> Exchanger.exchange t "b")
  in
  say "  after a cancellation: %s, %s" a b

let cases host =
  say "%s" host;
  let t = Exchanger.create () in
  pair t;
  not_itself t;
  two_choices ();
  cancelled t

let () =
  cases "a thread";
  Concord_fifo.run (fun () -> cases "Fifo");
  Eio_main.run (fun _ -> cases "Eio");
  (* A fiber and a thread, in two domains. *)
  let t = Exchanger.create () in
  let domain =
    Domain.spawn (fun () ->
        Eio_main.run (fun _ -> Exchanger.exchange t "fiber's"))
  in
  let here = Exchanger.exchange t "thread's" in
  say "between two: the thread has the %s, the fiber the %s" here
    (Domain.join domain);
  (* Nothing is lost or duplicated. Each value exists exactly once. *)
  let n = 1_000 and t = Exchanger.create () in
  let crew first = List.init n (fun i () -> Exchanger.exchange t (first + i)) in
  let values =
    [
      Domain.spawn (fun () -> Concord_fifo.run (fun () -> Tasks.all (crew 0)));
      Domain.spawn (fun () -> Eio_main.run (fun _ -> Tasks.all (crew n)));
    ]
    |> List.concat_map Domain.join
    |> List.sort compare
  in
  say "each of %d values once: %b" (2 * n) (values = List.init (2 * n) Fun.id)
