module Suspend = Suspend
module Promise = Promise
module Host_kit = Host_kit

module Structure_kit = struct
  module Waiter = Waiter

  let update = Atomically.update
end
