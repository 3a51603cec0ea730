module Event = Concord__Event
module Promise = Concord__Promise
module Mutex = Concord__Mutex
module Condition = Concord__Condition
module Semaphore = Concord__Semaphore
module Bvar = Concord__Bvar
