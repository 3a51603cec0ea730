open Concord
open Concord_buffered

let longest = 1_000_000

module IO = struct
  type 'a t = 'a
  type ic = Socket.t
  type oc = Socket.t
  type conn = Socket.t

  let ( >>= ) v f = f v
  let return v = v
  let refill (ic : ic) = if Reader.refill ic.reader then `Ok else `Eof

  let with_input_buffer (ic : ic) ~f =
    let parse b pos len = f (Bytes.unsafe_to_string b) ~pos ~len in
    let v, used = Reader.view ic.reader parse in
    Reader.consume ic.reader used;
    v

  let read_line (ic : ic) =
    match Reader.line ~max:longest ic.reader with
    | line -> Some line
    | exception End_of_file -> None

  let read (ic : ic) n =
    if Reader.at_end ic.reader then ""
    else Reader.take ic.reader (Int.min n (Reader.length ic.reader))

  let write (oc : oc) s = Writer.string oc.writer s
  let flush (oc : oc) = Writer.flush oc.writer
end

module Request = Cohttp.Request.Private.Make (IO)
module Response = Cohttp.Response.Private.Make (IO)

let all_of read_chunk reader =
  let text = Buffer.create 256 in
  let rec more () =
    match read_chunk reader with
    | Cohttp.Transfer.Done -> ()
    | Final_chunk s -> Buffer.add_string text s
    | Chunk s ->
        Buffer.add_string text s;
        more ()
  in
  more ();
  Buffer.contents text

(* --- Requests ---------------------------------------------------------------- *)

module Client = struct
  type t = Socket.t Pool.t

  let create ?(connections = 10) ?over address =
    Pool.create ~name:"http" ~dispose:Socket.close connections (fun () ->
        Socket.connect ?over address)

  let send socket ?headers ?(body = "") ?chunked meth uri =
    let length = Int64.of_int (String.length body) in
    let request =
      Cohttp.Request.make_for_client ?headers ?chunked ~body_length:length meth
        uri
    in
    Request.write ~flush:false
      (fun writer -> if body <> "" then Request.write_body writer body)
      request socket;
    IO.flush socket

  let receive socket meth =
    match Response.read socket with
    | `Eof -> raise End_of_file
    | `Invalid reason -> failwith ("Concord_cohttp: " ^ reason)
    | `Ok response ->
        let has_body =
          meth <> `HEAD && Cohttp.Response.has_body response <> `No
        in
        let body =
          if has_body then
            all_of Response.read_body_chunk
              (Response.make_body_reader response socket)
          else ""
        in
        (response, body)

  (* If the answer ends with its connection, or the server closes it, it isn't kept. *)
  let is_kept response =
    Http.Response.is_keep_alive response
    && Cohttp.Response.has_body response <> `Unknown

  let call t ?headers ?body ?chunked meth uri =
    let lease = Pool.obtain t in
    let socket = Pool.value lease in
    match
      send socket ?headers ?body ?chunked meth uri;
      receive socket meth
    with
    | (response, _) as answer ->
        Pool.give_back ~keep:(is_kept response) lease;
        answer
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Pool.give_back ~keep:false lease;
        Printexc.raise_with_backtrace e backtrace

  let get t ?headers uri = call t ?headers `GET uri
  let connections = Pool.size
  let close = Pool.close
end

(* --- Answers ----------------------------------------------------------------- *)

let failed e =
  let headers = Http.Header.of_list [ ("content-length", "0") ] in
  prerr_endline ("Concord_cohttp: " ^ Printexc.to_string e);
  (Http.Response.make ~status:`Internal_server_error ~headers (), "")

let rec answer_all socket answer =
  match Request.read socket with
  | `Eof | `Invalid _ -> ()
  | `Ok request ->
      let body =
        if Cohttp.Request.has_body request = `Yes then
          all_of Request.read_body_chunk
            (Request.make_body_reader request socket)
        else ""
      in
      let response, text =
        try answer request ~body
        with e when not (Tasks.is_cancelled ()) -> failed e
      in
      Response.write ~flush:false
        (fun writer -> Response.write_body writer text)
        response socket;
      IO.flush socket;
      if Http.Request.is_keep_alive request then answer_all socket answer

let serve ?(around = fun _ f -> f ()) ?(over = Socket.of_descr) ?on_error
    listening answer =
  Concord_aio.run_server ?on_error listening @@ fun fd _ ->
  around fd (fun () ->
      let socket = over fd in
      Fun.protect ~finally:(fun () -> Socket.close socket) @@ fun () ->
      try answer_all socket answer with Unix.Unix_error _ | End_of_file -> ())
