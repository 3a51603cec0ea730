module Promise = Concord.Promise
module Blocking = Concord.Blocking

type kind = Files | Names

let threads = 64
let files = Blocking.create ~name:"files" ~threads ()
let names = Blocking.create ~name:"names" ~threads ()
let pool = function Files -> files | Names -> names
let running () = Blocking.threads files
let start kind ~drop f = Blocking.start (pool kind) ~signals:false ~drop f

let run ?(drop = ignore) kind f =
  Blocking.await_or_drop (start kind ~drop f) ~drop

let run_protected kind f =
  let promise, withdraw = start kind ~drop:ignore f in
  try Promise.await promise
  with e -> (
    let backtrace = Printexc.get_raw_backtrace () in
    if withdraw () then Printexc.raise_with_backtrace e backtrace
    else
      match Uncancelled.await promise with
      | Ok v -> v
      | Error _ -> Promise.await promise)
