module Mutex = Stdlib.Mutex
module Condition = Stdlib.Condition

type work = Nothing | Do of (unit -> unit) | Done of exn option | Stop

type t = {
  mutex : Mutex.t;
  changed : Condition.t;
  mutable work : work;
  mutable join : unit -> unit;
}

let set t work =
  Mutex.protect t.mutex (fun () ->
      t.work <- work;
      Condition.broadcast t.changed)

(* Waits until [f] returns a value, and returns it. *)
let wait t f =
  Mutex.protect t.mutex (fun () ->
      let rec go () =
        match f t.work with
        | Some v -> v
        | None ->
            Condition.wait t.changed t.mutex;
            go ()
      in
      go ())

let rec serve t =
  let next =
    wait t (function
      | Do f -> Some (Some f)
      | Stop -> Some None
      | Nothing | Done _ -> None)
  in
  match next with
  | None -> ()
  | Some f ->
      set t (Done (match f () with () -> None | exception e -> Some e));
      serve t

let make start =
  let t =
    {
      mutex = Mutex.create ();
      changed = Condition.create ();
      work = Nothing;
      join = ignore;
    }
  in
  t.join <- Check.with_signals_blocked (fun () -> start (fun () -> serve t));
  t

let thread () = make Check.thread
let domain () = make Check.domain
let lasting = lazy (domain ())
let lasting_domain () = Stdlib.Lazy.force lasting
let ask t f = set t (Do f)

let join t =
  let raised =
    wait t (function
      | Done raised -> Some raised
      | Nothing | Do _ | Stop -> None)
  in
  set t Nothing;
  Option.iter raise raised

let stop t =
  set t Stop;
  t.join ()
