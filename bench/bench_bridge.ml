open Case
open Lwt_and_eio

(* The two ends of a side: it sends to the other side, and receives from it. *)
type eio = { send : int -> unit; receive : unit -> int }
type lwt = { send_lwt : int -> unit Lwt.t; receive_lwt : unit -> int Lwt.t }

(* --- The exchanges -------------------------------------------------------- *)

type exchange = { eio : eio -> int -> unit; lwt : lwt -> int -> unit Lwt.t }

(* Lwt asks a question, and waits for the answer before it asks the next one. *)
let round_trip =
  let lwt { send_lwt; receive_lwt } n =
    let last = ref 0 in
    let check answer = Host.check "answer" !last answer in
    Host.lwt_times n (fun () ->
        incr last;
        Lwt.bind (send_lwt !last) (fun () -> Lwt.map check (receive_lwt ())))
  and eio { send; receive } n =
    for _ = 1 to n do
      send (receive ())
    done
  in
  { eio; lwt }

let eio_to_lwt =
  {
    eio = (fun { send; _ } -> produce send);
    lwt = (fun { receive_lwt; _ } -> consume_lwt receive_lwt);
  }

let lwt_to_eio =
  {
    eio = (fun { receive; _ } -> consume receive);
    lwt = (fun { send_lwt; _ } -> produce_lwt send_lwt);
  }

(* Half of the messages go in each direction. *)
let both_ways =
  let eio { send; receive } n =
    Eio.Fiber.both
      (fun () -> produce send (n / 2))
      (fun () -> consume receive (n / 2))
  and lwt { send_lwt; receive_lwt } n =
    Lwt.join [ produce_lwt send_lwt (n / 2); consume_lwt receive_lwt (n / 2) ]
  in
  { eio; lwt }

(* --- The transports ------------------------------------------------------- *)

(* Called by Eio's domain. Returns a function that gives Eio its ends, the ends of Lwt, and a
   function that closes those. *)
type transport =
  Eio.Switch.t -> ((eio -> unit) -> unit) * (lwt * (unit -> unit Lwt.t))

let through (transport : transport) { eio; lwt } =
  between_with ~set_up:transport
    ~tear_down:(fun (_, close) -> close ())
    ~eio:(fun with_ends n -> with_ends (fun ends -> eio ends n))
    ~lwt:(fun (ends, _) -> lwt ends)

(* Uses structures of Concord, one for each direction. *)

type structure = {
  put : int -> unit;
  take : unit -> int;
  put_lwt : int -> unit Lwt.t;
  take_lwt : unit -> int Lwt.t;
}

let mvar () =
  let box = Concord.Mvar.create_empty () in
  {
    put = Concord.Mvar.put box;
    take = (fun () -> Concord.Mvar.take box);
    put_lwt = Concord_lwt.Mvar.put box;
    take_lwt = (fun () -> Concord_lwt.Mvar.take box);
  }

(* The number of messages that fit into a pipe. *)
let in_buffer = 8_192

let stream () =
  let stream = Concord.Stream.create in_buffer in
  {
    put = Concord.Stream.add stream;
    take = (fun () -> Concord.Stream.take stream);
    put_lwt = Concord_lwt.Stream.add stream;
    take_lwt = (fun () -> Concord_lwt.Stream.take stream);
  }

(* The reader takes all messages that are there, as the reader of a pipe does. *)
let stream_in_batches () =
  let stream = Concord.Stream.create in_buffer and left = ref [] in
  let batch first =
    left := Concord.Stream.drain stream;
    first
  in
  let next take batch_of return () =
    match !left with
    | [] -> batch_of (take stream)
    | first :: rest ->
        left := rest;
        return first
  in
  {
    put = Concord.Stream.add stream;
    take = next Concord.Stream.take batch Fun.id;
    put_lwt = Concord_lwt.Stream.add stream;
    take_lwt = next Concord_lwt.Stream.take (Lwt.map batch) Lwt.return;
  }

let structures create : transport =
 fun _ ->
  let to_lwt = create () and to_eio = create () in
  ( (fun f -> f { send = to_lwt.put; receive = to_eio.take }),
    ({ send_lwt = to_eio.put_lwt; receive_lwt = to_lwt.take_lwt }, Lwt.return)
  )

(* Uses pipes. A message has 8 bytes, and a reader receives all messages that are there. *)

let bytes_of_message = 8

(* Lwt has a descriptor of its own, because Eio closes this one with its switch. *)
let for_lwt flow =
  Eio_unix.Fd.use_exn "dup" (Eio_unix.Resource.fd flow) (fun fd ->
      Lwt_unix.of_unix_file_descr ~blocking:false (Unix.dup ~cloexec:true fd))

