let () = Matrix.run_without_eio ~peers:Peers.all ~title:"Without concord-eio"
