type t =
  | Direct of (module Concord_styles.Direct)
  | Trampolined of (module Concord_styles.Trampolined)
  | Monadic of (module Concord_styles.Monadic)

let light =
  let open Concord_styles in
  [
    ("callcc", Direct (module Callcc));
    ("delimited", Direct (module Delimited));
    ("trampoline", Trampolined (module Trampoline));
    ("continuation", Monadic (module Continuation));
    ("promise", Monadic (module Promise));
    ("events", Trampolined (module Events));
  ]

let all = ("threads", Direct (module Concord_styles.Threads)) :: light
