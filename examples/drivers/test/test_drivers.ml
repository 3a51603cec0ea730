(* One database, one Redis and one HTTP server, each behind one pool, are used by tasks of six
   hosts at once. Then tasks are cancelled at random. The servers count the connections. *)

open Concord
open Concord_test_support
open Check
open Service

(* --- The services --------------------------------------------------------------- *)

module Query = struct
  open Caqti.Templater

  let next = static T.(int -->! int) "SELECT 1 + CAST(? AS integer)"
  let wrong = static T.(unit -->! int) "SELECT no_such_column"
  let sleep = static T.(float -->! int) "SELECT 1 FROM pg_sleep(?)"

  let others =
    static
      T.(unit -->! int)
      "SELECT CAST(count(*) AS integer) FROM pg_stat_activity WHERE datname = \
       current_database() AND pid <> pg_backend_pid()"
end

let database name uri =
  let pool_config = Caqti.Pool.Config.create ~max_size:limit () in
  let connect () =
    Concord_caqti.or_fail
      (Concord_caqti.connect_pool ~pool_config (Uri.of_string uri))
  in
  let pool = connect () in
  let find pool query arg =
    Concord_caqti.Pool.use
      (fun (module Db : Concord_caqti.CONNECTION) -> Db.find query arg)
      pool
  in
  let is_postgresql = name = "PostgreSQL" in
  let count () =
    let other = connect () in
    let n = Concord_caqti.or_fail (find other Query.others ()) in
    Concord_caqti.Pool.close other;
    n
  in
  {
    name;
    ask =
      (fun n ->
        let answer = Concord_caqti.or_fail (find pool Query.next n) in
        if answer <> n + 1 then Alcotest.failf "%s: %d for %d" name answer n);
    fail =
      (fun () ->
        match find pool Query.wrong () with
        | Ok _ -> Alcotest.failf "%s: a wrong query has an answer" name
        | Error _ -> ());
    open_here = (fun () -> Concord_caqti.Pool.size pool);
    open_there = (if is_postgresql then Some count else None);
    slow =
      (if is_postgresql then
         Some
           (fun seconds ->
             ignore
               (Concord_caqti.or_fail (find pool Query.sleep seconds) : int))
       else None);
    close = (fun () -> Concord_caqti.Pool.close pool);
  }

let postgresql () =
  database "PostgreSQL" (Service_cases.Postgresql.create_database ())

let sqlite () = database "SQLite" ("sqlite3:" ^ file "test.sqlite")

let answers address =
  let socket = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Fun.protect
    ~finally:(fun () -> Unix.close socket)
    (fun () ->
      match Unix.connect socket address with
      | () -> true
      | exception Unix.Unix_error ((ENOENT | ECONNREFUSED), _, _) -> false)

let redis_server =
  Lazy.from_fun (fun () ->
      let path = file "redis" in
      let null = Unix.openfile "/dev/null" [ O_RDWR; O_CLOEXEC ] 0 in
      let options = [ "--port"; "0"; "--unixsocket"; path; "--save"; "" ] in
      let server =
        Unix.create_process "redis-server"
          (Array.of_list ("redis-server" :: options))
          null null Unix.stderr
      in
      Unix.close null;
      at_exit (fun () ->
          Unix.kill server Sys.sigterm;
          ignore (Unix.waitpid [] server : int * Unix.process_status));
      eventually "Redis has started" (fun () -> answers (ADDR_UNIX path));
      path)

let redis () =
  if not (is_installed "redis-server") then begin
    print_endline "redis-server is not installed: not tested with Redis";
    Alcotest.skip ()
  end;
  let path = Lazy.force redis_server in
  let address = Unix.ADDR_UNIX path in
  let client = Concord_redis.create ~connections:limit address in
  let command = Concord_redis.command client in
  let count () =
    let other = Concord_redis.create address in
    let reply = Concord_redis.command other [ "CLIENT"; "LIST" ] in
    Concord_redis.close other;
    match reply with
    | Text list ->
        List.length (String.split_on_char '\n' (String.trim list)) - 1
    | _ -> Alcotest.fail "CLIENT LIST is refused"
  in
  {
    name = "Redis";
    ask =
      (fun n ->
        let text = string_of_int n in
        if command [ "ECHO"; text ] <> Text text then
          Alcotest.failf "Redis: another answer for %d" n);
    fail =
      (fun () ->
        match command [ "NO_SUCH_COMMAND" ] with
        | Error _ -> ()
        | _ -> Alcotest.fail "Redis: a wrong command has an answer");
    open_here = (fun () -> Concord_redis.connections client);
    open_there = Some count;
    slow =
      Some
        (fun seconds ->
          let blocks = Printf.sprintf "%.3f" seconds in
          let reply = command [ "BLPOP"; "nothing"; blocks ] in
          if reply <> Nil then Alcotest.fail "Redis: BLPOP has an answer");
    close = (fun () -> Concord_redis.close client);
  }

let http_server = Lazy.from_fun (fun () -> Http_service.start "http")
let http () = Http_service.create ~name:"HTTP" (Lazy.force http_server)

(* --- Six hosts ------------------------------------------------------------------- *)

(* Few, because each cancelled query costs PostgreSQL a new process. *)
let rounds = if Race.long then 12 else 4

let shared service () =
  let service = service () in
  Six_hosts.run (fun task ->
      for i = 1 to rounds do
        service.ask ((1_000 * task) + i);
        if i = rounds then service.fail ()
      done);
  yes "at most the limit" (service.open_here () <= limit);
  yes "the connections are kept" (service.open_here () > 0);
  service.close ()

(* --- Cancelled at random ----------------------------------------------------------- *)

let cancelled = Atomic.make 0

let nothing_is_lost service =
  (* All connections can be used at once. *)
  Concord_fifo.run (fun () -> Tasks.iter service.ask (List.init limit Fun.id));
  yes "at most the limit" (service.open_here () <= limit);
  match service.open_there with
  | None -> ()
  | Some count ->
      eventually (service.name ^ ": the server has the connections of the pool")
        (fun () -> count () = service.open_here ())

let storm service () =
  let service = service () in
  let before = Atomic.get cancelled in
  Six_hosts.run (fun task ->
      for i = 1 to 6 * rounds do
        let seconds = Random.float 0.002 in
        match
          Tasks.with_timeout seconds (fun () ->
              match service.slow with
              | Some slow when i mod 3 = 0 -> slow 0.02
              | _ -> service.ask ((1_000 * task) + i))
        with
        | Some () -> ()
        | None -> Atomic.incr cancelled
      done);
  yes "some were cancelled" (Atomic.get cancelled > before);
  nothing_is_lost service;
  service.close ()

let curl () =
  Http_service.curl
    (fun path -> "http://localhost" ^ path)
    (Lazy.force http_server)

let () =
  Sys.set_signal Sys.sigpipe Signal_ignore;
  let services =
    [
      ("PostgreSQL", postgresql);
      ("SQLite", sqlite);
      ("Redis", redis);
      ("HTTP", http);
    ]
    @ Tls.services
  in
  let each f =
    List.map (fun (name, service) -> test name (f service)) services
  in
  run "drivers"
    [
      ("six hosts share a pool", each shared);
      ("cancelled at random", each storm);
      ("curl", [ test "asks the server" curl ]);
      ("TLS", Tls.tests);
    ]
