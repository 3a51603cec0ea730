(* One database, one Redis and one HTTP server, each behind one pool, are used by tasks of six
   hosts at once. Then tasks are cancelled at random. The servers count the connections. *)

open Concord
open Concord_test_support
open Check

let limit = 4
let folder = Lazy.from_fun (fun () -> Filename.temp_dir "drivers" "")

(* --- The services --------------------------------------------------------------- *)

type service = {
  name : string;
  ask : int -> unit;  (** Asks with this number, and checks the answer. *)
  fail : unit -> unit;
      (** Asks for something that the server refuses, without loss. *)
  open_here : unit -> int;  (** The connections in the pool. *)
  open_there : (unit -> int) option;  (** As the server counts them. *)
  slow : (float -> unit) option;  (** The answer comes after these seconds. *)
  close : unit -> unit;
}

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

let sqlite () =
  database "SQLite"
    ("sqlite3:" ^ Filename.concat (Lazy.force folder) "test.sqlite")

let is_installed program =
  List.exists
    (fun folder -> Sys.file_exists (Filename.concat folder program))
    (String.split_on_char ':' (Sys.getenv "PATH"))

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
      let path = Filename.concat (Lazy.force folder) "redis" in
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

(* The server runs in a domain of its own until the program ends. Each answer names the path,
   and comes after a moment. *)
let http_server =
  Lazy.from_fun (fun () ->
      let path = Filename.concat (Lazy.force folder) "http" in
      let address = Unix.ADDR_UNIX path in
      let listening = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
      Unix.bind listening address;
      Unix.listen listening 100;
      let connections = Atomic.make 0 in
      let answer (request : Http.Request.t) ~body =
        if request.resource = "/boom" then failwith "boom";
        if String.starts_with ~prefix:"/slow" request.resource then
          Tasks.sleep 0.02;
        let text = request.resource ^ body in
        let length = string_of_int (String.length text) in
        let headers = Http.Header.of_list [ ("content-length", length) ] in
        (Http.Response.make ~headers (), text)
      in
      let stop = Promise.create () in
      let counting fd f =
        Atomic.incr connections;
        ignore (fd : Unix.file_descr);
        Fun.protect ~finally:(fun () -> Atomic.decr connections) f
      in
      let server =
        domain (fun () ->
            Concord_aio.run (fun () ->
                ignore
                  (Tasks.unless (Promise.await_evt stop) (fun () ->
                       Concord_cohttp.serve ~around:counting listening answer)
                    : (unit, unit) result)))
      in
      at_exit (fun () ->
          Promise.fill stop ();
          server ());
      (path, address, connections))

let http () =
  let _, address, connections = Lazy.force http_server in
  let client = Concord_cohttp.Client.create ~connections:limit address in
  let get path =
    Concord_cohttp.Client.get client (Uri.of_string ("http://localhost" ^ path))
  in
  {
    name = "HTTP";
    ask =
      (fun n ->
        let path = Printf.sprintf "/%d" n in
        let _, text = get path in
        if text <> path then Alcotest.failf "HTTP: %s for %s" text path);
    fail =
      (fun () ->
        let response, _ = get "/boom" in
        int "status" 500 (Http.Status.to_int response.status));
    open_here = (fun () -> Concord_cohttp.Client.connections client);
    open_there = Some (fun () -> Atomic.get connections);
    slow =
      Some
        (fun _ ->
          if snd (get "/slow") <> "/slow" then Alcotest.fail "HTTP: not slow");
    close = (fun () -> Concord_cohttp.Client.close client);
  }

(* --- Six hosts ------------------------------------------------------------------- *)

let in_eio f = Eio_main.run (fun _ -> Eio.Fiber.List.iter f [ 1; 2; 3 ])

let in_lwt f =
  Concord_lwt.run (fun () ->
      Lwt_list.iter_p (fun i -> Concord_lwt.direct (fun () -> f i)) [ 1; 2; 3 ])

let in_fifo f = Concord_fifo.run (fun () -> Tasks.iter f [ 1; 2; 3 ])

let in_domainslib f =
  let module Pool = Domainslib.Task in
  let pool = Pool.setup_pool ~num_domains:0 () in
  Pool.run pool (fun () ->
      List.iter (Pool.await pool)
        (List.map (fun i -> Pool.async pool (fun () -> f i)) [ 1; 2; 3 ]));
  Pool.teardown_pool pool

let in_workers f =
  Workers.with_workers ~domains:1 (fun workers ->
      List.iter Promise.await
        (List.map (fun i -> Workers.submit workers (fun () -> f i)) [ 1; 2; 3 ]))

(* A domain that is in [Domainslib.Task.run] delays the other threads of its domain, so it
   gets one of its own. *)
let on_six_hosts f =
  let joins =
    [
      domain (fun () -> in_eio f);
      domain (fun () -> in_lwt f);
      thread (fun () -> in_fifo f);
      domain (fun () -> in_domainslib f);
      thread (fun () -> in_workers f);
      thread (fun () -> f 1);
    ]
  in
  List.iter (fun join -> join ()) joins

let rounds = 4

let shared service () =
  let service = service () in
  on_six_hosts (fun task ->
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
  on_six_hosts (fun task ->
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

(* --- curl --------------------------------------------------------------------------- *)

let curl () =
  if not (is_installed "curl") then Alcotest.skip ();
  let path, _, _ = Lazy.force http_server in
  let command =
    Filename.quote_command "curl"
      [
        "--silent"; "--show-error"; "--unix-socket"; path; "--data"; "+data";
        "http://localhost/posted"; "--next"; "--silent"; "--unix-socket"; path;
        "http://localhost/got";
      ]
  [@@ocamlformat "disable"]
  in
  let output = Unix.open_process_in command in
  let text = In_channel.input_all output in
  yes "curl succeeds" (Unix.close_process_in output = WEXITED 0);
  Alcotest.(check string) "two answers" "/posted+data/got" text

let () =
  Sys.set_signal Sys.sigpipe Signal_ignore;
  let services =
    [
      ("PostgreSQL", postgresql); ("SQLite", sqlite); ("Redis", redis); ("HTTP", http);
    ]
  [@@ocamlformat "disable"]
  in
  let each f =
    List.map (fun (name, service) -> test name (f service)) services
  in
  run "drivers"
    [
      ("six hosts share a pool", each shared);
      ("cancelled at random", each storm);
      ("curl", [ test "asks the server" curl ]);
    ]
