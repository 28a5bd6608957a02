"""Binary files: NumPy, Parquet, Arrow, HDF5, AnnData, Zarr and PLINK."""
