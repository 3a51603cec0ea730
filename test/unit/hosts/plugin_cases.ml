(* Tasks wait in schedulers that run inside tasks of other schedulers. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
module Fifo = Concord_fifo
include Short_waits

(* Siblings of one host wait for one another. *)
let siblings all () =
  let box = Mvar.create_empty () and sum = ref 0 in
  let put () =
    for i = 1 to 20 do
      Mvar.put box i
    done
  and take () =
    for _ = 1 to 20 do
      sum := !sum + Mvar.take box
    done
  in
  all [ put; take ];
  int "sum" 210 !sum

let eio f = Eio_main.run (fun _ -> f ())
let fifo f = Fifo.run f
let mini f = Mini.run [ f ]

let pool_task f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool f)

type host = {
  name : string;
  place : (unit -> unit) -> unit;
  all : ((unit -> unit) list -> unit) option;
      (** Runs the functions in tasks of this host, until all have ended. *)
}

let host ?all name place = { name; place; all }
let join_all fs = List.iter Fifo.join (List.map Fifo.fork fs)

let known_hosts =
  [
    host "Fifo" fifo ~all:join_all;
    host "Eio" eio ~all:Eio.Fiber.all;
    host "Domainslib" pool_task;
  ]

let wait_in { place; all; _ } () =
  place (fun () ->
      waits ();
      Option.iter (fun all -> siblings all ()) all);
  waits ()

(* [host] inside each other host, and both inside each other one. *)
let in_each hosts host =
  let wait = wait_in host in
  List.concat_map
    (fun outer ->
      let name = host.name ^ " in " ^ outer.name in
      test name (fun () -> outer.place wait)
      :: List.map
           (fun outermost ->
             test
               (name ^ " in " ^ outermost.name)
               (fun () ->
                 outermost.place (fun () ->
                     outer.place wait;
                     waits ())))
           hosts)
    hosts

let nested hosts = List.concat_map (in_each hosts) hosts
