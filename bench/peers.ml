let add_eio stream n =
  for i = 1 to n do
    Eio.Stream.add stream i
  done

let take_eio stream n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Eio.Stream.take stream
  done;
  !sum

let stream_eio ~capacity (shape : Host.shape) n =
  let stream = Eio.Stream.create capacity in
  shape ~produce:(add_eio stream) ~consume:(take_eio stream) n

let queue_stdlib ~capacity (shape : Host.shape) n =
  let { Bounded.add; take } = Bounded.stdlib ~capacity () in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + take ()
    done;
    !sum
  in
  let produce n =
    for i = 1 to n do
      add i
    done
  in
  shape ~produce ~consume n

let send_domainslib channel n =
  for i = 1 to n do
    Domainslib.Chan.send channel i
  done

let receive_domainslib channel n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Domainslib.Chan.recv channel
  done;
  !sum

let stream_domainslib ~capacity n =
  let channel = Domainslib.Chan.make_bounded capacity in
  Host.parallel Host.domain ~produce:(send_domainslib channel)
    ~consume:(receive_domainslib channel)
    n

let serial_lwt ~push ~next n =
  let produce n =
    let last = ref 0 in
    Host.lwt_times n (fun () ->
        incr last;
        push !last)
  in
  let consume n =
    let sum = ref 0 in
    let add i = sum := !sum + i in
    Lwt.map
      (fun () -> !sum)
      (Host.lwt_times n (fun () -> Lwt.map add (next ())))
  in
  Host.serial_lwt ~produce ~consume n
