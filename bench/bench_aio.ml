open Case

(* Files in the page cache, where a call of the system takes a microsecond. What a scheduler adds
   is visible only there. *)

let size = 1_048_576
let part = 4096
let at i = i * 7919 * part mod size

let with_file f =
  let name = Filename.temp_file "concord" "bench" in
  Out_channel.with_open_bin name (fun oc ->
      output_string oc (String.make size 'x'));
  Fun.protect ~finally:(fun () -> Sys.remove name) (fun () -> f name)

let with_folder f =
  let folder = Filename.temp_dir "concord" "bench" in
  let names =
    List.init 100 (fun i -> Filename.concat folder (string_of_int i))
  in
  List.iter (fun name -> Out_channel.with_open_bin name ignore) names;
  Fun.protect
    ~finally:(fun () ->
      List.iter Sys.remove names;
      Sys.rmdir folder)
    (fun () -> f folder)

let times f n =
  let start = Meter.now () in
  for i = 1 to n do
    f i
  done;
  Meter.ns_since start

let in_concord f n = Concord_aio.run (fun () -> f n)
let in_eio f n = Eio_main.run (fun env -> f (Eio.Stdenv.fs env) n)

let in_lwt f n =
  Lwt_main.run
    (let rec go i =
       if i > n then Lwt.return_unit else Lwt.bind (f i) (fun () -> go (i + 1))
     in
     let start = Meter.now () in
     Lwt.map (fun () -> Meter.ns_since start) (go 1))

let with_descr name f =
  let fd = Unix.openfile name [ O_RDWR; O_CLOEXEC ] 0 in
  Fun.protect ~finally:(fun () -> Unix.close fd) (fun () -> f fd)

let on_file f n = with_file (fun name -> with_descr name (fun fd -> f fd n))

let with_eio_file fs name f =
  let path = Eio.Path.(fs / name) in
  Eio.Path.with_open_out ~create:`Never path f

let on_eio_file f n =
  with_file (fun name ->
      in_eio (fun fs n -> with_eio_file fs name (fun file -> f file n)) n)

let ignore_unit (_ : int) = ()
let seek fd i = ignore_unit (Unix.lseek fd (at i) SEEK_SET)
let bytes = Bytes.make part 'y'
let eio_bytes = Cstruct.of_bytes bytes
let offset i = Optint.Int63.of_int (at i)

module Read = struct
  let unix =
    on_file (fun fd ->
        times (fun i ->
            seek fd i;
            ignore_unit (Unix.read fd bytes 0 part)))

  let concord =
    on_file (fun fd ->
        in_concord
          (times (fun i ->
               ignore_unit (Concord_aio.pread fd ~at:(at i) bytes 0 part))))

  let eio =
    on_eio_file (fun file ->
        times (fun i ->
            Eio.File.pread_exact file ~file_offset:(offset i) [ eio_bytes ]))

  let lwt =
    on_file (fun fd ->
        let fd = Lwt_unix.of_unix_file_descr fd in
        in_lwt (fun i ->
            Lwt.map ignore_unit
              (Lwt_unix.pread fd bytes ~file_offset:(at i) 0 part)))
end

module Write = struct
  let unix =
    on_file (fun fd ->
        times (fun i ->
            seek fd i;
            ignore_unit (Unix.write fd bytes 0 part)))

  let concord =
    on_file (fun fd ->
        in_concord
          (times (fun i -> Concord_aio.pwrite fd ~at:(at i) bytes 0 part)))

  let eio =
    on_eio_file (fun file ->
        times (fun i ->
            Eio.File.pwrite_all file ~file_offset:(offset i) [ eio_bytes ]))

  let lwt =
    on_file (fun fd ->
        let fd = Lwt_unix.of_unix_file_descr fd in
        in_lwt (fun i ->
            Lwt.map ignore_unit
              (Lwt_unix.pwrite fd bytes ~file_offset:(at i) 0 part)))
end

let ignore_stats (_ : Unix.stats) = ()

module Stat = struct
  let unix n =
    with_file (fun name -> times (fun _ -> ignore_stats (Unix.stat name)) n)

  let concord n =
    with_file (fun name ->
        in_concord (times (fun _ -> ignore_stats (Concord_aio.stat name))) n)

  let eio n =
    with_file (fun name ->
        in_eio
          (fun fs ->
            times (fun _ ->
                ignore
                  (Eio.Path.(stat ~follow:true (fs / name)) : Eio.File.Stat.t)))
          n)

  let lwt n =
    with_file (fun name ->
        in_lwt (fun _ -> Lwt.map ignore_stats (Lwt_unix.stat name)) n)
end

module List_folder = struct
  let unix n =
    with_folder (fun name ->
        times (fun _ -> ignore (Sys.readdir name : string array)) n)

  let concord n =
    with_folder (fun name ->
        in_concord
          (times (fun _ -> ignore (Concord_aio.readdir name : string list)))
          n)

  let eio n =
    with_folder (fun name ->
        in_eio
          (fun fs ->
            times (fun _ ->
                ignore (Eio.Path.(read_dir (fs / name)) : string list)))
          n)

  let lwt n =
    with_folder (fun name ->
        let names () = Lwt_stream.to_list (Lwt_unix.files_of_directory name) in
        in_lwt
          (fun _ ->
            Lwt.map (fun names -> ignore (names : string list)) (names ()))
          n)
end

(* --- Servers ---------------------------------------------------------------------- *)

(* A domain without a scheduler connects [n] times, and sends and gets a byte each time. *)
let connect address n =
  let byte = Bytes.make 1 'x' in
  let once () =
    let fd = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
    Unix.connect fd address;
    ignore_unit (Unix.write fd byte 0 1);
    ignore_unit (Unix.read fd byte 0 1);
    Unix.close fd
  in
  once ();
  let start = Meter.now () in
  for _ = 1 to n do
    once ()
  done;
  Meter.ns_since start

let with_address f =
  let folder = Filename.temp_dir "concord" "bench" in
  let name = Filename.concat folder "socket" in
  Fun.protect
    ~finally:(fun () ->
      (* Eio removes it when it closes the socket. *)
      if Sys.file_exists name then Sys.remove name;
      Sys.rmdir folder)
    (fun () -> f name)

let with_listener f =
  with_address @@ fun name ->
  let fd = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Unix.bind fd (ADDR_UNIX name);
  Unix.listen fd 128;
  Fun.protect ~finally:(fun () -> Unix.close fd) (fun () -> f fd name)

(* [serve] returns once it is told to stop. *)
let beside_clients name n ~stop serve =
  let clients () =
    let time = connect (Unix.ADDR_UNIX name) n in
    stop ();
    time
  in
  let clients = Domain.spawn clients in
  serve ();
  Domain.join clients

let concord_server (run : (unit -> float) -> float) n =
  with_listener @@ fun fd name ->
  run @@ fun () ->
  let stop = Concord.Promise.create () in
  let serve socket _ =
    let byte = Bytes.create 1 in
    ignore_unit (Concord_aio.read socket byte 0 1);
    ignore_unit (Concord_aio.write socket byte 0 1)
  in
  beside_clients name n
    ~stop:(fun () -> Concord.Promise.fill stop ())
    (fun () ->
      Concord_aio.run_server ~stop:(Concord.Promise.await_evt stop) fd serve)

let eio_server n =
  with_address @@ fun name ->
  Eio_main.run @@ fun env ->
  Eio.Switch.run @@ fun sw ->
  let socket =
    Eio.Net.listen ~sw ~backlog:128 (Eio.Stdenv.net env) (`Unix name)
  in
  let stop, resolve = Eio.Promise.create () in
  let serve flow _ =
    let byte = Cstruct.create 1 in
    Eio.Flow.read_exact flow byte;
    Eio.Flow.write flow [ byte ]
  in
  beside_clients name n
    ~stop:(fun () -> Eio.Promise.resolve resolve ())
    (fun () ->
      Eio.Net.run_server ~stop ~max_connections:1000 ~on_error:raise socket
        serve)

