open Effect.Deep
module Suspend = Concord.Suspend

exception Cancelled

type 'a state =
  | Waits of { cancel : unit -> bool }
  | Returned of 'a
  | Raised of exn * Printexc.raw_backtrace

type 'a t = { mutable state : 'a state }

let ready : (unit -> unit) Queue.t = Queue.create ()

let settle () =
  while not (Queue.is_empty ready) do
    (Queue.pop ready) ()
  done

let suspend (type a) t before_block (block : a Suspend.resumer -> a option)
    (k : (a, unit) continuation) =
  let decided = ref false in
  let decide go_on =
    (not !decided)
    && begin
      decided := true;
      Queue.push go_on ready;
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
      continue k v
  | exception e ->
      decided := true;
      discontinue_with_backtrace k e (Printexc.get_raw_backtrace ())

let start ?(before_block = ignore) f =
  let t = { state = Waits { cancel = (fun () -> false) } } in
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
          | Suspend.Suspend block -> Some (suspend t before_block block)
          | _ -> None);
    };
  t

let cancel t = match t.state with Waits { cancel } -> cancel () | _ -> false
let waits t = match t.state with Waits _ -> true | _ -> false

let result t =
  match t.state with
  | Returned v -> v
  | Raised (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waits _ -> Alcotest.fail "the task still waits"
