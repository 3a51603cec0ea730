let host =
  Some (module Concord_test_async.Async_host : Concord_testkit.Host.HOST)
