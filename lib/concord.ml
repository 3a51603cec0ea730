module Suspend = Suspend
module Event = Event
module Promise = Promise
module Mvar = Mvar
