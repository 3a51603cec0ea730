module Lock = Stdlib.Mutex
open Concord.Tools
open Concord_testkit

type fault =
  | Nothing
  | Grows_by_leaving
  | Grows_by_refusing
  | Grows_by_takers
  | Looks_then_adds

type adder = { number : int; resumer : int Suspend.resumer }

type queue = {
  lock : Lock.t;
  fault : fault;
  mutable free : int;
  mutable items : int list;  (** Oldest first, like the adders. *)
  mutable adders : adder list;
}

let capacity = 2

let create fault _ =
  {
    lock = Lock.create ();
    fault;
    free = 0;
    items = List.init capacity (fun _ -> 0);
    adders = [];
  }

let attempt t number =
  t.free > 0
  && begin
    t.free <- t.free - 1;
    t.items <- t.items @ [ number ];
    true
  end

let leave t mine =
  Lock.protect t.lock @@ fun () ->
  if t.fault = Grows_by_leaving then t.free <- t.free + 1;
  t.adders <- List.filter (fun adder -> adder != mine) t.adders

let add t number =
  let is_free = Lock.protect t.lock (fun () -> t.free > 0) in
  let has_added =
    Lock.protect t.lock @@ fun () ->
    if t.fault = Looks_then_adds && is_free then t.free <- max 1 t.free;
    attempt t number
  in
  if not has_added then begin
    let mine = ref None in
    let block resumer =
      Lock.protect t.lock @@ fun () ->
      if attempt t number then Some 0
      else begin
        let adder = { number; resumer } in
        mine := Some adder;
        t.adders <- t.adders @ [ adder ];
        None
      end
    in
    try ignore (Suspend.suspend block : int)
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Option.iter (leave t) !mine;
      Printexc.raise_with_backtrace e backtrace
  end

(* A slot has become free. It goes to the first adder that accepts. *)
let rec pass_on t =
  let first =
    Lock.protect t.lock @@ fun () ->
    match t.adders with
    | [] ->
        t.free <- t.free + 1;
        None
    | adder :: adders ->
        t.adders <- adders;
        Some adder
  in
  match first with
  | None -> ()
  | Some adder ->
      if adder.resumer (Ok 0) then
        Lock.protect t.lock (fun () -> t.items <- t.items @ [ adder.number ])
      else begin
        if t.fault = Grows_by_refusing then
          Lock.protect t.lock (fun () -> t.free <- t.free + 1);
        pass_on t
      end

let take t =
  let item =
    Lock.protect t.lock @@ fun () ->
    match t.items with
    | [] ->
        if t.fault = Grows_by_takers then t.free <- t.free + 1;
        None
    | item :: items ->
        t.items <- items;
        Some item
  in
  match item with
  | None -> 0
  | Some item ->
      pass_on t;
      item

let operation fault : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = queue

    let name = "add"
    let service = Operation.Gives
    let create = create fault

    let wait t number =
      add t number;
      0

    let release t _ = take t
  end)
