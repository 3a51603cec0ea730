module Suspend = Suspend
module Event = Event
module Scope = Scope
include Tasks
module Promise = Promise
module Mvar = Mvar
module Lazy = Lazy
module Channel = Channel
module Stream = Stream
module Mailbox = Mailbox
module Broadcast = Broadcast
module Mutex = Mutex
module Condition = Condition
module Semaphore = Semaphore
module Rwlock = Rwlock
module Barrier = Barrier
module Latch = Latch
module Monadic = Monadic
