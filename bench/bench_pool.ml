open Case

(* --- A free resource -------------------------------------------------------- *)

let use_concord pool n =
  for _ = 1 to n do
    Concord.Pool.use pool ignore
  done

let obtain_concord pool n =
  for _ = 1 to n do
    Concord.Pool.give_back ~keep:true (Concord.Pool.obtain pool)
  done

let use_eio pool n =
  for _ = 1 to n do
    Eio.Pool.use pool ignore
  done

let free_concord work host n =
  Host.alone host (work (Concord.Pool.create 4 ignore)) n

let free_eio n = Host.alone Host.eio (use_eio (Eio.Pool.create 4 ignore)) n

let pool_free =
  let case = "pool-free" in
  {
    title =
      "using a resource of a pool that nobody else uses, by one function \
       (concord) or a lease (concord-lease), 1 domain";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time free_eio);
    others =
      Ours.rows ~case Ours.one_task (free_concord use_concord)
      @ Ours.rows ~impl:"concord-lease" ~case Ours.one_task
          (free_concord obtain_concord);
  }

(* --- Others wait -------------------------------------------------------------- *)

let resources = 3
let tasks = 10

let contended_concord use (host, yield) n =
  let pool = Concord.Pool.create resources ignore in
  let rec work another =
    if
      use pool (fun () ->
          let again = another () in
          if again then yield ();
          again)
    then work another
  in
  Host.crew host ~tasks ~hold:ignore ~free:ignore work n

let by_lease pool f =
  let lease = Concord.Pool.obtain pool in
  let v = f (Concord.Pool.value lease) in
  Concord.Pool.give_back ~keep:true lease;
  v

let contended_eio n =
  let pool = Eio.Pool.create resources ignore in
  let rec work another =
    if
      Eio.Pool.use pool (fun () ->
          let again = another () in
          if again then Eio.Fiber.yield ();
          again)
    then work another
  in
  Host.crew Host.eio ~tasks ~hold:ignore ~free:ignore work n

let contended_by use n =
  let rec work another =
    Lwt.bind
      (use (fun () ->
           let again = another () in
           Lwt.map
             (fun () -> again)
             (if again then Lwt.pause () else Lwt.return ())))
      (fun again -> if again then work another else Lwt.return_unit)
  in
  Host.crew_lwt ~tasks ~hold:Lwt.return ~free:ignore work n

let contended_lwt n =
  contended_by (Lwt_pool.use (Lwt_pool.create resources Lwt.return)) n

let contended_concord_lwt n =
  contended_by (Concord_lwt.Pool.use (Concord.Pool.create resources ignore)) n

let pool_contended =
  let case = "pool-contended" in
  {
    title =
      Printf.sprintf
        "using a resource, by one function (concord) or a lease \
         (concord-lease), and yielding meanwhile, by one of %d tasks with %d \
         resources, 1 domain"
        tasks resources;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time contended_eio);
    others =
      Ours.rows ~case Ours.yielding (contended_concord Concord.Pool.use)
      @ Ours.rows ~impl:"concord-lease" ~case Ours.yielding
          (contended_concord by_lease)
      @ [
          row ~case ~impl:"lwt" ~host:"lwt" (Time contended_lwt);
          row ~case ~impl:"concord" ~host:"lwt" (Time contended_concord_lwt);
        ];
  }

(* --- In Lwt -------------------------------------------------------------------- *)

let free_lwt n =
  let pool = Lwt_pool.create 4 Lwt.return in
  Host.alone_lwt (fun () -> Lwt_pool.use pool Lwt.return) n

let free_concord_lwt n =
  let pool = Concord.Pool.create 4 ignore in
  Host.alone_lwt (fun () -> Concord_lwt.Pool.use pool Lwt.return) n

let pool_lwt =
  let case = "pool-lwt" in
  {
    title = "using a resource of a pool that nobody else uses, a task of Lwt";
    baseline = row ~case ~impl:"lwt" ~host:"lwt" (Time free_lwt);
    others = [ row ~case ~impl:"concord" ~host:"lwt" (Time free_concord_lwt) ];
  }

let comparisons = beside [ pool_free; pool_contended; pool_lwt ]
