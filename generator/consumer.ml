open Effect.Deep

exception Closed

let () =
  Printexc.register_printer (function
    | Closed -> Some "Concord_generator.Consumer.Closed"
    | _ -> None)

(* The states are those of a traversal in [Generator]. But a traversal gives values to its
   caller, and here the caller gives values to the code. *)
type ('a, 'r) state =
  | Not_begun
  | Reading of ('a option, unit) continuation
  | Running
  | Ended of ('r, exn * Printexc.raw_backtrace) result

type ('a, 'r) t = {
  state : ('a, 'r) state Atomic.t;
  begin_ : unit -> unit;  (** Runs up to the first read. *)
}

let create (type a r) (f : (unit -> a option) -> r) : (a, r) t =
  let module M = struct
    type _ Effect.t += Read : a option Effect.t
  end in
  let state : (a, r) state Atomic.t = Atomic.make Not_begun in
  let retc r = Atomic.set state (Ended (Ok r))
  and exnc e =
    let backtrace = Printexc.get_raw_backtrace () in
    Atomic.set state (Ended (Error (e, backtrace)));
    match e with Closed -> () | e -> Printexc.raise_with_backtrace e backtrace
  and effc (type b) (e : b Effect.t) : ((b, unit) continuation -> unit) option =
    match e with
    | M.Read -> Some (fun k -> Atomic.set state (Reading k))
    | _ -> None
  in
  let begin_ () =
    match_with f (fun () -> Effect.perform M.Read) { retc; exnc; effc }
  in
  { state; begin_ }

let refuse_to name =
  Printf.ksprintf invalid_arg
    "Consumer.%s: the code is already running. It was called inside of the \
     code, or by two tasks at once"
    name

(* Continues the code where it reads. If it has not begun, it first runs to its first read. If
   it has ended, the result is [ended]'s. *)
let rec resume t name continue_ ~ended =
  match Atomic.get t.state with
  | Running -> refuse_to name
  | Ended outcome -> ended outcome
  | (Not_begun | Reading _) as before -> (
      if not (Atomic.compare_and_set t.state before Running) then
        (* Another task was faster. *)
        resume t name continue_ ~ended
      else
        match before with
        | Reading k -> continue_ k
        | Not_begun | Running | Ended _ ->
            t.begin_ ();
            resume t name continue_ ~ended)

let push t v = resume t "push" (fun k -> continue k (Some v)) ~ended:ignore

let of_outcome = function
  | Ok r -> r
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

let rec finish t =
  resume t "finish" ~ended:of_outcome (fun k ->
      continue k None;
      finish t)

let result t =
  match Atomic.get t.state with
  | Ended outcome -> Some (of_outcome outcome)
  | Not_begun | Reading _ | Running -> None

let rec close t =
  let closed = Ended (Error (Closed, Printexc.get_callstack 0)) in
  if not (Atomic.compare_and_set t.state Not_begun closed) then
    resume t "close" ~ended:ignore (fun k ->
        discontinue k Closed;
        close t)
