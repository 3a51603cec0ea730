type t = {
  by : Who.t;
  mutable since_ns : int;
  held_at : Printexc.raw_backtrace;
  mutable ends : ends;
}

and ends = With_others | Alone of int | Perhaps

let max_frames = 100

(* Unbroken, because the clock is a C function and only that function allocates. *)
let[@inline] now_ns () = Int64.to_int (Mtime_clock.now_ns ())
let make by held_at = { by; since_ns = now_ns (); held_at; ends = With_others }
let held by = make by (Printexc.get_callstack max_frames)
let no_frames () = Printexc.get_callstack 0
let not_ended by = make by (no_frames ())
let nobody = Who.unknown ""
let measured () = make nobody (no_frames ())

(* A time after any report. A report that finds it counts the structure as held for no time. *)
let not_yet = max_int
let not_held_yet holder = holder.since_ns <- not_yet
let is_held holder = holder.since_ns <> not_yet
let held_from_now holder = holder.since_ns <- now_ns ()

let forgotten holder =
  { holder with by = Who.unknown holder.by.host; held_at = no_frames () }

let given =
  let by = { (Who.unknown "") with name = "a task that was given it" } in
  { by; since_ns = 0; held_at = no_frames (); ends = With_others }
