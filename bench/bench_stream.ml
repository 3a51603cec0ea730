open Case

(* Every implementation has its own copy of the two loops. One sends the numbers from 1 on, and
   the other adds up the numbers that it receives. *)

let add_concord stream n =
  for i = 1 to n do
    Concord.Stream.add stream i
  done

let take_concord stream n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Concord.Stream.take stream
  done;
  !sum

let stream_concord ~capacity (shape : Host.shape) n =
  let stream = Concord.Stream.create capacity in
  shape ~produce:(add_concord stream) ~consume:(take_concord stream) n

let put_kcas box n =
  for i = 1 to n do
    Kcas_data.Mvar.put box i
  done

let take_kcas box n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Kcas_data.Mvar.take box
  done;
  !sum

let mvar_kcas (shape : Host.shape) n =
  let box = Kcas_data.Mvar.create None in
  shape ~produce:(put_kcas box) ~consume:(take_kcas box) n

let stream_lwt ~capacity n =
  let stream, push = Lwt_stream.create_bounded capacity in
  Peers.serial_lwt
    ~push:(fun i -> push#push i)
    ~next:(fun () -> Lwt_stream.next stream)
    n

let when_ condition rows = if condition then rows else []

let stream_serial capacity =
  let case = Printf.sprintf "stream%d-serial" capacity in
  {
    title =
      Printf.sprintf
        "one message through a stream of capacity %d, two tasks on 1 domain \
         (picos: a queue, its mutex and two semaphores; async: a Pipe of this \
         size budget)"
        capacity;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Peers.stream_eio ~capacity (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          stream_concord ~capacity (Host.serial host))
      @ Ours.beside_stdlib ~case
          (fun host -> stream_concord ~capacity (Host.serial host))
          (Peers.queue_stdlib ~capacity (Host.serial Host.thread))
      @ [ row ~case ~impl:"lwt" ~host:"lwt" (Time (stream_lwt ~capacity)) ]
      @ when_ (capacity = 1)
          [
            row ~case ~impl:"kcas" ~host:"eio"
              (Time (mvar_kcas (Host.serial Host.eio)));
          ]
      @ [ go case; picos case elsewhere; async case elsewhere ]
      @ when_ (capacity <= 100) [ tokio case ];
  }

let stream_parallel capacity =
  let case = Printf.sprintf "stream%d-parallel" capacity in
  {
    title =
      Printf.sprintf
        "one message through a stream of capacity %d, one task on each of 2 \
         domains (picos: a queue, its mutex and two semaphores)"
        capacity;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Peers.stream_eio ~capacity (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          stream_concord ~capacity (Host.parallel host))
      @ [
          row ~case ~impl:"domainslib" ~host:"domain"
            (Time (Peers.stream_domainslib ~capacity));
        ]
      @ when_ (capacity = 1)
          [
            row ~case ~impl:"kcas" ~host:"domain"
              (Time (mvar_kcas (Host.parallel Host.domain)));
          ]
      @ [ go case; picos case elsewhere; tokio case ];
  }

let comparisons =
  beside (List.map stream_serial [ 1; 100; 10_000 ])
  @ List.map stream_parallel [ 1; 100 ]
