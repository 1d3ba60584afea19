"""The extension module, for every Python from 3.11 on: one wheel a platform."""

import sys
from pathlib import Path

from setuptools import Extension, setup

if sys.platform == "win32":
    FLAGS, LIBRARIES = ["/std:c11", "/O2", "/fp:precise"], []
else:
    FLAGS, LIBRARIES = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"], ["m"]

setup(
    ext_modules=[
        Extension(
            "epsilond_kernel",
            sources=sorted(f"src/{path.name}" for path in (Path(__file__).parent / "src").glob("*.c")),
            depends=sorted(f"src/{path.name}" for path in (Path(__file__).parent / "src").glob("*.h")),
            extra_compile_args=FLAGS,
            libraries=LIBRARIES,
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
