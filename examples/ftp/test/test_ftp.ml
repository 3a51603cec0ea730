open Concord_test_support
open Server

let test name ?limit ?options f =
  Check.test name (fun () -> with_server ?limit ?options f)

(* --- Other programs as clients --- *)

let curl t options path =
  let url = Printf.sprintf "ftp://127.0.0.1:%d/%s" t.port path in
  output_of
    ([ "curl"; "-s"; "--max-time"; "20"; "--path-as-is" ] @ options @ [ url ])

let check_curl t ?(options = []) path expected =
  let code, text = curl t options path in
  Check.int ("curl's exit code, " ^ path) 0 code;
  Check.yes path (text = expected)

let check_refused t ?(options = []) path =
  let code, text = curl t options path in
  Check.yes (path ^ " is refused") (code <> 0);
  Alcotest.(check string) path "" text

(* curl writes a listing with the line ends of the system. *)
let with_curl t =
  let names = [ "-l" ] and pasv = [ "--disable-epsv" ] in
  check_curl t ~options:names "" "big\nhello.txt\nsub\nupload\n";
  check_curl t ~options:(names @ pasv) "sub/" "deep.txt\n";
  check_curl t "hello.txt" "hello\r\n";
  check_curl t ~options:pasv "sub/deep.txt" "deep";
  check_curl t "big" big;
  check_curl t ~options:[ "-C"; "7999990" ] "big" (String.sub big 7_999_990 10);
  let upload = [ "-T"; Filename.concat t.root "big" ] in
  check_curl t ~options:upload "upload/new" "";
  Check.yes "uploaded" (contents t "upload/new" = big);
  List.iter
    (check_refused t ~options:upload)
    [ "upload/new"; "new"; "sub/new"; "upload/../new"; "outside/tmp/new" ];
  List.iter (check_refused t)
    [ "nothing"; "outside/etc/passwd"; "sub/link.txt"; "fifo"; "sub" ];
  let code, _ = curl t [ "-u"; "root:root" ] "hello.txt" in
  Check.int "denied (67)" 67 code

let has_python = Sys.command "python3 -c 'import ftplib' 2>/dev/null" = 0

let with_python t =
  if has_python then
    Alcotest.(check (pair int string))
      "python3" (0, "done\n")
      (output_of
         [ "python3"; "with_ftplib.py"; string_of_int t.port; t.root ^ "/big" ])
  else
    print_endline
      "python3 with ftplib is not installed, so this test is left out"

(* --- The protocol --- *)

let codes client =
  List.iter (fun (command, expected) ->
      Check.int command expected (Client.code client command))

let before_login t =
  let client = Client.connect t.port in
  codes client
    [
      ("PWD", 530);
      ("RETR hello.txt", 530);
      ("EPSV", 530);
      ("SYST", 215);
      ("PASS x", 503);
      ("USER root", 530);
      ("PASS x", 503);
      ("noop", 200);
      ("USER ftp", 331);
      ("PWD", 530);
      ("PASS", 230);
      ("PWD", 257);
      ("QUIT", 221);
      ("NOOP", -1);
    ];
  Client.close client

let paths t =
  let client = Client.login t.port in
  let where expected =
    Client.send client "PWD";
    Alcotest.(check string)
      "PWD"
      (Printf.sprintf "257 \"%s\" is the current folder." expected)
      (Client.reply client)
  in
  codes client [ ("CWD sub", 250) ];
  where "/sub";
  codes client [ ("CWD ..", 250); ("CWD ..", 250); ("CDUP", 250) ];
  where "/";
  codes client [ ("CWD /sub/../../../sub/.", 250) ];
  where "/sub";
  codes client
    [
      ("SIZE deep.txt", 213);
      ("SIZE ../../../hello.txt", 213);
      ("MDTM ../hello.txt", 213);
      ("SIZE ../../etc/passwd", 550);
      ("CWD deep.txt", 550);
      ("SIZE deep.txt/..", 550);
      ("CWD /outside", 550);
      ("SIZE /outside/etc/passwd", 550);
      ("SIZE link.txt", 550);
      ("SIZE /fifo", 550);
      ("SIZE /sub", 550);
      ("SIZE a\000b", 501);
    ];
  where "/sub";
  Client.close client

let protocol t =
  let client = Client.login t.port in
  codes client
    [
      ("TYPE I", 200);
      ("TYPE E", 504);
      ("PORT 127,0,0,1,4,5", 502);
      ("RETR hello.txt", 425);
      ("LIST", 425);
      ("REST x", 501);
      ("REST -1", 501);
      ("REST +1", 501);
      ("REST 1_0", 501);
      ("REST 0x1", 501);
      ("REST 4611686018427387904", 501);
      ("STOR upload/x", 425);
      ("", 502);
    ];
  Client.send client "FEAT";
  let rec features () =
    match Client.reply client with
    | "211 End" -> []
    | line -> line :: features ()
  in
  Check.int "features" 6 (List.length (features ()));
  Alcotest.(check (pair int string))
    "REST" (226, "lo\r\n")
    (Client.code client "REST 3" |> Check.int "REST" 350;
     Client.retrieve client "RETR hello.txt");
  Alcotest.(check (pair int string))
    "once" (226, "hello\r\n")
    (Client.retrieve client "RETR hello.txt");
  (* Two commands come at once, and one comes in parts. *)
  Client.send client "NOOP\r\nSYST";
  Check.strings "both" [ "200"; "215" ]
    (List.init 2 (fun _ -> String.sub (Client.reply client) 0 3));
  (* The server reads all of this before it hangs up. If it left unread input, closing would
     reset the connection, and the client would lose the reply. *)
  Client.write client (String.make 4097 'x');
  Check.strings "a long line" [ "500 Line too long." ] [ Client.reply client ];
  Client.close client

