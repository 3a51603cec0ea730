let () = Matrix.run_styles ~title:"The styles, and the plug-in of concord-eio"
