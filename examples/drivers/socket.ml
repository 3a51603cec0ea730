open Concord_buffered

type t = { reader : Reader.t; writer : Writer.t; close : unit -> unit }

let create ~read ~write ~close =
  { reader = Reader.create read; writer = Writer.create write; close }

let of_descr fd =
  create ~read:(Concord_aio.read fd) ~write:(Concord_aio.single_write fd)
    ~close:(fun () -> Concord_aio.close fd)

let close t = t.close ()

let connect ?(over = of_descr) address =
  let domain = Unix.domain_of_sockaddr address in
  let fd = Unix.socket ~cloexec:true domain Unix.SOCK_STREAM 0 in
  match
    Concord_aio.connect fd address;
    over fd
  with
  | t -> t
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Concord_aio.close fd;
      Printexc.raise_with_backtrace e backtrace
