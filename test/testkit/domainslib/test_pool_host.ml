open Concord_test_own
open Own

module Pool (Size : sig
  val num_domains : int
end) =
  Concord_test_domainslib.Pool_host.Make (Size)

module One = Pool (struct
  let num_domains = 0
end)

module Two = Pool (struct
  let num_domains = 1
end)

module Fifo = (val fifo)

let () =
  test
    ~in_table:[ (module Two) ]
    [ (module One); (module Within (Two) (Fifo)); (module Within (Fifo) (Two)) ]
