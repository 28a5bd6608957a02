"""Linear methods: PCA in all its places, probabilistic, robust, and of texts."""
