open Cmdliner
open Cmdliner.Term.Syntax

type t = {
  port : int;
  limits : Http_limits.t;
  database : string;
  http_domains : int;
  workers : int;
  fibers : int;
  capacity : int;
  limit : float;
  grace : float;
}

let term =
  let opt kind default name doc =
    Arg.(value & opt kind default & info [ name ] ~doc)
  and positive = Http_limits.between 1 100 Arg.int in
  let+ port =
    opt Arg.int 8080 "port" "The port to listen on. 0 takes a free one."
  and+ database =
    opt Arg.string "sqlite3:jobs.db" "database"
      "The database, SQLite or PostgreSQL."
  and+ http_domains =
    opt positive 1 "domains" "The number of domains that answer HTTP."
  and+ workers = opt positive 1 "workers" "The number of domains that compute."
  and+ fibers =
    let doc =
      "How many jobs may be in progress at a time: they are computed, stored, \
       or wait for a domain. The default is 2 for each domain of \
       $(b,--workers), so that a domain computes one job while another is \
       stored."
    in
    Arg.(
      value
      & opt (some (Http_limits.between 1 1000 Arg.int)) None
      & info [ "fibers" ] ~doc)
  and+ capacity = opt Arg.int 64 "capacity" "The number of jobs that may wait."
  and+ limit = opt Arg.float 10. "limit" "The seconds that a job may compute."
  and+ grace = opt Arg.float 10. "grace" "The seconds from SIGTERM to the end."
  and+ limits =
    (* Shorter than the grace, so that a client that doesn't read can't use it up. *)
    Http_limits.term ~transfer_timeout:5. ()
  in
  let fibers = Option.value fibers ~default:(2 * workers) in
  {
    port;
    limits;
    database;
    http_domains;
    workers;
    fibers;
    capacity;
    limit;
    grace;
  }
