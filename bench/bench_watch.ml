open Case

(* Watches the latest value of something. In Eio this is an [Atomic] with a condition, and a
   reader uses [loop_no_mutex] to wait until the value has changed. *)

type 'a eio = { value : 'a Atomic.t; condition : Eio.Condition.t }

let create_eio v =
  { value = Atomic.make v; condition = Eio.Condition.create () }

let set_eio t v =
  Atomic.set t.value v;
  Eio.Condition.broadcast t.condition

let changed_eio t ~since =
  Eio.Condition.loop_no_mutex t.condition (fun () ->
      let v = Atomic.get t.value in
      if v = since then None else Some v)

(* --- Nobody reads --- *)

let set_concord watch n =
  for i = 1 to n do
    Concord.Watch.set watch i
  done

let sets_eio n =
  let t = create_eio 0 in
  let set n =
    for i = 1 to n do
      set_eio t i
    done
  in
  Host.alone Host.eio set n

let set_free =
  let case = "watch-set-free" in
  {
    title =
      "setting a watched value for which nobody waits, 1 domain (Eio: an \
       atomic and a condition)";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time sets_eio);
    others =
      Ours.rows ~case Ours.one_task (fun host n ->
          Host.alone host (set_concord (Concord.Watch.create 0)) n);
  }

(* --- One reader waits --- *)

(* The reader sees each value, because the writer waits until another watch confirms it. *)
let passing_concord (shape : Host.shape) n =
  let values = Concord.Watch.create 0 and seen = Concord.Watch.create 0 in
  let follow watch =
    let version = ref (snd (Concord.Watch.read watch)) in
    fun () ->
      let value, next = Concord.Watch.changed watch ~since:!version in
      version := next;
      value
  in
  let next_value = follow values and next_seen = follow seen in
  let produce n =
    for i = 1 to n do
      Concord.Watch.set values i;
      ignore (next_seen () : int)
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let value = next_value () in
      sum := !sum + value;
      Concord.Watch.set seen value
    done;
    !sum
  in
  shape ~produce ~consume n

let passing_eio (shape : Host.shape) n =
  let values = create_eio 0 and seen = create_eio 0 in
  let follow t =
    let last = ref 0 in
    fun () ->
      let value = changed_eio t ~since:!last in
      last := value;
      value
  in
  let next_value = follow values and next_seen = follow seen in
  let produce n =
    for i = 1 to n do
      set_eio values i;
      ignore (next_seen () : int)
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let value = next_value () in
      sum := !sum + value;
      set_eio seen value
    done;
    !sum
  in
  shape ~produce ~consume n

let passing ~case ~where hosts shape =
  {
    title =
      Printf.sprintf
        "setting a watched value for which a task waits, and waiting until a \
         second one says that the task has seen it, %s (Eio: an atomic and a \
         condition)"
        where;
    baseline =
      row ~case ~impl:"eio" ~host:"eio" (Time (passing_eio (shape Host.eio)));
    others = Ours.rows ~case hosts (fun host -> passing_concord (shape host));
  }

let serial =
  passing ~case:"watch-serial" ~where:"1 domain" Ours.two_tasks Host.serial

let parallel =
  passing ~case:"watch-parallel" ~where:"between 2 domains" Ours.two_domains
    Host.parallel

let comparisons = beside [ set_free; serial ] @ [ parallel ]
