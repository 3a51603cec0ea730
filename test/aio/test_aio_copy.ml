(* Copies from one descriptor to another, and descriptors that are sent to another process. *)

open Concord
open Concord_test_support
open Check
open Support

let sockets () = Unix.(socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0)

(* No two parts of the same length are equal. *)
let text n = String.init n (fun i -> Char.chr (((i * 7) + (i / 251)) land 255))

let with_file text f =
  temp @@ fun name ->
  Out_channel.with_open_bin name (fun oc -> output_string oc text);
  let fd = Aio.openfile name [ O_RDWR ] 0 in
  Fun.protect ~finally:(fun () -> Aio.close fd) (fun () -> f fd)

let read_all fd =
  let all = Buffer.create 1000 and b = Bytes.create 50_000 in
  let rec more () =
    match Aio.read fd b 0 (Bytes.length b) with
    | 0 -> Buffer.contents all
    | n ->
        Buffer.add_subbytes all b 0 n;
        more ()
  in
  more ()

let same what expected found =
  if not (String.equal expected found) then
    Alcotest.failf "%s: %d bytes, expected %d, or other bytes" what
      (String.length found) (String.length expected)

(* --- Copies ---------------------------------------------------------------------- *)

let large = text 3_000_000

(* What arrives at the other end of [to_], and the result of [copy]. *)
let through ?at ?len from (there, to_) =
  let copy () =
    let n = Aio.copy ?at ?len from to_ in
    Aio.close to_;
    n
  in
  let n, found = Tasks.both copy (fun () -> read_all there) in
  Aio.close there;
  (n, found)

let expect what ?at ?len expected from ends =
  let n, found = through ?at ?len from ends in
  int what (String.length expected) n;
  same what expected found

let pipe () = Unix.pipe ~cloexec:true ()

let from_file () =
  with_file large @@ fun fd ->
  expect "to a socket" large fd (sockets ());
  int "the position has moved" (String.length large) (Unix.lseek fd 0 SEEK_CUR);
  expect "at the end" "" fd (sockets ());
  ignore (Unix.lseek fd 10 SEEK_SET : int);
  expect "from the position" (String.sub large 10 20) ~len:20 fd (pipe ());
  expect "from another one" ~at:1_000_000 ~len:2_500_000
    (String.sub large 1_000_000 2_000_000)
    fd (pipe ());
  expect "more than fits at once" ~at:5 ~len:1_500_000
    (String.sub large 5 1_500_000)
    fd (sockets ());
  int "the position" 30 (Unix.lseek fd 0 SEEK_CUR);
  expect "nothing" ~len:0 "" fd (sockets ())

let from_others () =
  let relay from to_ =
    let a, b = from () in
    let write () =
      ignore (Aio.write_substring b large 0 (String.length large) : int);
      Aio.close b
    in
    let (), () = Tasks.both write (fun () -> expect "all" large a (to_ ())) in
    Aio.close a
  in
  relay sockets sockets;
  relay pipe pipe;
  relay sockets pipe

let to_file () =
  with_file large @@ fun from ->
  with_file "" @@ fun to_ ->
  int "a file" (String.length large) (Aio.copy from to_);
  let a, b = pipe () in
  let put_tail () =
    put b "tail";
    Aio.close b
  in
  let (), n = Tasks.both put_tail (fun () -> Aio.copy a to_) in
  int "a pipe" 4 n;
  Aio.close a;
  ignore (Unix.lseek to_ 0 SEEK_SET : int);
  same "both" (large ^ "tail") (read_all to_)

(* The system refuses to copy to a file that appends, so a buffer does. *)
let without_the_system () =
  with_file large @@ fun from ->
  temp @@ fun name ->
  let to_ = Aio.openfile name [ O_WRONLY; O_APPEND ] 0 in
  int "the length" 2_999_990 (Aio.copy ~at:10 from to_);
  Aio.close to_;
  same "the end" (String.sub large 10 2_999_990) (Aio.read_file name)

(* Nobody reads. *)
let full () =
  with_file large @@ fun from ->
  let a, b = sockets () in
  let copy () = ignore (Aio.copy from b : int) in
  yes "cancelled" (Tasks.with_timeout 0.01 copy = None);
  yes "a part was copied" (Unix.lseek from 0 SEEK_CUR < String.length large);
  let closed = ref false in
  let close () =
    until_waiting 1;
    Aio.close b
  in
  let (), () = Tasks.both (fun () -> closed := is_closed copy) close in
  yes "closed" !closed;
  Aio.close a

