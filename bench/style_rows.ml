open Case
open Lwc

(* --- Fibers instead of a style ----------------------------------------------- *)

(* Presents tasks of a host as threads in direct style, so the same programs run in them. *)
module Of_host (Host : sig
  val host : Host.t
  val yield : unit -> unit
end) : Concord_styles.Direct = struct
  type 'a mvar = 'a Concord.Mvar.t
  type 'a fifo = 'a Concord.Mailbox.t

  let make_mvar () = Concord.Mvar.create_empty ()
  let make_fifo () = Concord.Mailbox.create ()
  let put_fifo = Concord.Mailbox.add

  exception Halted
  exception Stopped

  let spawned = Queue.create ()
  let fork = ref (fun f -> Queue.push f spawned)
  let spawn f = !fork (fun () -> try f () with Halted -> ())
  let halt () = raise_notrace Halted

  (* Raises an exception, which makes the host end all other tasks. *)
  let stop () = raise_notrace Stopped

  let start () =
    let fork_later = !fork in
    let begin_all fork_now =
      fork := fork_now;
      Queue.iter fork_now spawned
    in
    Fun.protect
      (fun () -> try Host.host.run begin_all with Stopped -> ())
      ~finally:(fun () ->
        Queue.clear spawned;
        fork := fork_later)

  let yield = Host.yield
  let skip = ()
  let put_mvar = Concord.Mvar.put
  let take_mvar = Concord.Mvar.take
  let take_fifo = Concord.Mailbox.take
  let sync = Concord.Event.sync
end

module Fifo = Of_host (struct
  let host = Host.fifo
  let yield = Concord_fifo.yield
end)

module Eio = Of_host (struct
  let host = Host.eio
  let yield = Eio.Fiber.yield
end)

type host = { name : string; style : Style.t; program : program }

let native (name, style) = { name; style; program = Linked }

let in_bytecode host =
  { host with name = host.name ^ "-bytecode"; program = Bytecode }

let baseline = "trampoline"
let is_baseline (name, _) = name = baseline
let trampoline = native (List.find is_baseline Style.all)

let light =
  List.filter (fun style -> not (is_baseline style)) Style.light
  |> List.map native

let fifo = native ("fifo", Style.Direct (module Fifo))
let fibers = [ fifo; native ("eio", Style.Direct (module Eio)) ]
let threads = native ("threads", List.assoc "threads" Style.all)

(* A comparison in native code, and the same in bytecode. [few] is the sample for system
   threads, which uses fewer threads. *)

let row ~case sample { name; style; program } =
  row ~case ~impl:"concord" ~host:name ~program (sample style)

let few_threads ~case few convert =
  Option.map (fun few -> row ~case few (convert threads)) few |> Option.to_list

let natively ?few ~fibers ~case ~title sample =
  {
    title;
    baseline = row ~case sample trampoline;
    others =
      List.map (row ~case sample) (light @ fibers)
      @ few_threads ~case few Fun.id;
  }

let bytecode ?few ~case ~title sample =
  let row_of host = row ~case sample (in_bytecode host) in
  {
    title = title ^ ", in bytecode";
    baseline = row_of trampoline;
    others = List.map row_of light @ few_threads ~case few in_bytecode;
  }

let both ?few ~fibers ~case ~title sample =
  [
    natively ?few ~fibers ~case ~title sample; bytecode ?few ~case ~title sample;
  ]
