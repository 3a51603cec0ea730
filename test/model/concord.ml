module Promise = Promise

module Tools = struct
  module Suspend = Suspend
  module Host_kit = Host_kit
  module Structure_kit = Structure_kit
end

(* The internal modules that the porter and concord-aio use. *)
module Private = struct
  module Atomically = Atomically

  module Helpers = struct
    type t = { idle : int; busy : int }
  end

  module Reach = struct
    let suspend_unlisted = Reach.suspend
    let suspend_loop = Reach.suspend
  end
end

(* The modules of the test kit name these so. *)
module Event = Event
module Mvar = Mvar
