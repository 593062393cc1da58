"""Writes small files in the formats of the published datasets, by other tools than ours, and what a reader must give back.

python3 reference/datasets/make.py (see README.md)

- dsprites.npz, dsprites.hdf5: 108 sprites in both forms that dSprites is published in
- shapes3d.h5, shapes3d_rows.h5, shapes3d_plain.h5: 64 rooms in three layouts of HDF5
- cars3d/: three cars as MATLAB files, one of them uncompressed
- smallnorb/: both splits as gzipped binary matrices, in random order
- mpi3d.npz, mpi3d_compressed.npz: 72 images, stored and compressed
- falcor3d/, isaac3d/: 16 numbered PNG files each
- celeba/: 12 JPEG files and their attributes
- mnist/, mnist_raw/: idx files, gzipped and not
- own*.npz: images alone, and with factors that are whole numbers, text, or continuous
- folder/: 12 pictures in as many formats
- resized.npz: pictures before and after Pillow's bilinear filter
- NAME.expected.npz: images, factors and statistics of the fixture NAME

The same versions of the tools write the same bytes each time.
"""

from own_data import make_folder, make_own, make_resized
from published_arrays import make_cars3d, make_dsprites, make_mpi3d, make_shapes3d, make_smallnorb
from published_folders import FALCOR3D, ISAAC3D, make_celeba, make_mnist, make_numbered

make_dsprites()
make_shapes3d()
make_cars3d()
make_smallnorb()
make_mpi3d()
make_numbered("falcor3d", FALCOR3D, "train-rec.labels", 6)
make_numbered("isaac3d", ISAAC3D, "labels.npy", 60)
make_celeba()
make_mnist()
make_own()
make_folder()
make_resized()
