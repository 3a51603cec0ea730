open Concord
open Concord_test_support
open Check

type server = {
  path : string;
  address : Unix.sockaddr;
  connections : int Atomic.t;
}

(* The server runs in a domain of its own until the program ends. Each answer names the path,
   and comes after a moment. *)
let start ?over ?on_error name =
  let path = Service.file name in
  let address = Unix.ADDR_UNIX path in
  let listening = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Unix.bind listening address;
  Unix.listen listening 100;
  let connections = Atomic.make 0 in
  let answer (request : Http.Request.t) ~body =
    if request.resource = "/boom" then failwith "boom";
    if String.starts_with ~prefix:"/slow" request.resource then Tasks.sleep 0.02;
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
  let serve () =
    Concord_cohttp.serve ~around:counting ?over ?on_error listening answer
  in
  let server =
    domain (fun () ->
        Concord_aio.run (fun () ->
            ignore
              (Tasks.unless (Promise.await_evt stop) serve
                : (unit, unit) result)))
  in
  at_exit (fun () ->
      Promise.fill stop ();
      server ());
  { path; address; connections }

let create ?over ~name { address; connections; _ } : Service.t =
  let client =
    Concord_cohttp.Client.create ~connections:Service.limit ?over address
  in
  let get path =
    Concord_cohttp.Client.get client (Uri.of_string ("http://localhost" ^ path))
  in
  {
    name;
    ask =
      (fun n ->
        let path = Printf.sprintf "/%d" n in
        let _, text = get path in
        if text <> path then Alcotest.failf "%s: %s for %s" name text path);
    fail =
      (fun () ->
        let response, _ = get "/boom" in
        int "status" 500 (Http.Status.to_int response.status));
    open_here = (fun () -> Concord_cohttp.Client.connections client);
    open_there = Some (fun () -> Atomic.get connections);
    slow =
      Some
        (fun _ ->
          if snd (get "/slow") <> "/slow" then
            Alcotest.failf "%s: not slow" name);
    close = (fun () -> Concord_cohttp.Client.close client);
  }

let curl ?(options = []) url_of { path; _ } =
  if not (Service.is_installed "curl") then Alcotest.skip ();
  let common =
    [ "--silent"; "--show-error"; "--unix-socket"; path ] @ options
  in
  let words =
    common
    @ [ "--data"; "+data"; url_of "/posted"; "--next" ]
    @ common
    @ [ url_of "/got" ]
  in
  let output = Unix.open_process_in (Filename.quote_command "curl" words) in
  let text = In_channel.input_all output in
  yes "curl succeeds" (Unix.close_process_in output = WEXITED 0);
  Alcotest.(check string) "two answers" "/posted+data/got" text
