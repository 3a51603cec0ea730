module Make (Style : Queues.Style) = struct
  let select events = Style.direct (fun () -> Event.select events)

  let sync_before seconds event =
    Style.direct (fun () -> Event.sync_before seconds event)

  let loop events f =
    let next = Event.rounds events in
    let rec go () =
      Style.bind (Style.direct next) (fun v ->
          match f v with
          | result ->
              Style.bind result (function
                | Some v -> Style.return v
                | None -> go ())
          | exception e -> Style.fail e (Printexc.get_raw_backtrace ()))
    in
    go ()
end
