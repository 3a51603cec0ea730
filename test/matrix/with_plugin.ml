let () = Matrix.run ~peers:Peers.all ~title:"With concord-eio"
