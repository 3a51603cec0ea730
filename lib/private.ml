module Atomically = Atomically
module Identity = Identity
module Attached_data = Attached_data
module Late = Late
module Context = Context
module Locals = Locals

module Signals = struct
  include Signals

  let name = Concord_stub.Caught_signals.name
end

module Timer = Timer
module Who = Who
module Who_is = Who_is
module Observer = Observer
module Forks = Forks
module Filler = Filler
module Debug_frames = Concord__diagnosis.Debug_frames
module Wait_layout = Concord__diagnosis.Wait_layout
module Strict = Concord__diagnosis.Strict
module Leaks = Leaks
module Innermost_handler = Concord_stub.Innermost_handler
module Plugin = Plugin
module Spin = Spin
module Spinning = Spinning
module Reach = Reach
module Asking = Asking
module Identify = Concord__diagnosis.Identify
module Helpers = Helpers
module Operation = Operation
module Names = Names
module Fifo = Fifo
module Keeper = Keeper
module Stopping = Stopping
