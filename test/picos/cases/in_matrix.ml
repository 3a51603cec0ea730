(* Fibers of Picos with tasks of all other hosts. *)

module Host = struct
  let name = "Picos"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None

  let cancel =
    Some
      (fun f ~after ->
        let ended = Concord.Promise.create () in
        let cancel =
          Schedulers.spawn (fun () ->
              Fun.protect f ~finally:(fun () -> Concord.Promise.fill ended ()))
        in
        after ();
        cancel ();
        Concord.Promise.await ended)

  let run tasks = Schedulers.fifo.run (fun () -> Schedulers.all_of tasks)
end

module Guest = struct
  include Host

  let name = "as_fiber"

  let run tasks =
    Concord_fifo.run @@ fun () ->
    Concord_picos.as_fiber (fun () -> Schedulers.all_of tasks)
end

(* Picos must be configured by the main thread. *)
let run () =
  Schedulers.fifo.run ignore;
  Matrix.run_with ~peers:[] (module Host) ~title:"With Picos"

let run_guests () =
  Schedulers.fifo.run ignore;
  Matrix.run_with ~peers:[]
    (module Guest)
    ~title:"With tasks as fibers of Picos"