(* The system has no such position, or the file ends before it. *)
let far_positions t =
  let client = Client.login t.port in
  List.iter
    (fun offset ->
      Check.int "REST" 350 (Client.code client ("REST " ^ offset));
      Check.int offset 554 (Client.code client "RETR hello.txt");
      Alcotest.(check (pair int string))
        "from the beginning" (226, "hello\r\n")
        (Client.retrieve client "RETR hello.txt"))
    [ "4611686018427387903"; "4611686018427387"; "8" ];
  Check.int "REST" 350 (Client.code client "REST 7");
  Alcotest.(check (pair int string))
    "the end" (226, "")
    (Client.retrieve client "RETR hello.txt");
  Client.close client

let uploads t =
  let client = Client.login t.port in
  let store = Client.store client in
  Check.int "new" 226 (store "upload/one" "1");
  Check.int "again" 553 (store "upload/one" "2");
  Check.int "elsewhere" 553 (store "two" "2");
  Check.int "below" 553 (store "upload/a/b" "2");
  Check.int "hidden way" 553 (store "upload/../two" "2");
  Check.int "in the folder" 250 (Client.code client "CWD upload");
  Check.int "relative" 226 (store "two" "22");
  Check.int "after REST" 350 (Client.code client "REST 1");
  Check.int "after REST" 554 (store "three" "2");
  Check.strings "stored" [ "one"; "two" ]
    (List.sort compare (Array.to_list (Sys.readdir (t.root ^ "/upload"))));
  Alcotest.(check string) "kept" "1" (contents t "upload/one");
  Client.close client

(* --- Clients that misbehave --- *)

(* The file is larger than the buffers of the sockets, so the server has to wait for the
   client. *)
let begin_to_retrieve client =
  let data = Client.data client in
  Check.int "RETR" 150 (Client.code client "RETR big");
  let some = Bytes.create 1000 in
  Check.yes "some has come" (Unix.read data some 0 1000 > 0);
  data

let disconnected t =
  let client = Client.login t.port in
  Client.reset (begin_to_retrieve client);
  Alcotest.(check string) "reply" "426" (String.sub (Client.reply client) 0 3);
  Check.int "the session is there" 200 (Client.code client "NOOP");
  (* An interrupted upload leaves no file. *)
  let data = Client.data client in
  Check.int "STOR" 150 (Client.code client "STOR upload/half");
  ignore (Unix.write_substring data big 0 1_000_000 : int);
  Client.reset data;
  Alcotest.(check string) "reply" "426" (String.sub (Client.reply client) 0 3);
  Check.no "no half a file" (Sys.file_exists (t.root ^ "/upload/half"));
  (* A client closes both connections at once, and another never opens its data connection. *)
  let data = begin_to_retrieve client in
  Client.close client;
  Client.reset data;
  let client = Client.login t.port in
  Check.int "EPSV" 229 (Client.code client "EPSV");
  Client.close client

let slow t =
  let slow = List.init 5 (fun _ -> Client.login t.port) in
  let data = List.map begin_to_retrieve slow in
  let quick = Client.login t.port in
  Check.yes "another one has all of it"
    (Client.retrieve quick "RETR big" = (226, big));
  Client.close quick;
  List.iter (fun data -> Client.receive data |> ignore) data;
  List.iter
    (fun client ->
      Alcotest.(check string)
        "reply" "226"
        (String.sub (Client.reply client) 0 3);
      Client.close client)
    slow

let impatient t =
  let idle = Client.login t.port in
  let stuck = Client.login t.port in
  let data = begin_to_retrieve stuck in
  let reply client = String.sub (Client.reply client) 0 3 in
  Alcotest.(check string) "idle" "421" (reply idle);
  Alcotest.(check string) "stuck" "421" (reply stuck);
  let never = Client.login t.port in
  Check.int "EPSV" 229 (Client.code never "EPSV");
  Check.int "RETR" 150 (Client.code never "RETR hello.txt");
  Alcotest.(check string) "never connects" "425" (reply never);
  Unix.close data;
  List.iter Client.close [ idle; stuck; never ]

