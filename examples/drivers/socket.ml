open Concord_buffered

type t = { fd : Unix.file_descr; reader : Reader.t; writer : Writer.t }

let of_descr fd =
  {
    fd;
    reader = Reader.create (Concord_aio.read fd);
    writer = Writer.create (Concord_aio.single_write fd);
  }

let close t = Concord_aio.close t.fd

let connect address =
  let domain = Unix.domain_of_sockaddr address in
  let t = of_descr (Unix.socket ~cloexec:true domain Unix.SOCK_STREAM 0) in
  match Concord_aio.connect t.fd address with
  | () -> t
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      close t;
      Printexc.raise_with_backtrace e backtrace
