module Make (Host : Promises.Host) (Style : Promises.Style_with_wait) = struct
  open Effect.Deep

  (* If [f] has started a scheduler's loop, that loop is the host (see
     [Host_kit.is_innermost]). *)
  let is_innermost () =
    match Style.host () with
    | None -> true
    | Some host -> Host_kit.is_innermost host

  (* The cancellation of one run of direct code. It is permanent, as on other hosts. Once it
     has been raised, every later suspension raises it. [Suspend.is_cancelled] relies on that. *)
  type cancellation =
    | None_yet
    | Late of exn  (** The next suspension that is not protected raises it. *)
    | Overtaking of exn
        (** The same. But the wait that just ends also undoes its operation, and
            raises it, if it can. *)
    | Raised of exn

  type t = {
    mutable shields : int;
    mutable cancellation : cancellation;
    mutable who : Who.t option;  (** [None] until it is asked for. *)
    mutable origin : Who.origin option;  (** Set only while waits are kept. *)
  }

  let create () =
    { shields = 0; cancellation = None_yet; who = None; origin = None }

  let who code () =
    match code.who with
    | Some who -> Who.here who
    | None ->
        let name = Who.numbered "task" (Who.new_number ()) in
        let who = Who.make ?origin:code.origin ~host:Host.name ~name code in
        code.who <- Some who;
        who

  let note code e =
    match code.cancellation with
    | None_yet -> code.cancellation <- Late e
    | Late _ | Overtaking _ | Raised _ -> ()

  let overtake code e =
    match code.cancellation with
    | None_yet ->
        Overtaken.enter ();
        code.cancellation <- Overtaking e
    | Late _ | Overtaking _ | Raised _ -> ()

  (* The wait has ended, and code that could not undo it has continued. *)
  let settle code =
    match code.cancellation with
    | Overtaking e ->
        code.cancellation <- Late e;
        Overtaken.leave ()
    | None_yet | Late _ | Raised _ -> ()

  let raised code e () =
    settle code;
    code.cancellation <- Raised e;
    e

  let overtaken code =
    match code.cancellation with
    | Overtaking e -> Some (raised code e)
    | None_yet | Late _ | Raised _ -> None

  let cancelled code k e =
    code.cancellation <- Raised e;
    discontinue k e

  let suspend code block k =
    let protected = code.shields > 0 in
    settle code;
    match code.cancellation with
    | (Late e | Raised e) when not protected -> cancelled code k e
    | None_yet | Late _ | Overtaking _ | Raised _ -> (
        let go_on = function
          | Ok v -> continue k v
          | Error e -> discontinue k e
        in
        (* These calls are tail calls, because the code may suspend again and again without
           waiting. *)
        match Style.enter () with
        | () ->
            Style.suspend ~protected
              ~late:(fun e ->
                if protected then note code e else overtake code e)
              ~cancelled:(fun e -> cancelled code k e)
              block go_on
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            ignore (discontinue k e : _ Style.t);
            Printexc.raise_with_backtrace e backtrace)

  let shield code k =
    code.shields <- code.shields + 1;
    continue k (fun () -> code.shields <- code.shields - 1)

  (* Code that ends counts as performed at once. *)
  let[@inline] counted result =
    decr Style.at_once;
    result

  (* [late v e] is for code that was cancelled, but returned [v] without suspending again. So
     the cancellation was never raised in it. *)
  let run code ~late f =
    let effc (type a) (effect_ : a Effect.t) : ((a, _) continuation -> _) option
        =
      match effect_ with
      | Suspend.Suspend block when is_innermost () ->
          Some (fun k -> suspend code block k)
      | Suspend.Protect when is_innermost () -> Some (fun k -> shield code k)
      | Suspend.Ask { question = Overtaken.Cancelled; _ } when is_innermost ()
        ->
          Some (fun k -> continue k (overtaken code))
      | Suspend.Ask { question; otherwise } when is_innermost () ->
          Some (fun k -> continue k (Who.answer question ~otherwise (who code)))
      | Suspend.Ask { otherwise; _ } -> Some (fun k -> continue k otherwise)
      | _ -> None
    in
    let retc v =
      settle code;
      match code.cancellation with
      | Late e -> late v e
      | None_yet | Overtaking _ | Raised _ -> counted (Style.return v)
    and exnc e =
      let backtrace = Printexc.get_raw_backtrace () in
      settle code;
      counted (Style.fail e backtrace)
    in
    Style.isolate (fun () -> match_with f () { retc; exnc; effc })

  let[@inline never] observed code f =
    let origin = Forks.here () in
    code.origin <- Some origin;
    fun () -> Forks.run origin ~ask:(who code) f

  let start ~late f =
    let code = create () in
    run code ~late (if Forks.are_observed () then observed code f else f)
end
