type 'a resumer = ('a, exn) result -> bool
type scope = { fork : (unit -> unit) -> unit; cancel : unit -> unit }
type scopes = { run : 'a. (scope -> 'a) -> 'a }

type _ Effect.t +=
  | Suspend : ('a resumer -> 'a option) -> 'a Effect.t
  | Protect : (unit -> unit) Effect.t
  | Yield : unit Effect.t
  | Scopes : scopes Effect.t
  | Ask : { question : 'a Effect.t; otherwise : 'a } -> 'a Effect.t
