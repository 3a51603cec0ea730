module Debug = Debug
module Trace = Trace
module Metrics = Metrics
module Suspend = Concord__core__Suspend
module Host_kit = Concord__core__Host_kit
module Structure_kit = Concord__core__Structure_kit
module Monadic = Monadic
