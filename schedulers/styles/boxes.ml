open Concord

type 'a mvar = 'a Mvar.t
type 'a fifo = 'a Mailbox.t

let make_mvar () = Mvar.create_empty ()
let make_fifo () = Mailbox.create ()
let put_fifo = Mailbox.add
