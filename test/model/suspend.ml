(* The library's effect; [Model] handles it. *)

type 'a resumer = ('a, exn) result -> bool
type _ Effect.t += Suspend : ('a resumer -> 'a option) -> 'a Effect.t

let suspend block = Effect.perform (Suspend block)

(* As in the library. *)
let wait block withdraw structure waiter =
  match suspend (fun resumer -> block structure waiter resumer) with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      withdraw structure waiter;
      Printexc.raise_with_backtrace e backtrace

module Host = struct
  type _ Effect.t += Protect : (unit -> unit) Effect.t
  type t = unit

  let create () = ()
  let using () loop = loop ()
  let is_innermost () = true
end

let protect f =
  match Effect.perform Host.Protect with
  | exception Effect.Unhandled Host.Protect -> f ()
  | unprotect -> Fun.protect ~finally:unprotect f
