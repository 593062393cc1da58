"""Makes the small HDF5 files of this folder, with h5py 3.16 and HDF5 2.0: python3 make.py

Every image value follows from its place, so that the test needs no second copy of it: counted row-major, the value at
place i is (i * 7 + i // 256) % 251.
"""

import h5py
import numpy as np


gzip = {"compression": "gzip", "compression_opts": 9}


def values(*shape):
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((i * 7 + i // 256) % 251).astype(np.uint8).reshape(shape)


def early(file, name, shape, chunks):
    """Chunks that are there from the beginning, one after the other."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple(shape)
    dataset = h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_U8LE, space, properties)
    dataset.write(space, space, values(*shape))


def images(name, libver):
    with h5py.File(name, "w", libver=libver) as file:
        # Tiles that divide no axis, as h5py guesses them for 3dshapes and dSprites.
        file.create_dataset("tiles", data=values(13, 8, 10, 3), chunks=(5, 3, 4, 2), **gzip)
        file.create_dataset("one_each", data=values(9, 8, 8, 3), chunks=(1, 8, 8, 3), **gzip)
        file.create_dataset("contiguous", data=values(6, 4, 5))
        file.create_dataset("plain_chunks", data=values(7, 6, 5), chunks=(2, 4, 5))
        file.create_dataset("single_chunk", data=values(4, 3, 2), chunks=(4, 3, 2), **gzip)
        file.create_dataset(
            "checked", data=values(10, 6, 4), chunks=(3, 6, 4), **gzip, shuffle=True, fletcher32=True
        )
        file.create_dataset("growing", data=values(11, 4, 3), chunks=(2, 4, 3), maxshape=(None, 4, 3), **gzip)
        file.create_dataset("growing_plain", data=values(70, 2), chunks=(1, 2), maxshape=(None, 2))
        file.create_dataset("growing_twice", data=values(7, 9), chunks=(2, 2), maxshape=(None, None), **gzip)
        holes = file.create_dataset("holes", (12, 4, 4), "u1", chunks=(2, 3, 4), fillvalue=9, **gzip)
        holes[3:5] = 77
        growing_last = file.create_dataset("growing_last", data=values(7, 9), chunks=(2, 2), maxshape=(7, None))
        growing_last.resize((7, 5))
        file.create_dataset("may_grow", data=values(5, 6), chunks=(2, 4), maxshape=(9, 20), **gzip)
        file.create_dataset("lzf", data=values(5, 6), chunks=(2, 4), compression="lzf")
        file.create_dataset("empty", shape=(0, 4, 4), dtype="u1", chunks=(1, 4, 4), maxshape=(None, 4, 4))
        far = file.create_dataset("far", shape=(200_001,), dtype="u1", chunks=(1,), maxshape=(None,))
        far[199_990:] = 5
        early(file, "early", (9, 5), (2, 2))
        file.create_dataset("never_written", shape=(5, 3), dtype="u1", fillvalue=4)
        file.create_dataset("mask", data=values(4, 5) > 120)
        table = file.create_group("latents/deep")
        table.create_dataset("classes", data=np.arange(-12, 12).reshape(8, 3), **gzip, shuffle=True, chunks=(3, 2))
        file["latents"].create_dataset("floats", data=np.linspace(-1, 1, 10).reshape(5, 2), chunks=(2, 2), **gzip)
        file["latents"].create_dataset("halves", data=np.linspace(-1, 1, 6).astype("f2"))
        file["latents"].create_dataset("singles", data=np.linspace(-1, 1, 6).astype("f4"), fletcher32=True, chunks=(4,))
        file["latents"].create_dataset("big_endian", data=np.array([[1, -2], [300, -70000]], ">i4"))
        file["latents"].create_dataset("big_floats", data=np.array([0.5, -1e300], ">f8"))
        file["latents"].create_dataset("unsigned", data=np.array([0, 2**64 - 1], "u8"))
        file["latents"].create_dataset("scalar", data=3.5)
        file["latents"].create_dataset("text", data="a sentence")
        file["latents"].attrs["names"] = ["scale", "shape"]
        file["also_floats"] = h5py.SoftLink("/latents/floats")


def many_names(name, libver):
    """More than fit one node of a group, and links that are not compact."""
    with h5py.File(name, "w", libver=libver) as file:
        for number in range(300):
            file.create_dataset(f"dataset_{number:03}", data=np.uint8([number % 256]))


def compact(name):
    with h5py.File(name, "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((3, 4))
        dataset = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_U8LE, space, properties)
        dataset.write(space, space, values(3, 4))


def many_chunks(name, libver, maxshape):
    """A chunk index of several levels and pages."""
    with h5py.File(name, "w", libver=libver) as file:
        file.create_dataset("rows", data=values(3000, 2), chunks=(1, 2), maxshape=maxshape)


def large(name):
    """Enough to be decoded on several threads: the first byte of every 1,000 counts, modulo 251."""
    data = (np.arange(100 * 48 * 40 * 3) // 1000 % 251).astype(np.uint8).reshape(100, 48, 40, 3)
    with h5py.File(name, "w") as file:
        file.create_dataset("tiles", data=data, chunks=(30, 20, 17, 1), **gzip)
        file.create_dataset("one_each", data=data, chunks=(1, 48, 40, 3), **gzip)
        file.create_dataset("numbers", data=data[:, :10].astype(">i4"), chunks=(30, 7, 17, 2), **gzip, shuffle=True)


def ordered(name):
    """Names and attributes in the order in which they were made."""
    with h5py.File(name, "w", track_order=True) as file:
        for number in range(12):
            group = file.create_group(f"group_{number}", track_order=True)
            group.create_dataset("z", data=values(3, 2), track_order=True)
            group.create_dataset("a", data=values(2, 2))
            for attribute in range(10):
                group["z"].attrs[f"attribute_{attribute}"] = attribute


def user_block(name):
    with h5py.File(name, "w", userblock_size=512) as file:
        file.create_dataset("a", data=values(5, 3), chunks=(2, 3))


images("earliest.h5", "earliest")
images("v110.h5", ("v110", "v110"))
images("latest.h5", "latest")
many_names("many_names_earliest.h5", "earliest")
many_names("many_names_latest.h5", "latest")
many_chunks("many_chunks_earliest.h5", "earliest", None)
many_chunks("many_chunks_fixed.h5", "latest", None)
many_chunks("many_chunks_growing.h5", "latest", (None, 2))
many_chunks("many_chunks_growing_twice.h5", "latest", (None, None))
compact("compact.h5")
large("large.h5")
ordered("ordered.h5")
user_block("user_block.h5")