let receive_from source =
  let reader = Eio.Buf_read.of_flow ~max_size:0x10000 source in
  fun () -> Int64.to_int (Eio.Buf_read.BE.uint64 reader)

let receive_lwt_from input =
  let int = Int64.to_int in
  fun () -> Lwt.map int (Lwt_io.BE.read_int64 input)

(* [writers] has a writer for Eio, which runs a function with it, and a writer for Lwt. *)
let pipes (writer, writer_lwt) : transport =
 fun sw ->
  let source_lwt, sink = Eio_unix.pipe sw
  and source, sink_lwt = Eio_unix.pipe sw in
  let receive = receive_from source
  and input = Lwt_io.of_fd ~mode:Lwt_io.input (for_lwt source_lwt)
  and send_lwt, close = writer_lwt (for_lwt sink_lwt) in
  ( (fun f -> writer sink (fun send -> f { send; receive })),
    ( { send_lwt; receive_lwt = receive_lwt_from input },
      fun () -> Lwt.join [ Lwt_io.close input; close () ] ) )

(* Writes each message by itself. *)
let unbuffered =
  let writer sink f =
    let message = Cstruct.create bytes_of_message in
    f (fun i ->
        Cstruct.BE.set_uint64 message 0 (Int64.of_int i);
        Eio.Flow.write sink [ message ])
  and writer_lwt descr =
    let message = Bytes.create bytes_of_message in
    let check written = Host.check "bytes written" bytes_of_message written in
    let send i =
      Bytes.set_int64_be message 0 (Int64.of_int i);
      Lwt.map check (Lwt_unix.write descr message 0 bytes_of_message)
    in
    (send, fun () -> Lwt_unix.close descr)
  in
  (writer, writer_lwt)

(* Uses the libraries' own buffers. Their content is written when the buffer is full, or the
   task waits. Eio's buffer is unbounded. *)
let buffered =
  let writer sink f =
    Eio.Buf_write.with_flow sink (fun writer ->
        let unflushed = ref 0 in
        f (fun i ->
            Eio.Buf_write.BE.uint64 writer (Int64.of_int i);
            incr unflushed;
            if !unflushed = 512 then begin
              unflushed := 0;
              Eio.Buf_write.flush writer
            end))
  and writer_lwt descr =
    let output = Lwt_io.of_fd ~mode:Lwt_io.output descr in
    let send i = Lwt_io.BE.write_int64 output (Int64.of_int i) in
    (send, fun () -> Lwt_io.close output)
  in
  (writer, writer_lwt)

(* Uses Lwt_eio, which runs both libraries on one domain. *)

let on_one_domain (run : (Lwt_eio_bridge.t -> float) -> float) { eio; lwt } n =
  run (fun { run_lwt } ->
      let to_lwt = Lwt_mvar.create_empty ()
      and to_eio = Lwt_mvar.create_empty () in
      let for_eio =
        {
          send = (fun i -> run_lwt (fun () -> Lwt_mvar.put to_lwt i));
          receive = (fun () -> run_lwt (fun () -> Lwt_mvar.take to_eio));
        }
      and for_lwt =
        {
          send_lwt = Lwt_mvar.put to_eio;
          receive_lwt = (fun () -> Lwt_mvar.take to_lwt);
        }
      in
      let both n =
        Eio.Fiber.both
          (fun () -> eio for_eio n)
          (fun () -> run_lwt (fun () -> lwt for_lwt n))
      in
      both 1_000;
      let start = Meter.now () in
      both n;
      Meter.ns_since start)

(* --- The comparisons ------------------------------------------------------ *)

let comparison case title exchange =
  let host = "eio-lwt" in
  let row impl transport =
    row ~case ~impl ~host (Time (through transport exchange))
  in
  let lwt_eio run =
    Case.row ~case ~impl:"lwt_eio" ~host:"one-domain"
      (Time (on_one_domain run exchange))
  in
  {
    title;
    baseline = row "pipe" (pipes unbuffered);
    others =
      [
        row "pipe-buffered" (pipes buffered);
        row "concord-mvar" (structures mvar);
        row "concord-stream" (structures stream);
        row "concord-batches" (structures stream_in_batches);
      ]
      @ Option.to_list (Option.map lwt_eio Lwt_eio_bridge.run);
  }

let group =
  {
    name = "bridge";
    doc = "Lwt on one domain, Eio on another, and messages between them";
    comparisons =
      [
        comparison "round-trip"
          "a message from Lwt's domain to Eio's, and the answer" round_trip;
        comparison "eio-to-lwt"
          "one of many messages from Eio's domain to Lwt's" eio_to_lwt;
        comparison "lwt-to-eio" "the same, the other way" lwt_to_eio;
        comparison "both-ways"
          "one of many messages, half of them each way at the same time"
          both_ways;
      ];
  }
