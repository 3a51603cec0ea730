val comparisons : Case.comparison list
