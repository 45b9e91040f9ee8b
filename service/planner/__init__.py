"""Every layout of a model on a cluster: which fit, which is fastest, and how far the winner reaches."""
