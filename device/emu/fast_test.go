package emu

import _ "github.com/GOATnote-Inc/attest/internal/fasttest"
