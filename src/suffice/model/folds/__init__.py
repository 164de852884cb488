"""Models of training rows and their answers to rows held out, by adding and subtracting sums."""
