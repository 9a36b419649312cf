package ada

import _ "github.com/GOATnote-Inc/attest/internal/fasttest"
