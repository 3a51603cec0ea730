module Debug = Debug
module Trace = Trace
module Suspend = Suspend
module Host_kit = Host_kit
module Structure_kit = Structure_kit
module Monadic = Monadic
