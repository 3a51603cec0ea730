open Effect.Deep
module Suspend = Concord.Tools.Suspend

exception Cancelled

type 'a state =
  | Waits of { cancel : unit -> bool }
  | Returned of 'a
  | Raised of exn * Printexc.raw_backtrace

type 'a t = {
  mutable state : 'a state;
  mutable stopped : bool;
  mutable shields : int;  (** How many calls of [Suspend.protect] it is in. *)
}

let ready : (unit -> unit) Queue.t = Queue.create ()
let before_turn = ref ignore

let before_turns f g =
  before_turn := f;
  Fun.protect g ~finally:(fun () ->
      before_turn := ignore;
      (* A failed test may have left tasks in the queue. *)
      Queue.clear ready)

let settle () =
  while not (Queue.is_empty ready) do
    let go_on = Queue.pop ready in
    !before_turn ();
    go_on ()
  done

let suspend (type a) t before_block (block : a Suspend.resumer -> a option)
    (k : (a, unit) continuation) =
  let decided = ref false and over = ref false in
  let decide go_on =
    (not !decided)
    && begin
      decided := true;
      (* [block] may cancel the task and still return a value. *)
      Queue.push (fun () -> if not !over then go_on ()) ready;
      true
    end
  in
  let resumer = function
    | Ok v -> decide (fun () -> continue k v)
    | Error e -> decide (fun () -> discontinue k e)
  in
  let cancel () = decide (fun () -> discontinue k Cancelled) in
  t.state <- Waits { cancel };
  before_block ();
  match block resumer with
  | None -> ()
  | Some v ->
      decided := true;
      over := true;
      continue k v
  | exception e ->
      decided := true;
      over := true;
      discontinue_with_backtrace k e (Printexc.get_raw_backtrace ())

let shield t (k : (unit -> unit, unit) continuation) =
  t.shields <- t.shields + 1;
  continue k (fun () -> t.shields <- t.shields - 1)

let start ?(before_block = ignore) f =
  let state = Waits { cancel = (fun () -> false) } in
  let t = { state; stopped = false; shields = 0 } in
  !before_turn ();
  match_with f ()
    {
      retc = (fun v -> t.state <- Returned v);
      exnc = (fun e -> t.state <- Raised (e, Printexc.get_raw_backtrace ()));
      effc =
        (fun (type a)
          (e : a Effect.t)
          :
          ((a, unit) continuation -> unit) option
        ->
          match e with
          | Suspend.Suspend _ when t.stopped && t.shields = 0 ->
              Some (fun k -> discontinue k Cancelled)
          | Suspend.Suspend block -> Some (suspend t before_block block)
          | Suspend.Protect -> Some (shield t)
          | _ -> None);
    };
  t

let cancel t =
  match t.state with
  | Waits { cancel } when t.shields = 0 -> cancel ()
  | _ -> false

let stop t =
  t.stopped <- true;
  ignore (cancel t : bool)

let waits t = match t.state with Waits _ -> true | _ -> false

let result t =
  match t.state with
  | Returned v -> v
  | Raised (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waits _ -> Alcotest.fail "the task still waits"

let unwound t = Check.raises "the cancelled task" Cancelled (fun () -> result t)

let unwind t =
  Check.yes "it can be cancelled" (cancel t);
  settle ();
  unwound t

let watch ?strike f =
  let resumed = ref false in
  let suspend block k =
    let resumer _ =
      (not !resumed)
      && begin
        resumed := true;
        Option.iter raise strike;
        true
      end
    in
    match block resumer with
    | None -> ()
    | Some v -> (* this happens while debugging, before a wait *) continue k v
  in
  Handled.until_wait { suspend } f;
  resumed
