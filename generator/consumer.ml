open Effect.Deep

exception Closed

let () =
  Printexc.register_printer (function
    | Closed -> Some "Concord_generator.Consumer.Closed"
    | _ -> None)

(* As the states of a traversal in [Generator]; what a traversal gives to whom it yields
   is here given by whom it reads from. *)
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
    "Consumer.%s: the code is running: it was called inside of the code, or by \
     two tasks at once"
    name

(* Continues the code where it reads, after it has begun; or is [ended], if it has ended. *)
let rec resume t name continue_ ~ended =
  match Atomic.get t.state with
  | Running -> refuse_to name
  | Ended outcome -> ended outcome
  | (Not_begun | Reading _) as before -> (
      if not (Atomic.compare_and_set t.state before Running) then
        (* another task was faster *)
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
