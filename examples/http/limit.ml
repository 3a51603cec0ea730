open Concord

type t = { due : Mtime.t; drain : unit Promise.t; idle : bool }

let never = { due = Mtime.max_stamp; drain = Promise.create (); idle = false }

let after ?(idle = false) drain seconds =
  let span = Mtime.Span.of_float_ns (seconds *. 1e9) in
  let due = Option.bind span (Mtime.add_span (Mtime_clock.now ())) in
  { due = Option.value due ~default:Mtime.max_stamp; drain; idle }

let is_past time = not (Mtime.is_later time ~than:(Mtime_clock.now ()))
let is_drained t = t.idle && Promise.is_resolved t.drain
let is_reached t = is_drained t || is_past t.due

let at due =
  Event.guard @@ fun () ->
  let now = Mtime_clock.now () in
  if Mtime.is_later due ~than:now then
    Event.timeout (Mtime.Span.to_float_ns (Mtime.span due now) *. 1e-9)
  else Event.always ()

let event t =
  if t.idle then Event.choose [ at t.due; Promise.await_evt t.drain ]
  else at t.due
