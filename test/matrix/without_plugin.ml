let () = Matrix.run ~peers:[] ~title:"Without concord-eio"
