(* The values of Eio's fibers, and of Lwt's promises. *)

open Concord_test_hosts.Storage_cases

let eio_key : int Eio.Fiber.key = Eio.Fiber.create_key ()

let eio =
  {
    bind =
      (fun v f ->
        match v with
        | Some v -> Eio.Fiber.with_binding eio_key v f
        | None -> Eio.Fiber.without_binding eio_key f);
    get = (fun () -> Eio.Fiber.get eio_key);
    inherited = true;
  }

let lwt_key : int Lwt.key = Lwt.new_key ()

let lwt =
  {
    bind = (fun v f -> Lwt.with_value lwt_key v f);
    get = (fun () -> Lwt.get lwt_key);
    inherited = true;
  }

let in_eio f = Eio_main.run (fun _ -> f ())
