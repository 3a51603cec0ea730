let () = Matrix.run ~title:"without concord-eio"
