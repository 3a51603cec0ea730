module Make (Plugin : sig
  val linked : bool
end) =
struct
  let name =
    if Plugin.linked then "Eio, with concord-eio"
    else "Eio, without concord-eio"

  type t = Eio.Switch.t
  type task = unit -> unit

  let run f = Eio_main.run (fun _ -> Eio.Switch.run f)

  let spawn sw f =
    let cancel = ref ignore in
    let body () =
      Eio.Cancel.sub @@ fun context ->
      (cancel := fun () -> Eio.Cancel.cancel context Exit);
      f ()
    in
    Eio.Fiber.fork ~sw (fun () ->
        try body () with Eio.Cancel.Cancelled _ -> ());
    !cancel

  let yield = Eio.Fiber.yield
  let cancel = Some (fun _ cancel -> cancel ())
  let is_cancellation = function Eio.Cancel.Cancelled _ -> true | _ -> false

  let not_offered =
    ("inside", "Eio_main.run blocks the domain")
    ::
    (if Plugin.linked then []
     else [ ("protect", "only concord-eio answers Protect") ])
end
