include Signatures.Boxes
