let hosts = Matrix.not_installed [ "Miou" ]
