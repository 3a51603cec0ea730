open Results

module Of_watch = struct
  include Watch_spec

  type t = { watch : int Watch.t; first : Watch.version }

  let create () =
    let watch = Watch.create 0 in
    { watch; first = snd (Watch.read watch) }

  let now { watch; _ } = snd (Watch.read watch)
  let shown (v, _) = int v

  let call ({ watch; first } as t) operation =
    closed @@ fun () ->
    match operation with
    | Changed -> shown (Watch.changed watch ~since:first)
    | Next -> shown (Watch.changed watch ~since:(now t))
    | Set v -> unit (Watch.set watch v)
    | Get -> int (Watch.get watch)
    | Close -> unit (Watch.close watch)
    | Is_closed -> bool (Watch.is_closed watch)

  let event ({ watch; first } as t) = function
    | Changed -> closing_event shown (Watch.changed_evt watch ~since:first)
    | Next -> closing_event shown (Watch.changed_evt watch ~since:(now t))
    | Set _ | Get | Close | Is_closed -> None

  let try_call ({ watch; first } as t) operation =
    let changed since =
      tried_closing (fun () ->
          Option.map shown (Watch.try_changed watch ~since))
    in
    match operation with
    | Changed -> changed first
    | Next -> changed (now t)
    | Set _ | Get | Close | Is_closed -> None

  let waiters { watch; _ } = Watch.waiters watch
end

module Of_promise = struct
  include Promise_spec

  type t = int Promise.t

  exception Numbered of int

  let create () = Promise.create ()

  let once f =
    try unit (f ()) with Promise.Already_filled -> "raises Already_filled"

  let raised e =
    match e with Numbered n -> "raises " ^ int n | e -> Printexc.to_string e

  let result = function Ok v -> int v | Error e -> raised e

  let call t = function
    | Await -> ( try int (Promise.await t) with Numbered _ as e -> raised e)
    | Fill v -> once (fun () -> Promise.fill t v)
    | Fail v -> once (fun () -> Promise.fail t (Numbered v))
    | Try_fill v -> bool (Promise.try_fill t v)
    | Try_fail v -> bool (Promise.try_fail t (Numbered v))
    | Is_resolved -> bool (Promise.is_resolved t)
    | Peek -> Option.fold ~none:"none" ~some:result (Promise.peek t)

  let event t = function
    | Await -> event result (Promise.await_result_evt t)
    | Fill _ | Fail _ | Try_fill _ | Try_fail _ | Peek | Is_resolved -> None

  let try_call t = function
    | Await -> tried result (Promise.peek t)
    | Fill _ | Fail _ | Try_fill _ | Try_fail _ | Peek | Is_resolved -> None

  let waiters = Promise.waiters
end
