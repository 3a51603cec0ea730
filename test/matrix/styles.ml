let () =
  Matrix.run_styles ~peers:Peers.all ~title:"The styles, with concord-eio"
