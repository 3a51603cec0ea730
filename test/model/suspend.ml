(* The library's effect; [Model] handles it. *)

type 'a resumer = ('a, exn) result -> bool
type _ Effect.t += Suspend : ('a resumer -> 'a option) -> 'a Effect.t

let suspend block = Effect.perform (Suspend block)

(* From here to [Host] as in the library. *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = {
  arg : 'x;
  choice : Waiter.choice;
  mutable resume : ('a, exn) result -> bool;
  traced : unit Atomic.t;
}

type ('t, 'x, 'a) operation = {
  attempt : 't -> 'x -> 'a option;
  enlist : 't -> ('x, 'a) waiter -> bool;
  withdraw : 't -> ('x, 'a) waiter -> unit;
}

let rec block operation t w resumer =
  w.resume <- resumer;
  if operation.enlist t w then None
  else begin
    Waiter.leave w;
    match operation.attempt t w.arg with
    | Some _ as got -> got
    | None -> block operation t w resumer
  end

let withdraw operation t w =
  if Waiter.is_live w then begin
    Waiter.leave w;
    operation.withdraw t w
  end

let wait operation t arg =
  let w = Waiter.make arg in
  match suspend (fun resumer -> block operation t w resumer) with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      withdraw operation t w;
      Printexc.raise_with_backtrace e backtrace

type reaching = { reaching : 'b. 'b Effect.t -> unit }
type host = Suspends | Parks

let at_once _ = Some ()

let reach_host { reaching } =
  let effect_ = Suspend at_once in
  reaching effect_;
  match Effect.perform effect_ with () -> Suspends

let is_cancelled () =
  match reach_host { reaching = ignore } with
  | Suspends | Parks -> false
  | exception _ -> true

module Host = struct
  type scope = { fork : (unit -> unit) -> unit; cancel : unit -> unit }
  type scopes = { scope : 'a. (scope -> 'a) -> 'a }

  type _ Effect.t +=
    | Protect : (unit -> unit) Effect.t
    | Ask = Forcing.Ask
    | Scopes : scopes Effect.t

  let ask question ~otherwise =
    Some (Effect.perform (Ask { question; otherwise }))

  type t = unit

  let create () = ()
  let using () loop = loop ()
  let is_innermost () = true
end

let protect f =
  match Effect.perform Host.Protect with
  | exception Effect.Unhandled Host.Protect -> f ()
  | unprotect -> Fun.protect ~finally:unprotect f