let lwt_server n =
  with_address @@ fun name ->
  Lwt_main.run
    (let stop, resolve = Lwt.wait () in
     let serve _ fd =
       let byte = Bytes.create 1 in
       Lwt.bind (Lwt_unix.read fd byte 0 1) (fun _ ->
           Lwt.map ignore_unit (Lwt_unix.write fd byte 0 1))
     in
     Lwt.bind
       (Lwt_io.establish_server_with_client_socket (ADDR_UNIX name) serve)
       (fun server ->
         let notification =
           Lwt_unix.make_notification ~once:true (fun () ->
               Lwt.wakeup resolve ())
         in
         let clients =
           Domain.spawn (fun () ->
               let time = connect (Unix.ADDR_UNIX name) n in
               Lwt_unix.send_notification notification;
               time)
         in
         Lwt.bind stop (fun () ->
             Lwt.map
               (fun () -> Domain.join clients)
               (Lwt_io.shutdown_server server))))

let group =
  let row case impl host f = row ~case ~impl ~host (Time f) in
  let files case title unix concord eio lwt =
    {
      title;
      baseline = row case "eio" "eio" eio;
      others =
        [
          row case "concord" "fifo" concord;
          row case "lwt" "lwt" lwt;
          row case "unix" "domain" unix;
        ];
    }
  in
  {
    name = "aio";
    doc = "files in memory and short connections, against Eio, Lwt and Unix";
    comparisons =
      [
        files "pread" "4 KiB at any position of an open file" Read.unix
          Read.concord Read.eio Read.lwt;
        files "pwrite" "4 KiB written at any position" Write.unix Write.concord
          Write.eio Write.lwt;
        files "stat" "what stat says of a file" Stat.unix Stat.concord Stat.eio
          Stat.lwt;
        files "readdir" "the names of 100 files in a folder" List_folder.unix
          List_folder.concord List_folder.eio List_folder.lwt;
        (let case = "connection" in
         {
           title =
             "a client of another domain connects, sends a byte, gets a byte";
           baseline = row case "eio" "eio" eio_server;
           others =
             [
               row case "concord" "fifo" (concord_server Concord_aio.run);
               row case "concord" "eio"
                 (concord_server (fun f -> Eio_main.run (fun _ -> f ())));
               row case "lwt" "lwt" lwt_server;
             ];
         });
      ];
  }
