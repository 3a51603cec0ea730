open Concord
open Concord_buffered
open Caqti_platform

type Caqti.Error.msg += Unix_error of Unix.error * string * string

let () =
  let pp f = function
    | Unix_error (error, name, _) ->
        Format.fprintf f "%s: %s" name (Unix.error_message error)
    | _ -> assert false (* it is only called for this constructor *)
  in
  Caqti.Error.define_msg ~pp [%extension_constructor Unix_error]

(* In direct style there is nothing to bind. *)
module Fiber = struct
  type 'a t = 'a

  module Infix = struct
    let ( >>= ) v f = f v
    let ( >|= ) v f = f v
  end

  let return v = v
  let catch f g = try f () with e -> g e
  let finally f g = Fun.protect ~finally:(fun () -> Tasks.protect g) f

  let cleanup f g =
    try f ()
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Tasks.protect g;
      Printexc.raise_with_backtrace e backtrace
end

module Stream = Stream.Make (Fiber)

module Core = struct
  module Fiber = Fiber
  module Switch = Switch.Make (Fiber)
  module Stream = Stream

  type stdenv = unit

  (* Only Caqti's own pool starts tasks. *)
  let async ~sw:_ f = f ()

  module Mutex = Mutex
  module Condition = Condition

  module Log = struct
    type 'a log = 'a Logs.log

    let err ?(src = Logging.default_log_src) = Logs.err ~src
    let warn ?(src = Logging.default_log_src) = Logs.warn ~src
    let info ?(src = Logging.default_log_src) = Logs.info ~src
    let debug ?(src = Logging.default_log_src) = Logs.debug ~src
  end

  module Sequencer = struct
    type 'a t = { mutex : Mutex.t; v : 'a }

    let create v = { mutex = Mutex.create (); v }
    let enqueue t f = Mutex.protect t.mutex (fun () -> f t.v)
  end
end

(* Only drivers that speak a protocol themselves use sockets. Those of PostgreSQL, MariaDB and
   SQLite call a C library, and wait by [Unix.poll] or call it in a thread. *)
module Net = struct
  module Sockaddr = struct
    type t = Unix.sockaddr

    let unix name = Unix.ADDR_UNIX name

    let tcp (address, port) =
      Unix.ADDR_INET (Unix.inet_addr_of_string (Ipaddr.to_string address), port)
  end

  let getaddrinfo ~stdenv:() host port =
    let options = [ Unix.AI_SOCKTYPE SOCK_STREAM ] in
    Ok
      (List.map
         (fun (info : Unix.addr_info) -> info.ai_addr)
         (Concord_aio.getaddrinfo
            (Domain_name.to_string host)
            (string_of_int port) options))

  let convert_io_exception = function
    | Unix.Unix_error (error, name, arg) -> Some (Unix_error (error, name, arg))
    | _ -> None

  let connect = Socket.connect

  module Socket = struct
    type t = Socket.t

    let output_char (t : t) c = Writer.char t.writer c
    let output_string (t : t) s = Writer.string t.writer s
    let flush (t : t) = Writer.flush t.writer
    let input_char (t : t) = Reader.char t.reader

    let really_input (t : t) bytes first n =
      Bytes.blit_string (Reader.take t.reader n) 0 bytes first n

    let close = Socket.close
  end

  type tcp_flow = Socket.t
  type tls_flow = Socket.t

  let connect_tcp ~sw:_ ~stdenv:() address =
    match connect address with
    | socket -> Ok socket
    | exception Unix.Unix_error (error, name, arg) ->
        Error (Unix_error (error, name, arg))

  let tcp_flow_of_socket _ = None
  let socket_of_tls_flow ~sw:_ = Fun.id

  module type TLS_PROVIDER =
    System_sig.TLS_PROVIDER
      with type 'a fiber := 'a
       and type tcp_flow := tcp_flow
       and type tls_flow := tls_flow

  let providers : (module TLS_PROVIDER) list ref = ref []
  let register_tls_provider provider = providers := provider :: !providers
  let tls_providers _ = !providers
end

module System = struct
  include Core
  module Net = Net
end