let misused () =
  with_file "" @@ fun fd ->
  let refuses text f = raises text (Invalid_argument text) f in
  refuses "Concord_aio.copy: len is negative (-1)" (fun () ->
      Aio.copy ~len:(-1) fd fd);
  refuses "Concord_aio.copy: at is negative (-2)" (fun () ->
      Aio.copy ~at:(-2) fd fd)

(* --- Descriptors ----------------------------------------------------------------- *)

let send socket descrs =
  int "sent" 1 (Aio.send_descrs socket descrs (Bytes.of_string "x") 0 1)

let receive socket =
  let b = Bytes.make 3 '.' in
  let n, descrs = Aio.recv_descrs socket b 1 2 in
  (Bytes.sub_string b 1 n, descrs)

(* A program that is started inherits the others. *)
let is_cloexec fd =
  let n = string_of_int (Iomux.Util.fd_of_unix fd :> int) in
  Sys.command ("test -e /dev/fd/" ^ n) <> 0

(* The receiver waits before the descriptors are sent. *)
let passed () =
  let a, b = sockets () in
  let pipes = List.init 5 (fun _ -> pipe ()) in
  let (bytes, descrs), () =
    Tasks.both (fun () -> receive b) (fun () -> send a (List.map fst pipes))
  in
  strings "the byte" [ "x" ] [ bytes ];
  int "descriptors" 5 (List.length descrs);
  List.iter (fun (from, _) -> Aio.close from) pipes;
  List.iteri (fun i (_, to_) -> put to_ (string_of_int i)) pipes;
  strings "in order" [ "0"; "1"; "2"; "3"; "4" ] (List.map get descrs);
  yes "close-on-exec" (List.for_all is_cloexec descrs);
  List.iter Aio.close (descrs @ List.map snd pipes);
  put a "yz";
  yes "only bytes" (receive b = ("yz", []));
  Aio.close a;
  yes "the end" (receive b = ("", []));
  Aio.close b

let most () =
  let a, b = sockets () in
  send a (List.init 253 (fun _ -> b));
  let _, descrs = receive b in
  int "all" 253 (List.length descrs);
  List.iter Aio.close descrs;
  let refuses text descrs len =
    raises text
      (Invalid_argument ("Concord_aio.send_descrs: " ^ text))
      (fun () -> Aio.send_descrs a descrs (Bytes.create 1) 0 len)
  in
  refuses "0 descriptors, but 1 to 253 can be sent" [] 1;
  refuses "254 descriptors, but 1 to 253 can be sent"
    (List.init 254 (fun _ -> b))
    1;
  refuses "descriptors need at least one byte beside them" [ b ] 0;
  List.iter Aio.close [ a; b ]

(* The receiver's limit leaves no room for all of them. *)
let no_room () =
  let a, b = sockets () in
  send a [ a; b; a; b ];
  let before = descriptors () in
  let all = exhaust () in
  (match all with
  | x :: y :: _ -> List.iter Unix.close [ x; y ]
  | _ -> Alcotest.fail "no descriptor was left before");
  (match receive b with
  | _ -> Alcotest.fail "received"
  | exception Unix.Unix_error (EMFILE, "recv_descrs", _) -> ());
  List.iter Unix.close (List.tl (List.tl all));
  int "those that came are closed" before (descriptors ());
  List.iter Aio.close [ a; b ]

let withdrawn () =
  let a, b = sockets () in
  yes "too late" (Tasks.with_timeout 0.001 (fun () -> receive b) = None);
  send a [ a ];
  let _, descrs = receive b in
  int "not lost" 1 (List.length descrs);
  List.iter Aio.close (a :: b :: descrs)

(* --- All of them ----------------------------------------------------------------- *)

let () =
  (* The descriptors of the pollers stay. *)
  let wait () =
    let a, b = sockets () in
    ignore (Tasks.with_timeout 0.001 (fun () -> get a) : string option);
    List.iter Aio.close [ a; b ]
  in
  Thread.join (Thread.create (fun () -> Concord_fifo.run wait) ());
  Aio.run wait;
  let cases =
    [
      ("from a file", from_file);
      ("from others", from_others);
      ("to a file", to_file);
      ("without the system", without_the_system);
      ("to a full socket", full);
      ("misused", misused);
      ("descriptors", passed);
      ("the most descriptors", most);
      ("no room for descriptors", no_room);
      ("a withdrawn receiver", withdrawn);
    ]
  in
  let in_host run =
    List.map (fun (name, f) -> test name (leaves_none_open (run f))) cases
  in
  Check.run "aio: copies"
    [
      ("in a loop", in_host (fun f () -> Aio.run f));
      ("in Eio", in_host (fun f () -> Eio_main.run (fun _ -> f ())));
      ("in a thread", in_host Fun.id);
    ]
