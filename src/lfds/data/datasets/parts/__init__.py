"""Objects made of parts, built in: sets and graphs on which maxima, and means, must fail."""
