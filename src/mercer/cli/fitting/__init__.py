"""What commands that fit share: the estimator, the stages of a fit, what it found."""
