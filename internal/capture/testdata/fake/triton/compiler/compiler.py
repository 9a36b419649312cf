"""As much of Triton as the recorder uses: a compiled kernel whose launch is a Python function."""


class CompiledKernel:
    def __init__(self, ptx, metadata, signature, work):
        self.asm = {"ptx": ptx}
        self.metadata = metadata
        self.src = type("Source", (), {"signature": signature})
        self._run = work

    @property
    def run(self):
        return self._run
