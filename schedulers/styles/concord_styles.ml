module type Direct = Signatures.Direct
module type Trampolined = Signatures.Trampolined
module type Monadic = Signatures.Monadic

exception Deadlock = Group.Deadlock
exception Ended = Group.Ended

module Threads = Threads
module Callcc = Callcc
module Delimited = Delimited
module Trampoline = Trampoline
module Continuation = Continuation
module Promise = Promise
module Events = Events
module Cont = Cont
module Prompt = Prompt
module Equeue = Equeue
module Linear = Linear
