open Test_host

let fibers =
  {
    name = "Eio";
    reported = "eio";
    run =
      (fun body ->
        Eio_main.run @@ fun _ ->
        Eio.Switch.run @@ fun sw ->
        body { fork = Eio.Fiber.fork ~sw; pause = Eio.Fiber.yield });
    cancel = Some (fun f ~after -> Eio.Fiber.first f after);
  }
