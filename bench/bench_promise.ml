open Case

(* Two tasks exchange messages through fresh promises. Each message carries the promise for the
   answer. So each promise is made for one message, is filled once and awaited once. *)

type ball = { number : int; answer : ball Concord.Promise.t }

let rounds_concord (shape : Host.shape) n =
  let first = Concord.Promise.create () in
  let to_send = ref first and to_receive = ref first in
  let produce n =
    for number = 1 to n do
      let answer = Concord.Promise.create () in
      Concord.Promise.fill !to_send { number; answer };
      to_send := (Concord.Promise.await answer).answer
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let { number; answer } = Concord.Promise.await !to_receive in
      sum := !sum + number;
      to_receive := Concord.Promise.create ();
      Concord.Promise.fill answer { number; answer = !to_receive }
    done;
    !sum
  in
  shape ~produce ~consume n

type ball_eio = { number : int; answer : ball_eio Eio.Promise.u }

let rounds_eio (shape : Host.shape) n =
  let first, resolver = Eio.Promise.create () in
  let to_send = ref resolver and to_receive = ref first in
  let produce n =
    for number = 1 to n do
      let promise, answer = Eio.Promise.create () in
      Eio.Promise.resolve !to_send { number; answer };
      to_send := (Eio.Promise.await promise).answer
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let { number; answer } = Eio.Promise.await !to_receive in
      sum := !sum + number;
      let next, resolver = Eio.Promise.create () in
      to_receive := next;
      Eio.Promise.resolve answer { number; answer = resolver }
    done;
    !sum
  in
  shape ~produce ~consume n

type ball_lwt = { number : int; answer : ball_lwt Lwt.u }

let rounds_lwt n =
  let first, resolver = Lwt.wait () in
  let to_send = ref resolver and to_receive = ref first in
  let sent = ref 0 and sum = ref 0 in
  let send () =
    let promise, answer = Lwt.wait () in
    incr sent;
    Lwt.wakeup_later !to_send { number = !sent; answer };
    Lwt.map (fun ball -> to_send := ball.answer) promise
  in
  let receive () =
    Lwt.map
      (fun { number; answer } ->
        sum := !sum + number;
        let next, resolver = Lwt.wait () in
        to_receive := next;
        Lwt.wakeup_later answer { number; answer = resolver })
      !to_receive
  in
  Host.serial_lwt n
    ~produce:(fun n -> Host.lwt_times n send)
    ~consume:(fun n -> Lwt.map (fun () -> !sum) (Host.lwt_times n receive))

let serial =
  let case = "promise-serial" in
  {
    title =
      "a message and its answer, each through a fresh promise, two tasks on 1 \
       domain (go: through a fresh channel of capacity 1; tokio: oneshot)";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (rounds_eio (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          rounds_concord (Host.serial host))
      @ [
          row ~case ~impl:"lwt" ~host:"lwt" (Time rounds_lwt);
          go case;
          picos case elsewhere;
          tokio case;
        ];
  }

let parallel =
  let case = "promise-parallel" in
  {
    title = "the same, one task on each of 2 domains";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (rounds_eio (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          rounds_concord (Host.parallel host))
      @ [ go case; picos case elsewhere; tokio case ];
  }

let comparisons = beside [ serial ] @ [ parallel ]
