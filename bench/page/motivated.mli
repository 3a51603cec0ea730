val parts : Paper.part list
