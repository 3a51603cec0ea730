val paper : Paper.t
