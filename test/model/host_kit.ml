module Decision = Decision

let weakly resumer = resumer

include Registered

let scopes () =
  match Effect.perform Concord_suspend.Scopes with
  | scopes -> Some scopes
  | exception Effect.Unhandled Concord_suspend.Scopes -> None
