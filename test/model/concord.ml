module Suspend = Suspend
module Promise = Promise
