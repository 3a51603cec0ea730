module Reader = Reader
module Writer = Writer