module System_unix = struct
  module Unix = struct
    type file_descr = Unix.file_descr

    let wrap_fd f fd = f fd

    let poll ~stdenv:() ?(read = false) ?(write = false) ?timeout fd =
      let if_asked asked event result =
        if asked then [ Event.wrap (event fd) (fun () -> result) ] else []
      in
      let events =
        if_asked read Concord_aio.readable_evt (true, false, false)
        @ if_asked write Concord_aio.writable_evt (false, true, false)
      in
      let patience = Option.value timeout ~default:infinity in
      let event = Event.choose events in
      match Event.sync_before patience event with
      | Some result -> result
      | None -> (false, false, true)
  end

  module Preemptive = struct
    (* A cancelled task waits for the thread, because the thread uses the connection, which
       will be closed. *)
    let detach f x = Tasks.protect (fun () -> Blocking.run (fun () -> f x))

    (* A thread of [Blocking] is a host like any other. *)
    let run_in_main f = f ()
  end
end

module Loader = Caqti_platform_unix.Driver_loader.Make (System) (System_unix)

(* Caqti's own pool would start tasks to give connections back. In direct style it waits forever
   if a task is cancelled in its queue, because the wake-up for that task is lost. *)
module Pool = struct
  type 'a used = { v : 'a; mutable times : int }

  type ('a, +'e) t = {
    pool : 'a used Concord.Pool.t;
    error : exn -> 'e option;
    check : 'a -> (bool -> unit) -> unit;
    max_use_count : int option;
  }

  let create (type e) ?(config = Caqti.Pool.Config.default)
      ?(check = fun _ return -> return true) ?(validate = fun _ -> true)
      ?log_src:_ ~sw:_ ~stdenv:() (make : unit -> (_, e) result) dispose =
    let exception Refused of e in
    let get key ~default =
      Option.value (Caqti.Pool.Config.get key config) ~default
    in
    (* The driver for PostgreSQL leaks a connection if an exception ends its making. So a
       cancelled task waits until the connection is made, and then closes it. *)
    let make () =
      match Tasks.protect make with
      | Ok v -> { v; times = 0 }
      | Error e -> raise_notrace (Refused e)
    in
    let idle_time =
      match get Caqti.Pool.Config.max_idle_age ~default:None with
      | None -> infinity
      | Some span -> Mtime.Span.to_float_ns span /. 1e9
    and limit = get Caqti.Pool.Config.max_size ~default:8 in
    let pool =
      Concord.Pool.create ~name:"caqti" ~idle_time limit make
        ~validate:(fun used -> validate used.v)
        ~dispose:(fun used -> dispose used.v)
    in
    let error = function Refused e -> Some e | _ -> None
    and max_use_count =
      get Caqti.Pool.Config.max_use_count ~default:(Some 100)
    in
    { pool; error; check; max_use_count }

  (* [check] calls its function before it returns. *)
  let is_intact t used =
    used.times <- used.times + 1;
    let intact = ref false in
    t.check used.v (fun answer -> intact := answer);
    !intact
    && Option.fold t.max_use_count ~none:true ~some:(fun n -> used.times < n)

  let lend t f lease =
    let used = Concord.Pool.value lease in
    match
      let result = f used.v in
      (result, is_intact t used)
    with
    | result, keep ->
        Concord.Pool.give_back ~keep lease;
        result
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Concord.Pool.give_back ~keep:false lease;
        Printexc.raise_with_backtrace e backtrace

  let use ?priority:_ f t =
    match Concord.Pool.obtain t.pool with
    | lease -> lend t f lease
    | exception e -> (
        match t.error e with Some error -> Error error | None -> raise e)

  let size t = Concord.Pool.size t.pool
  let drain t = Concord.Pool.clear t.pool
  let close t = Concord.Pool.close t.pool
end

include Connector.Make (System) (Pool) (Loader)

module type CONNECTION =
  Caqti.Connection.S
    with type 'a fiber := 'a
     and type ('a, 'e) stream := ('a, 'e) Stream.t

type connection = (module CONNECTION)

(* The connections are closed by the pool. A switch would be changed by several domains. The
   query of a [Uri.t] is a lazy value of Stdlib, which two domains that make connections at the
   same time must not force. *)
let connect_pool ?pool_config ?config uri =
  ignore (Uri.query uri : (string * string list) list);
  connect_pool ?pool_config ?config ~sw:Core.Switch.eternal ~stdenv:() uri

let or_fail = function
  | Ok v -> v
  | Error (#Caqti.Error.t as error) -> raise (Caqti.Error.Exn error)