let too_many t =
  let first = Client.login t.port in
  let second = Client.login t.port in
  let greeting () =
    let client = Client.open_ t.port in
    let reply = Client.reply client in
    Client.close client;
    String.sub reply 0 3
  in
  Alcotest.(check string) "refused" "421" (greeting ());
  Client.close first;
  Check.eventually "a place" (fun () -> greeting () = "220");
  Client.close second

(* The clients take all descriptors, so nothing that needs another one works, and further clients
   wait. Afterwards everything works again. *)
let few = 40

let few_descriptors t =
  let first = Client.login t.port in
  let others = List.init 60 (fun _ -> Client.open_ t.port) in
  (* The system has accepted all of these clients, but the server only some. *)
  if Option.is_some (Server.descriptors t) then begin
    Check.eventually "no descriptor is left" (fun () ->
        List.for_all (Server.has_descriptor t) (List.init few Fun.id));
    (* there is none for the data *)
    List.iter
      (fun command -> Check.int command 425 (Client.code first command))
      [ "EPSV"; "PASV" ]
  end;
  Check.int "NOOP" 200 (Client.code first "NOOP");
  List.iter Client.close others;
  Client.close first;
  Check.eventually "it works again" (fun () ->
      let client = Client.open_ t.port in
      let greeting = Client.reply client in
      Client.close client;
      String.starts_with ~prefix:"220" greeting);
  let client = Client.login t.port in
  Alcotest.(check (pair int string))
    "RETR" (226, "hello\r\n")
    (Client.retrieve client "RETR hello.txt");
  Client.close client

(* --- Faults of the server --- *)

(* The time to wait is no number, so the first session fails when it first waits for its client,
   and the other session must not notice. *)
let failed_session () =
  let open Ftp_service in
  let log = ref [] in
  let tree = Tree.create ~root:"." ~upload:"upload" in
  let server patience =
    Session.server tree ~max_sessions:10 ~patience ~log:(fun text ->
        log := text :: !log)
  in
  let session patience =
    let mine, its = Unix.(socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0) in
    Unix.set_nonblock its;
    Concord_styles.Trampoline.spawn (fun () ->
        Session.start (server patience) its (Unix.getsockname its));
    mine
  in
  let faulty = session nan and sound = session 20. in
  let command = "NOOP\r\nQUIT\r\n" in
  let asked =
    Concord.Promise.in_thread (fun () ->
        let nothing_more = Client.receive faulty in
        ignore
          (Unix.write_substring sound command 0 (String.length command) : int);
        (nothing_more, Client.receive sound))
  in
  Concord_styles.Trampoline.start ();
  Alcotest.(check (pair string string))
    "both sessions"
    ("220 Ready.\r\n", "220 Ready.\r\n200 Nothing done.\r\n221 Goodbye.\r\n")
    (Concord.Promise.await asked);
  Check.int "lines of the log" 1 (List.length !log)

(* --- Many --- *)

(* Each session needs one descriptor in the server and one in this program, and both need a few
   more. *)
let limit () =
  match output_of [ "/bin/sh"; "-c"; "ulimit -n" ] with
  | _, "unlimited\n" -> max_int
  | _, text -> Scanf.sscanf text "%d" Fun.id

(* The clients of a group act at the same time. On a busy machine, each reply that a client
   waits for alone takes milliseconds. A group leaves descriptors for its data connections. *)
let thousand t =
  let group = 10 in
  let groups = min 1000 (limit () - 50) / group in
  let n = groups * group in
  let before = descriptors t in
  let clients = List.init groups (fun _ -> Client.logins t.port group) in
  Option.iter
    (fun before ->
      Check.int "descriptors" (before + n) (Option.get (descriptors t)))
    before;
  let retrieved =
    List.concat_map
      (fun group -> Client.retrieve_all group "RETR hello.txt")
      clients
  in
  Alcotest.(check (list (pair int string)))
    "beside the others"
    (List.init n (fun _ -> (226, "hello\r\n")))
    retrieved;
  let clients = List.concat clients in
  let answered = Client.ask_all clients "NOOP" in
  Alcotest.(check (list string))
    "answered"
    (List.init n (fun _ -> "200 Nothing done."))
    answered;
  List.iter Client.close clients;
  Printf.printf "%d sessions at once\n" n

let () =
  (* Without this, writing to a closed connection would end the program. Now the write fails
     with an error. *)
  Sys.set_signal Sys.sigpipe Signal_ignore;
  Check.run "ftp"
    [
      ("clients", [ test "curl" with_curl; test "python" with_python ]);
      ( "protocol",
        [
          test "before login" before_login;
          test "paths" paths;
          test "commands" protocol;
          test "uploads" uploads;
          test "positions behind the end" far_positions;
        ] );
      ( "bad clients",
        [
          test "disconnected" disconnected;
          test "slow" slow;
          test "silent" ~options:[ "--patience=0.3" ] impatient;
          test "few descriptors" ~limit:few few_descriptors;
          test "too many" ~options:[ "--max-sessions=2" ] too_many;
        ] );
      ("faults", [ Check.test "a failed session" failed_session ]);
      ("many", [ test "a thousand sessions" thousand ]);
    ]
