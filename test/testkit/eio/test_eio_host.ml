open Concord_test_own
open Own

module Eio_host = Concord_test_eio.Eio_host.Make (struct
  let linked = true
end)

module Fifo = (val fifo)

let () =
  test
    ~in_table:[ (module Eio_host) ]
    [
      (module In_domain (Eio_host));
      (module Within (Eio_host) (Fifo));
      (module Within (Fifo) (Eio_host));
    ]
