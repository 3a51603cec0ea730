let host = None
