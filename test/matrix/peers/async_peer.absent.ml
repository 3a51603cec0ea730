let hosts = Matrix.not_installed [ "Async" ]
