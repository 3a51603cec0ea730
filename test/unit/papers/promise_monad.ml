(* The promise monad of "Light Weight Concurrency in OCaml" (Figures 7 and 8), rewritten
   with its faults. It is used only to show that the tests of its faults can fail. It is a
   functor because it runs only one program. *)

module Make () = struct
  type 'a t = { mutable state : 'a state }

  and 'a state =
    | Ready of 'a
    | Blocked of ('a t -> unit) list ref
    | Link of 'a t

  let rec repr t =
    match t.state with Link t -> repr t | Ready _ | Blocked _ -> t

  let blocked () = { state = Blocked (ref []) }
  let return v = { state = Ready v }

  let fulfill t v =
    let t = repr t in
    match t.state with
    | Blocked waiters ->
        t.state <- Ready v;
        List.iter (fun f -> f t) !waiters
    | Ready _ | Link _ -> failwith "fulfill"

  let connect t t' =
    let t' = repr t' in
    match t'.state with
    | Ready v -> fulfill t v
    | Blocked waiters' -> (
        let t = repr t in
        match t.state with
        | Blocked waiters ->
            waiters := !waiters @ !waiters';
            t'.state <- Link t
        | Ready _ | Link _ -> failwith "connect")
    | Link _ -> assert false

  let ( >>= ) t f =
    match (repr t).state with
    | Ready v -> f v
    | Blocked waiters ->
        let result = blocked () in
        let waiter t =
          match t.state with
          | Ready v -> connect result (f v)
          | Blocked _ | Link _ -> assert false
        in
        waiters := waiter :: !waiters;
        result
    | Link _ -> assert false

  (* --- The scheduler ---------------------------------------------------------- *)

  exception Stop

  let ready = Queue.create ()
  let enqueue f = Queue.push f ready
  let wait_start = blocked ()
  let spawn f = ignore (wait_start >>= f : unit t)
  let halt () = return ()
  let stop () = raise Stop

  let yield () =
    let p = blocked () in
    enqueue (fun () -> fulfill p ());
    p

  let start () =
    fulfill wait_start ();
    try
      while true do
        (Queue.take ready) ()
      done
    with Queue.Empty | Stop -> ()

  (* --- MVars ------------------------------------------------------------------- *)

  type 'a mvar = {
    mutable value : 'a option;
    mutable read : 'a t option;
    mutable write : (unit t * 'a) option;
  }

  let make_mvar () = { value = None; read = None; write = None }

  let put_mvar m v =
    match m with
    | { value = Some _; write = None; _ } ->
        let p = blocked () in
        m.write <- Some (p, v);
        p
    | { value = None; read = Some reader; write = None } ->
        m.read <- None;
        enqueue (fun () -> fulfill reader v);
        return ()
    | { value = None; read = None; write = None } ->
        m.value <- Some v;
        return ()
    | { write = Some _; _ } -> failwith "put_mvar"

  let take_mvar m =
    match m with
    | { value = Some v; read = None; write = None } ->
        m.value <- None;
        return v
    | { value = Some v; read = None; write = Some (writer, next) } ->
        m.value <- Some next;
        m.write <- None;
        enqueue (fun () -> fulfill writer ());
        return v
    | { value = None; _ } ->
        let p = blocked () in
        m.read <- Some p;
        p
    | { value = Some _; read = Some _; _ } -> failwith "take_mvar"
end
