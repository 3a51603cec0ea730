let hosts = Matrix.not_installed [ "Moonpool" ]
