let () = Matrix.run ~title:"with concord-eio"
