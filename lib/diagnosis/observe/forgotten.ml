module Innermost_handler = Concord_stub.Innermost_handler

type adapter = {
  name : string;  (** That of the plug-in. *)
  package : string;
  library : string;
  modules : string list;  (** Those whose functions run the library's tasks. *)
}

let adapters =
  [
    {
      name = "lwt";
      package = "concord-lwt";
      library = "Lwt";
      modules = [ "Lwt_direct"; "Lwt_main" ];
    };
    {
      name = "async";
      package = "concord-async";
      library = "Async";
      modules = [ "Async_kernel__Job_queue"; "Async_kernel__Scheduler1" ];
    };
    {
      name = "picos";
      package = "concord-picos";
      library = "Picos";
      modules =
        [
          "Picos_mux_fifo";
          "Picos_mux_multififo";
          "Picos_mux_random";
          "Moonpool__Worker_loop_";
          "Moonpool__Fifo_pool";
          "Moonpool__Ws_pool";
          "Moonpool_fib__Main";
        ];
    };
  ]

let is_linked { name; _ } =
  Array.exists
    (fun (plugin : Plugin.t) -> String.equal plugin.name name)
    (Plugin.all ())

let module_of slot =
  match Printexc.Slot.name slot with
  | None -> ""
  | Some name -> List.hd (String.split_on_char '.' name)

(* Deeper recursion is rare in code that waits. *)
let max_frames = 256

(* The library whose loop runs the caller. *)
let innermost () =
  let adapter_of slot =
    let name = module_of slot in
    List.find_opt (fun { modules; _ } -> List.mem name modules) adapters
  in
  let slots = Printexc.backtrace_slots (Printexc.get_callstack max_frames) in
  List.find_map adapter_of (Array.to_list (Option.value slots ~default:[||]))

let is_wanted =
  match Sys.getenv_opt "CONCORD_WARN" with
  | None | Some ("" | "1") -> true
  | Some "0" -> false
  | Some other ->
      failwith
        (Printf.sprintf "CONCORD_WARN=%s: the value must be 0 or 1" other)

(* Bytecode reads its debugging information when a name is needed for the first time, which
   is slow, and unsafe beside another domain that needs one (see [Debug_frames.load]). *)
let may_warn = Atomic.make (is_wanted && Sys.backend_type = Native)

let say { library; package; _ } =
  Printf.eprintf
    "Concord: an operation blocks all tasks of %s, because this program \
     doesn't link %s. Add %s to libraries in your dune file. (CONCORD_WARN=0 \
     turns this warning off.)\n\
     %!"
    library package package

let look () =
  match innermost () with
  | Some adapter when not (is_linked adapter) ->
      if Atomic.exchange may_warn false then say adapter
  | Some _ | None -> ()

(* --- When to look ----------------------------------------------------------- *)

let handlers : Innermost_handler.t list Atomic.t = Atomic.make []

let is_new handler =
  (not (List.mem handler (Atomic.get handlers)))
  && begin
    Atomically.update handlers (List.cons handler);
    true
  end

let waits = Atomic.make 0
let always_first = 16

let is_time () =
  let n = 1 + Atomic.fetch_and_add waits 1 in
  n <= always_first || n land (n - 1) = 0

let innermost_handler () =
  if Innermost_handler.(nothing_but none) then Innermost_handler.none
  else Innermost_handler.get ()

let warn () =
  if Atomic.get may_warn then
    let handler = innermost_handler () in
    if if handler == Innermost_handler.none then is_time () else is_new handler
    then look ()
