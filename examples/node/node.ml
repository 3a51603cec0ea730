(* A node of a blockchain. Section 1.1 of "Effectively Composing Concurrency Libraries" asks
   for three libraries in one program of this kind. README.md explains the program.

   ./dev exec node --help *)

open Concord
open Cmdliner
open Ledger

let run ports limits peers difficulty domains =
  Random.self_init ();
  (* Without this, writing to a client that has disconnected would end the program. Now the
     write fails with an error. *)
  Sys.set_signal Sys.sigpipe Signal_ignore;
  let stop = Promise.map ignore (Signal.once [ Sys.sigint; Sys.sigterm ]) in
  let ended =
    Eio_main.run @@ fun env ->
    Workers.with_workers ~domains @@ fun pool ->
    Concord_lwt.with_domain Lwt.return @@ fun lwt ->
    Shutdown.run ~stop ~grace:5. @@ fun () ->
    Service.run ~net:env#net ~pool ~lwt ~stop ~ports ~limits ~peers
      ~log:(fun text -> Printf.eprintf "node: %s\n%!" text)
      (Chain.create ~difficulty)
  in
  if ended.cut_short then
    prerr_endline
      "node: the end took longer than 5 s, so the remaining work was cancelled"

(* --- The command line --- *)

let option kind name ~default doc =
  Arg.(value & opt kind default & info [ name ] ~doc)

let ports =
  let ports listen rpc = { Service.listen; rpc } in
  Term.(
    const ports
    $ option Arg.int "port" ~default:7000 "The port for other nodes."
    $ option Arg.int "rpc" ~default:8000 "The port for clients, which use HTTP.")

let peers =
  let address port = `Tcp (Eio.Net.Ipaddr.V4.loopback, port) in
  let doc = "The port of another node. You can give it several times." in
  let ports = Arg.(value & opt_all int [] & info [ "peer" ] ~doc) in
  Term.(const (List.map address) $ ports)

let command =
  Cmd.v
    (Cmd.info "node" ~doc:"a node of a small blockchain")
    Term.(
      const run $ ports
      (* Shorter than the grace, so that a client that doesn't read can't use it up. *)
      $ Http_limits.term ~transfer_timeout:3. ()
      $ peers
      $ option Arg.int "difficulty" ~default:5
          "The number of zeros that the hash of a block begins with. All nodes \
           must use the same number."
      $ option Arg.int "domains" ~default:2
          "The number of domains that compute.")

let () = exit (Cmd.eval command)
