"""As much of PyTorch as the recorder uses, on the memory of the host."""

import ctypes

uint8 = "torch.uint8"
float32 = "torch.float32"


class Storage:
    def __init__(self, data):
        self.memory = ctypes.create_string_buffer(data, len(data))

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def nbytes(self):
        return len(self.memory)


class Tensor:
    device = "cuda:0"
    dtype = float32

    def __init__(self, storage=None, offset=0):
        self.storage, self.offset = storage, offset

    def untyped_storage(self):
        return self.storage

    def data_ptr(self):
        return self.storage.data_ptr() + self.offset

    def set_(self, storage):
        return Tensor(storage)

    def cpu(self):
        return Tensor(Storage(bytes(self.storage.memory)))

    def element_size(self):
        return 4


def empty(n, dtype, device):
    return Tensor()


class cuda:
    capturing = False

    @staticmethod
    def synchronize():
        pass

    @staticmethod
    def is_current_stream_capturing():
        return cuda.capturing
