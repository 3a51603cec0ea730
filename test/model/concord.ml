module Suspend = Suspend
module Promise = Promise
module Host_kit = Host_kit
