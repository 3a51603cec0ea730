(* Tasks with a time limit that passes while another domain gives them what they wait for, and
   while their host cancels them. *)

open Concord

exception Boom

type host = {
  run : (unit -> unit) -> unit;
  fork : ((unit -> unit) -> unit -> unit) option;
      (** Runs the function in a task until it waits. The result cancels the
          task. *)
  is_cancellation : exn -> bool;
}

type outcome = Returned of int | Raised | Late | Cancelled

let kinds host =
  let cancelled = if Option.is_some host.fork then [ Cancelled ] else [] in
  [ Returned 0; Raised; Late ] @ cancelled

let kind = function Returned _ -> Returned 0 | outcome -> outcome

let pause pauses =
  for _ = 1 to pauses do
    Domain.cpu_relax ()
  done

(* Puts each number into its box, after some pauses. *)
let rec serve asked =
  match Mailbox.take asked with
  | None -> ()
  | Some (box, number, pauses) ->
      pause pauses;
      Mvar.put box number;
      serve asked

let outcome host limit f =
  match Tasks.with_timeout limit f with
  | Some v -> Returned v
  | None -> Late
  | exception Boom -> Raised
  | exception e when host.is_cancellation e -> Cancelled

let round host random asked number =
  let box = Mvar.create_empty () and ended = Promise.create () in
  let raises = Random.State.int random 3 = 0
  and cancels = Random.State.int random 3 = 0 in
  (* The limit often passes while [f] computes, which changes nothing. *)
  let f () =
    let v = Mvar.take box in
    if Random.State.bool random then pause (Random.State.int random 10_000);
    if raises then raise Boom else v
  in
  let limit = Random.State.float random 3e-4 in
  let task () = Promise.fill ended (outcome host limit f) in
  Mailbox.add asked (Some (box, number, Random.State.int random 3_000));
  (match host.fork with
  | None -> task ()
  | Some fork ->
      let cancel = fork task in
      if cancels then begin
        for _ = 1 to Random.State.int random 20 do
          Tasks.yield ()
        done;
        if not (Promise.is_resolved ended) then cancel ()
      end);
  let outcome = Promise.await ended in
  (match outcome with
  | Returned v ->
      Check.int "the number" number v;
      Check.no "it raised" raises;
      Check.yes "the box is empty" (Mvar.is_empty box)
  | Raised ->
      Check.yes "it raised" raises;
      Check.yes "the box is empty" (Mvar.is_empty box)
  | Late | Cancelled -> (
      match Event.sync_before 20. (Mvar.take_evt box) with
      | Some v -> Check.int "the number that is left" number v
      | None -> Alcotest.fail "the number was lost"));
  Check.int "no task waits" 0 (Mvar.waiters box);
  kind outcome

(* Goes on until each kind of outcome was seen, which takes longer on a busy machine. *)
let storm host () =
  let random = Race.random 0 and asked = Mailbox.create () in
  let partner = Domain.spawn (fun () -> serve asked) in
  let until = Unix.gettimeofday () +. 30. in
  let rec rounds number seen =
    let seen =
      List.sort_uniq compare (round host random asked number :: seen)
    in
    if number < Race.often 200 || seen <> List.sort compare (kinds host) then
      if Unix.gettimeofday () < until then rounds (number + 1) seen
      else Alcotest.fail "not all outcomes were seen"
  in
  Fun.protect
    ~finally:(fun () ->
      Mailbox.add asked None;
      Domain.join partner)
    (fun () -> host.run (fun () -> rounds 1 []))

let fifo cancellation =
  {
    run = (fun f -> Concord_fifo.run ~cancellation f);
    fork =
      Some
        (fun f ->
          let handle = Concord_fifo.fork f in
          fun () -> Concord_fifo.cancel handle);
    is_cancellation = (fun e -> e = Concord_fifo.Cancelled);
  }

let thread =
  { run = (fun f -> f ()); fork = None; is_cancellation = (fun _ -> false) }

let on_a_domain host =
  {
    host with
    run = (fun f -> Domain.join (Domain.spawn (fun () -> host.run f)));
  }
