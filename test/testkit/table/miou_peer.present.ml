let host = Some (module Concord_test_miou.Miou_host : Concord_testkit.Host.HOST)
