open Concord.Tools
open Concord_testkit

type side = { number : int; resumer : int Suspend.resumer }

type t = {
  lock : Stdlib.Mutex.t;
  mutable takers : side list;
  mutable givers : side list;
}

let create _ = { lock = Stdlib.Mutex.create (); takers = []; givers = [] }
let protect t f = Stdlib.Mutex.protect t.lock f

(* The first waiter there that accepts. *)
let rec meet t ~others ~set_others number =
  let first =
    protect t (fun () ->
        match others t with
        | [] -> None
        | side :: rest ->
            set_others t rest;
            Some side)
  in
  match first with
  | None -> None
  | Some side ->
      if side.resumer (Ok number) then Some side.number
      else meet t ~others ~set_others number

let pass ~looks ~others ~set_others ~own ~set_own t number =
  match meet t ~others ~set_others number with
  | Some got -> got
  | None -> (
      let mine = ref None in
      let rec block resumer =
        let enlisted =
          protect t (fun () ->
              ((not looks) || others t = [])
              && begin
                let side = { number; resumer } in
                mine := Some side;
                set_own t (own t @ [ side ]);
                true
              end)
        in
        if enlisted then None
        else
          match meet t ~others ~set_others number with
          | Some got -> Some got
          | None -> block resumer
      in
      try Suspend.suspend block
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        let others side =
          match !mine with Some mine -> side != mine | None -> true
        in
        protect t (fun () -> set_own t (List.filter others (own t)));
        Printexc.raise_with_backtrace e backtrace)

let takers t = t.takers
let givers t = t.givers
let set_takers t takers = t.takers <- takers
let set_givers t givers = t.givers <- givers

let trade ~looks : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type nonrec t = t

    let name = "trade"
    let service = Operation.Trades
    let create = create
    let keeps = false

    let wait =
      pass ~looks ~others:givers ~set_others:set_givers ~own:takers
        ~set_own:set_takers

    let release =
      pass ~looks ~others:takers ~set_others:set_takers ~own:givers
        ~set_own:set_givers
  end)
