module type S = sig
  type network

  val setup : int -> network
  val run : network -> int array
  val forget : unit -> unit
end

module type WRITTEN = sig
  module Direct (_ : Concord_styles.Direct) : S
  module Trampolined (_ : Concord_styles.Trampolined) : S
  module Monadic (_ : Concord_styles.Monadic) : S

  val sequential : int -> int array
end

let in_style (module Program : WRITTEN) style : (module S) =
  match style with
  | Style.Direct (module Lwc) -> (module Program.Direct (Lwc))
  | Style.Trampolined (module Lwc) -> (module Program.Trampolined (Lwc))
  | Style.Monadic (module Lwc) -> (module Program.Monadic (Lwc))
